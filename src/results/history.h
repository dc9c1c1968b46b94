/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HISTORY_H
#define FAIRMILL_RESULTS_HISTORY_H

#include <stdint.h>

struct db;
struct error;
struct publication;
struct publisher;

/*
 * Removes rows with times in the future, rows that are older than [retention] allows, and the rows
 * of retired clusters.
 */

/*
 * Removes rows with times in the future, which exist if the clock was ahead or if a run was
 * requested for a future time.  A run that itself has a future time removes nothing.
 *
 * Must run inside the transaction that publisher_publish() opened.  Call it after findings are
 * written, and before history points and changes of associations are written.  The daily usage
 * needs no removal: the next run at the current time finds a checkpoint from the future and sums
 * all days from scratch.
 *
 * If publication->newest_end is after the clock, the clock is slow.  In that case, rows with times
 * up to newest_end are not removed.
 */
int history_remove_future(const struct publisher *publisher, const struct publication *publication,
                          int64_t as_of, struct error *err);

/*
 * Removes rows that are older than [retention] allows, in short transactions after the transaction
 * that publishes.  A call removes a limited number of points and days; later runs remove more.
 *
 * `newest` is the newest time in the accounting database.  The age of rows is measured from
 * `newest` if that is earlier than the clock, because the clock may be ahead.  Pass -1 if `newest`
 * is unknown; nothing is removed then.  Pass INT64_MAX if the user gave the run's time.  Returns -1
 * on error.
 */
int history_prune(const struct publisher *publisher, int64_t as_of, int64_t newest,
                  struct error *err);

/*
 * Removes only rows of runs, but never the row of the run that published last.  Failed runs call
 * this, too.
 */
int history_prune_runs(const struct publisher *publisher, int64_t newest, struct error *err);

/*
 * Sets `*newest` to the newest time that the last published run found in the accounting database.
 * Failed runs use it to remove old rows.  Sets it
 * to -1 if that run recorded no time, and to INT64_MAX if no run has published.  In the last case,
 * only rows of failed runs exist.
 */
int history_newest(const struct publisher *publisher, int64_t *newest, struct error *err);

/* Removal of a cluster that was retired or is missing from the accounting database. */

/*
 * Checks that a cluster may be removed.  Fails with ERROR_USAGE if no such cluster exists, or if it
 * is neither retired nor missing.
 */
int forget_check(struct db *db, const char *cluster, struct error *err);

/*
 * Removes all rows of a cluster except the ledger, in short transactions.  Removes its row of
 * fairmill_lock last, so that an interrupted removal can be repeated.
 */
int forget_cluster(const struct publisher *publisher, struct error *err);

#endif
