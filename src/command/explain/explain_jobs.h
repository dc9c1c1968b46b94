/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_JOBS_H
#define FAIRMILL_COMMAND_EXPLAIN_EXPLAIN_JOBS_H

struct error;
struct explained;
struct published;
struct published_cluster;
struct settings;
struct weights;

/* Fills `weights` with the job records that contribute most to the remaining usage of the
 * association explained->explanation->one, at the time of the published results.  Reads the
 * accounting database.  Omits records that the user may not see.  Returns -1 on error.  The caller
 * calls weights_free() even on error. */
int weights_read(struct weights *weights, const struct settings *settings,
                 const struct explained *explained, struct error *err);
/* Like weights_read(), but finds only the days that contribute most, and reads the published daily
 * usage.  Includes the usage of this association and of all associations below it in the published
 * tree.  The remaining usage of a day is computed as if it had been used evenly over that day. */
int weights_of_days(struct weights *weights, const struct published *published,
                    const struct published_cluster *cluster, const struct explained *explained,
                    struct error *err);
void weights_free(struct weights *weights);

#endif
