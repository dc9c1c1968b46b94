/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_NODES_H
#define FAIRMILL_SETTINGS_SLURM_NODES_H

struct error;
struct slurm_conf;
struct slurm_line;

/* The lines of a slurm.conf that have many keys: nodes, sets of nodes, and partitions, which may
 * stand in any order. */

/* Partitions and totals are put into `conf`, which must outlive this. */
struct slurm_nodes *slurm_nodes_create(struct slurm_conf *conf);
void slurm_nodes_destroy(struct slurm_nodes *nodes);

/* Add a line of a slurm_kind. */
int slurm_nodes_add(struct slurm_nodes *nodes, const struct slurm_line *line, struct error *err);
/* Once all lines are added, work out what every partition has. */
int slurm_nodes_finish(struct slurm_nodes *nodes, struct error *err);

#endif
