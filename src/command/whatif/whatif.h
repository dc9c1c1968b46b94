/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_WHATIF_H
#define FAIRMILL_COMMAND_WHATIF_H

#include <stdint.h>

struct whatif_changes;
struct db;
struct error;
struct settings;
struct published_cluster;
struct whatif;
struct whatif_state;

/* The two ways to an answer: from what is published, and from the accounting database. */

/* The states before and after, computed from what is published, in one transaction of the results
 * with what the cluster was read in; the queue's jobs go into `whatif`. */
int whatif_from_results(struct whatif *whatif, struct db *results,
                        const struct whatif_changes *changes,
                        const struct published_cluster *cluster, struct error *err);

/* The same from the accounting database, at an instant (NULL: now), as runs with these settings
 * compute it. */
int whatif_from_source(struct whatif *whatif, const struct settings *settings,
                       const struct whatif_changes *changes, const char *cluster,
                       const int64_t *now, struct error *err);

#endif
