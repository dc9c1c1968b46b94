/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_PRIORITY_INPUTS_H
#define FAIRMILL_COMPUTE_PRIORITY_INPUTS_H

#include "source/layout.h"

struct error;
struct findings;
struct queue;
struct settings;

/* The inputs of priorities that do not depend on a job: weights, partitions, QOS and the size of
 * the cluster, from the settings, slurm.conf and the accounting database. */

/* The ids of two TRES, which are the same in every slurmdbd. */
enum { TRES_MEMORY = 2, TRES_NODE = 4 };

struct priority_inputs {
    struct queue *queue;
    const struct settings *settings;
    struct cluster_facts facts;
};

/* Adds them to the empty queue.  `now` is the time for which priorities apply, in epoch seconds.
 * Fails with ERROR_SETTINGS. */
int priority_inputs_take(struct priority_inputs *inputs, uint64_t now, struct findings *findings,
                         struct error *err);

/* Returns the count of a TRES in a list like `1=4,2=1000`; 0 if the list lacks it. */
uint64_t compute_priority_count_of(const char *tres, size_t length, uint64_t id);

#endif
