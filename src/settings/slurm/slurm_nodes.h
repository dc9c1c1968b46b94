/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_NODES_H
#define FAIRMILL_SETTINGS_SLURM_NODES_H

#include "settings/slurm/slurm_file.h"

struct error;
struct slurm_conf;

/* The lines of a slurm.conf that have many keys: nodes, sets of nodes, and partitions, which may
 * stand in any order. */

struct slurm_nodes;
/* Partitions and totals go into the conf. */
struct slurm_nodes *slurm_nodes_create(struct slurm_conf *conf);
void slurm_nodes_destroy(struct slurm_nodes *nodes);

/* A line of a slurm_kind, whose first pair is `first`, and `rest` what is behind that. */
int slurm_nodes_take(struct slurm_nodes *nodes, struct slurm_place place,
                     const struct slurm_pair *first, char *rest, struct error *err);
/* Once all lines are there, see what every partition has. */
int slurm_nodes_finish(struct slurm_nodes *nodes, struct error *err);

#endif
