/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HISTORY_H
#define FAIRMILL_RESULTS_HISTORY_H

#include <stdint.h>

struct db;
struct error;
struct publication;
struct publisher;

/* For how long what earlier runs left is kept. */

/* Inside the transaction that publisher_publish() has open, once findings are written, and before
 * points and changes of associations are: remove what runs left of instants that have not come yet,
 * since the clock was ahead or they were asked to.  Days need no such care: the next run by the
 * clock finds its seal ahead and sums them anew.  A run that is itself of an instant to come
 * removes nothing.  If the source has jobs that ended later, the clock is behind, and times up to
 * theirs have come. */
int history_remove_future(const struct publisher *publisher, const struct publication *publication,
                          int64_t as_of, struct error *err);

/* After that transaction: remove what is older than [retention] allows, in short transactions.  The
 * next runs continue with what is left.  The clock may be ahead, so that age counts from the newest
 * time in the source, `newest`, if that is earlier: -1 is none, so that nothing is removed, and
 * INT64_MAX is a run whose time the user gave. */
int history_prune(const struct publisher *publisher, int64_t as_of, int64_t newest,
                  struct error *err);
/* Remove only rows of runs, but never that of the run that published last.  Runs that fail do this,
 * too. */
int history_prune_runs(const struct publisher *publisher, int64_t newest, struct error *err);
/* For runs that fail: sets `*newest` to that of the last run that published; INT64_MAX if none has,
 * since there are only rows of failures then. */
int history_newest(const struct publisher *publisher, int64_t *newest, struct error *err);

/* Remove what is known of a cluster that was retired, or that a run did not find any more. */

/* ERROR_USAGE where there is no such cluster, or it is neither. */
int forget_check(struct db *db, const char *cluster, struct error *err);
/* Remove it, in transactions that are short, the fence last: what broke off can be begun again. */
int forget_cluster(const struct publisher *publisher, struct error *err);

#endif
