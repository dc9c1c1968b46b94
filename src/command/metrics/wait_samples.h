/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_METRICS_WAIT_SAMPLES_H
#define FAIRMILL_COMMAND_METRICS_WAIT_SAMPLES_H

struct error;
struct metrics;
struct published;
struct published_cluster;

/* Adds the waiting times of the jobs that started on the day of the last run or the six days
 * before, by partition and QOS.  Returns -1 on error. */
int metrics_waits_add(struct metrics *metrics, struct published *published,
                      const struct published_cluster *cluster, struct error *err);

#endif
