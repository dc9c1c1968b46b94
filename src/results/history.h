/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HISTORY_H
#define FAIRMILL_RESULTS_HISTORY_H

#include <stdint.h>

struct db;
struct error;
struct publication;
struct publisher;

/*
 * Removes old results: rows with future times, rows older than [retention] allows, and retired
 * clusters.
 */

/*
 * Removes rows with times in the future, which exist if the clock was ahead or if a run was
 * requested for a future time.  A run that itself has a future time removes nothing.
 *
 * Must run inside the transaction that publisher_publish() opened, after findings and before
 * history points and changes of associations are written.  Usage of days needs no removal: the next
 * run by the clock finds the checkpoint in the future and sums all days from scratch.
 *
 * If publication->newest_end is after the clock, the clock is slow.  Times up to newest_end then
 * count as past.
 */
int history_remove_future(const struct publisher *publisher, const struct publication *publication,
                          int64_t as_of, struct error *err);

/*
 * Removes rows older than [retention] allows, in short transactions after the publishing one.  A
 * call removes a limited number of points and days; later runs continue.
 *
 * `newest` is the newest time in the accounting database.  Age counts from it if it is earlier than
 * the clock, because the clock may be ahead.  It is -1 if unknown, and then nothing is removed.  It
 * is INT64_MAX if the user gave the run's time.  Returns -1 on error.
 */
int history_prune(const struct publisher *publisher, int64_t as_of, int64_t newest,
                  struct error *err);

/*
 * Removes only rows of runs, but never the row of the run that published last.  Failed runs call
 * this, too.
 */
int history_prune_runs(const struct publisher *publisher, int64_t newest, struct error *err);

/*
 * Sets `*newest` to the newest time that the last published run recorded, for failed runs.  Sets it
 * to INT64_MAX if no run has published, because then only rows of failures exist.
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
