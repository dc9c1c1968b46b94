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

/* The part of `check` about slurm.conf and the weights of priorities. */

/* Shows the origin of each value that slurm.conf can set, and warns about doubtful values.  Without
 * a slurm.conf, warns about the weights only. */
void check_slurm(struct text *text, const struct settings *settings);
/* Warns about values that are unsuitable for this cluster, which has `users` user associations. */
void check_slurm_cluster(struct text *text, const struct settings *settings, const char *cluster,
                         uint64_t users);
/* Shows the release of the cluster's slurmctld, how it is known, and its consequences. */
void check_slurm_release(struct text *text, const struct settings *settings,
                         const struct accounting *accounting);
/* Warns if the time between runs differs much from slurmctld's decay cycle.  Returns -1 on
 * error. */
int check_slurm_period(struct text *text, const struct settings *settings, struct db *results,
                       char *const *clusters, size_t count, struct error *err);

#endif
