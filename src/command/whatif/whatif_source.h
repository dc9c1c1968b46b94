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

/* Computes the cluster before and after the changes, and the priorities of its pending jobs, from
 * the published results.  `results` is in the transaction in which the cluster was read.  Returns
 * -1 on error. */
int whatif_from_results(struct whatif *whatif, struct db *results,
                        const struct whatif_changes *changes,
                        const struct published_cluster *cluster, struct error *err);

/* Like whatif_from_results(), but computes from the accounting database for the time `*now`, as a
 * run with `settings` does. */
int whatif_from_source(struct whatif *whatif, const struct settings *settings,
                       const struct whatif_changes *changes, const char *cluster,
                       const int64_t *now, struct error *err);

#endif
