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

/* The priorities of jobs that wait: what the settings and the accounting database say, made into
 * the queue of core/priority/queue.h. */

/* Inside the source's snapshot: every job that waits at the instant `asked`, with all that does not
 * depend on associations, into a queue that is empty.  `now` is the instant for which priorities
 * hold.  The layout has a queue. */
int priorities_read(struct queue *queue, const struct source *source, uint64_t asked, uint64_t now,
                    struct findings *findings, struct error *err);

/* Then what the jobs' associations say: names, priorities, the published factor of a node, and
 * since when each ages under accrue limits. */
void priorities_complete(struct queue *queue, const struct settings *settings,
                         const struct accounting *accounting, const struct tree *tree,
                         double (*fairshare)(const void *context, uint32_t node),
                         const void *context);

#endif
