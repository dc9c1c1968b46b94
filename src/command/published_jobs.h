/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_PUBLISHED_JOBS_H
#define FAIRMILL_COMMAND_PUBLISHED_JOBS_H

struct db;
struct error;
struct prio_list;

/* What is published of the jobs that wait on the list's cluster: their rows, and the weights that
 * the run had. */
int published_jobs_read(struct db *results, struct prio_list *list, struct error *err);
int published_weights_read(struct db *results, struct prio_list *list, struct error *err);

#endif
