/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_JOBS_H
#define FAIRMILL_RESULTS_PUBLISHED_JOBS_H

struct db;
struct error;
struct published_cluster;

/* The pending jobs of a published cluster. */

/* Returns an empty list with the weights that the run used. */
struct prio_list *published_job_list(const struct published_cluster *cluster);

/*
 * Adds the published jobs of the list's cluster.  If `user` is not NULL, it may leave out jobs of
 * other users.  Returns -1 on error.
 */
int published_jobs_read(struct db *results, struct prio_list *list, const char *user,
                        struct error *err);

#endif
