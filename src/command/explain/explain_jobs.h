/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_JOBS_H
#define FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_JOBS_H

struct error;
struct explained;
struct published;
struct published_cluster;
struct settings;
struct weights;

/* Reads the job records that contribute most, from the accounting database and for the published
 * time.  Omits records that the user may not see.  Returns -1 on error.  The caller calls
 * weights_free() also after an error. */
int weights_read(struct weights *weights, const struct settings *settings,
                 const struct explained *explained, struct error *err);
/* Like weights_read(), but finds only the days that contribute most, from the published daily
 * usage.  Includes the associations that are in the tree, at or below the explained one.  The
 * remaining usage of a day is computed as if it had been used evenly over that day. */
int weights_of_days(struct weights *weights, const struct published *published,
                    const struct published_cluster *cluster, const struct explained *explained,
                    struct error *err);
void weights_free(struct weights *weights);

#endif
