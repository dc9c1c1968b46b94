/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SLURM_DIFFERENCE_H
#define FAIRMILL_RESULTS_SLURM_DIFFERENCE_H

#include <stdbool.h>

struct error;
struct published;
struct published_cluster;

/* Returns the sentence that commands print if Slurm's values differ from the published ones.  If
 * `advice` is true, it names the command with which administrators change that. */
const char *slurm_difference_note(bool advice);

/*
 * Sets `*differs` to whether slurmctld may schedule by other fairshare values than the published
 * ones: the ledger has entries of the cluster, the settings of the run did not come from
 * slurm.conf, or slurmctld does not compute the algorithm in this way.  Sets it to false for other
 * schedulers. Returns -1 on error.
 */
int slurm_difference_read(const struct published *published,
                          const struct published_cluster *cluster, bool *differs,
                          struct error *err);

#endif
