/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HISTORY_H
#define FAIRMILL_RESULTS_HISTORY_H

#include <stdint.h>

struct db;
struct error;
struct publisher;

/* For how long what earlier runs left is kept. */

/* Inside the transaction that publisher_publish() has open, once findings are written, and before
 * points and changes of associations are: remove what runs left of instants that have not come yet,
 * since the clock was ahead or they were asked to.  Days need no such care: the next run by the
 * clock finds its seal ahead and sums them anew. A run that is itself of an instant to come removes
 * nothing. */
int history_remove_future(const struct publisher *publisher, int64_t as_of, struct error *err);

/* After that transaction: take away what is older than [retention] wants, in transactions that are
 * short.  Where there is much, the next runs go on. */
int history_prune(const struct publisher *publisher, int64_t as_of, struct error *err);
/* Take away only rows of runs, those that are too old at the instant `clock`, but never the row of
 * the run that published last.  Runs that fail do this, too. */
int history_prune_runs(const struct publisher *publisher, int64_t clock, struct error *err);

/* Remove what is known of a cluster that was retired, or that a run did not find any more. */

/* ERROR_USAGE where there is no such cluster, or it is neither. */
int forget_check(struct db *db, const char *cluster, struct error *err);
/* Remove it, in transactions that are short, the fence last: what broke off can be begun again. */
int forget_cluster(const struct publisher *publisher, struct error *err);

#endif
