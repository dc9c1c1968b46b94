/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_WHATIF_RESULTS_H
#define FAIRMILL_COMMAND_WHATIF_RESULTS_H

struct db;
struct error;
struct published_cluster;
struct whatif;
struct whatif_changes;

/* Compute the cluster before and after the changes from what is published, and the priorities of
 * the jobs that wait.  `results` is in the transaction in which the cluster was read. */
int whatif_from_results(struct whatif *whatif, struct db *results,
                        const struct whatif_changes *changes,
                        const struct published_cluster *cluster, struct error *err);

#endif
