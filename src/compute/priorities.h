/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_PRIORITIES_H
#define FAIRMILL_PRIORITIES_H

#include <stdint.h>

struct accounting;
struct db;
struct error;
struct findings;
struct names;
struct queue;
struct settings;
struct tree;

/* The priorities of jobs that wait: what the settings and the accounting database say, made into
 * the queue of core/queue.h. */

/* Inside the source's snapshot: every job that waits at the instant `asked`, with all that does not
 * depend on associations.  `now` is the instant for which priorities hold.  Names go into `names`.
 * *queue is NULL where the layout has no such jobs. */
int priorities_read(struct queue **queue, const struct settings *settings, struct db *source,
                    const char *cluster, uint64_t asked, uint64_t now, struct names *names,
                    struct findings *findings, struct error *err);

/* Then what the jobs' associations say: names, priorities, and the published factor of a node. */
void priorities_complete(struct queue *queue, const struct accounting *accounting,
                         const struct tree *tree,
                         double (*fairshare)(const void *context, uint32_t node),
                         const void *context);

#endif
