/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_WHATIF_WHATIF_SOURCE_H
#define FAIRMILL_COMMAND_WHATIF_WHATIF_SOURCE_H

#include <stdint.h>

struct db;
struct error;
struct published_cluster;
struct settings;
struct whatif;
struct whatif_changes;

/* Compute the cluster before and after the changes from what is published, and the priorities of
 * the pending jobs.  `results` is in the transaction in which the cluster was read. */
int whatif_from_results(struct whatif *whatif, struct db *results,
                        const struct whatif_changes *changes,
                        const struct published_cluster *cluster, struct error *err);

/* Compute the cluster before and after the changes from the accounting database as of an instant,
 * as a run with these settings does, and the priorities of the jobs that wait. */
int whatif_from_source(struct whatif *whatif, const struct settings *settings,
                       const struct whatif_changes *changes, const char *cluster,
                       const int64_t *now, struct error *err);

#endif
