/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_JOBS_H
#define FAIRMILL_RESULTS_PUBLISHED_JOBS_H

struct db;
struct error;
struct published_cluster;

/* The jobs that waited on a published cluster. */

/* A list without jobs, with the weights that the run had. */
struct prio_list *published_job_list(const struct published_cluster *cluster);
/* Add the published jobs of the list's cluster. */
int published_jobs_read(struct db *results, struct prio_list *list, struct error *err);

#endif
