/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_QUEUE_FINDINGS_H
#define FAIRMILL_COMPUTE_QUEUE_FINDINGS_H

struct findings;
struct queue;
struct slurm_conf;

/*
 * Adds a finding for each pending job that slurmctld has apparently lost: it has been eligible for
 * too long.
 */
void queue_find_lost(const struct queue *queue, struct findings *findings);
/* Adds a finding for each pending job that requests a partition missing from slurm.conf. */
void queue_find_unknown_partitions(const struct queue *queue, const struct slurm_conf *conf,
                                   struct findings *findings);

#endif
