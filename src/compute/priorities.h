/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_PRIORITIES_H
#define FAIRMILL_COMPUTE_PRIORITIES_H

#include <stdint.h>

struct accounting;
struct error;
struct findings;
struct queue;
struct settings;
struct source;
struct tree;

/*
 * Computes the priorities of pending jobs: fills the queue of core/priority/queue.h from the
 * settings and the accounting database.
 */

/*
 * Reads every job that was pending at `asked`, with everything that does not depend on
 * associations, into the empty `queue`.  `now` is the time for which priorities apply.  Call it in
 * the source's snapshot; the layout must have a queue.  Returns -1 on error.
 */
int priorities_read(struct queue *queue, const struct source *source, uint64_t asked, uint64_t now,
                    struct findings *findings, struct error *err);

/*
 * Completes the jobs from the tree of associations: names, association priorities, fairshare
 * factors and, with accrue limits, the time from which each job ages.  `fairshare` returns the
 * published factor of a node.
 */
void priorities_complete(struct queue *queue, const struct settings *settings,
                         const struct accounting *accounting, const struct tree *tree,
                         double (*fairshare)(const void *context, uint32_t node),
                         const void *context);

#endif
