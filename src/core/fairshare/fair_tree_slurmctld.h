/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FAIRSHARE_FAIR_TREE_SLURMCTLD_H
#define FAIRMILL_CORE_FAIRSHARE_FAIR_TREE_SLURMCTLD_H

struct fairshare;

/* Sets level_fs, ranks and factors of Fair Tree as slurmctld computes them.  The common values must
 * be set. */
void fair_tree_rank_as_slurmctld(struct fairshare *fairshare);

#endif
