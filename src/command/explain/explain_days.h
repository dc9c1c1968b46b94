/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_DAYS_H
#define FAIRMILL_COMMAND_EXPLAIN_DAYS_H

struct error;
struct explained;
struct published;
struct published_cluster;
struct weights;

/* The days of `one`, or below it, that weigh most, where single jobs are not read: from the
 * published usage of days of those that are in the tree.  What decay has left of a day is what it
 * would have of use that was spread evenly over that day.  weights_free() is due in any case. */
int weights_of_days(struct weights *weights, const struct published *published,
                    const struct published_cluster *cluster, const struct explained *explained,
                    struct error *err);

#endif
