/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_CHECK_CHECK_SLURM_H
#define FAIRMILL_COMMAND_CHECK_CHECK_SLURM_H

#include <stddef.h>
#include <stdint.h>

struct accounting;
struct db;
struct error;
struct settings;
struct text;

/* What `check` says of slurm.conf and of the weights of priorities. */

/* Where each value that a slurm.conf may give is from, and what looks wrong.  Without a slurm.conf
 * only what looks wrong with the weights. */
void check_slurm(struct text *text, const struct settings *settings);
/* What looks wrong for a cluster with so many user associations. */
void check_slurm_cluster(struct text *text, const struct settings *settings, const char *cluster,
                         uint64_t users);
/* Which release of Slurm the cluster's slurmctld is of, who says so, and what follows. */
void check_slurm_release(struct text *text, const struct settings *settings,
                         const struct accounting *accounting);
/* Whether runs are as frequent as slurmctld's own passes. */
int check_slurm_period(struct text *text, const struct settings *settings, struct db *results,
                       char *const *clusters, size_t count, struct error *err);

#endif
