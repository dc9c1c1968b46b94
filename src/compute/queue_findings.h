/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_QUEUE_FINDINGS_H
#define FAIRMILL_COMPUTE_QUEUE_FINDINGS_H

struct findings;
struct queue;
struct slurm_conf;

/* What is odd about jobs that wait: they ask for a partition that the slurm.conf has not. */
void queue_find_unknown_partitions(const struct queue *queue, const struct slurm_conf *conf,
                                   struct findings *findings);

#endif
