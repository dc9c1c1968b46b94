/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HISTORY_ROWS_H
#define FAIRMILL_RESULTS_HISTORY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct publication;
struct publisher;
struct tree;
struct values;

/*
 * Writes history points.  A history point has the values and the names of all associations at one
 * time.  All functions must be called inside a transaction.  Functions that return int return -1 on
 * error.
 */

/*
 * Writes a history point if history is enabled and `as_of` is the first time in its
 * history_interval.
 */
int history_write(const struct publisher *publisher, const struct publication *publication,
                  int64_t as_of, struct error *err);

/*
 * Returns 1 if a point may be written for `as_of`: the interval that contains it has
 * no point yet, or its first point is at `as_of`.  Returns 0 otherwise.
 */
int history_is_point(const struct publisher *publisher, int64_t as_of, struct error *err);

/*
 * Call this before a point is written that may be older than stored points.  Release 0.1.0 stored
 * no hashes of points.  If this point is older than all points with a hash, stores hashes for all
 * points that are older than these.  Without these hashes, later runs would report the points as
 * damaged.
 */
int history_keep_older(const struct publisher *publisher, int64_t as_of, struct error *err);

/*
 * Writes a point with the publication's tree, values and names.  Replaces an existing point of the
 * same time.  The names at later points do not change.  If `anew` is true, the stored names of this
 * time are damaged, and are not preserved for the next point.
 */
int history_write_point(const struct publisher *publisher, const struct publication *publication,
                        int64_t as_of, bool anew, struct error *err);

/*
 * Records that `fairmill backfill` computed a point.  `truncation_bound` is the largest part of a
 * value that older, missing jobs could change, or NAN if unknown.  `in_doubt` is the number of
 * associations with uncertain states.
 */
int history_write_backfill(const struct publisher *publisher, int64_t as_of,
                           double truncation_bound, uint64_t in_doubt, struct error *err);

struct times {
    int64_t *list;
    size_t count;
};
void times_add(struct times *times, int64_t time);
void times_free(struct times *times);

/*
 * Sets `*points` to the times of a cluster's history points, in ascending order.  If `of_backfill`
 * is true, includes only the points that `fairmill backfill` computed.  The caller frees them with
 * times_free().
 */
int history_points(struct db *db, const char *cluster, bool of_backfill, struct times *points,
                   struct error *err);

/*
 * Sets `*damaged` to the times of damaged points.  A point is damaged if its values, or the names
 * that begin at its time, do not match their hashes.
 */
int history_damaged(struct db *db, const char *cluster, struct times *damaged, struct error *err);

/*
 * Writes the rows of fairmill_fairness for one time, with a row for each scope of
 * core/insight/fairness.h.  Also writes the hash of these rows.  Replaces existing rows of that
 * time.
 */
int fairness_rows_write(const struct publisher *publisher, const struct tree *tree,
                        const struct values *values, int64_t as_of, struct error *err);

#endif
