/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_QUEUE_FINDINGS_H
#define FAIRMILL_COMPUTE_QUEUE_FINDINGS_H

struct findings;
struct queue;
struct slurm_conf;

/* What is odd about pending jobs: slurmctld has lost them; */
void queue_find_lost(const struct queue *queue, struct findings *findings);
/* they ask for a partition that the slurm.conf does not have. */
void queue_find_unknown_partitions(const struct queue *queue, const struct slurm_conf *conf,
                                   struct findings *findings);

#endif
