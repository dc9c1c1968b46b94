/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_JOBS_H
#define FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_JOBS_H

struct error;
struct explained;
struct published;
struct published_cluster;
struct settings;
struct weights;

/* The heaviest job records of what is explained that may be shown, read from the accounting
 * database as of the instant that is published.  Free them also when this fails. */
int weights_read(struct weights *weights, const struct settings *settings,
                 const struct explained *explained, struct error *err);
/* The days of `one`, or below it, that weigh most, where single jobs are not read: from the
 * published usage of days of the associations that are in the tree.  What decay has left of a day
 * is what it would have of use that was spread evenly over that day.  Free them also when this
 * fails. */
int weights_of_days(struct weights *weights, const struct published *published,
                    const struct published_cluster *cluster, const struct explained *explained,
                    struct error *err);
void weights_free(struct weights *weights);

#endif
