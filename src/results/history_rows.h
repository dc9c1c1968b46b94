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

/* The points of history: the values of an instant, and what associations were called then.  All of
 * it inside a transaction. */

/* Where the instant is the first of its history_interval, write its point. */
int history_write(const struct publisher *publisher, const struct publication *publication,
                  int64_t as_of, struct error *err);

/* Whether the instant is to be a point, since its span has none yet or just this one; -1 on
 * failure. */
int history_is_point(const struct publisher *publisher, int64_t as_of, struct error *err);

/* Call this before a point is written that may be older than others.  An older release kept no hash
 * of its points; if this point is older than all that have one, their hashes are kept now. */
int history_keep_older(const struct publisher *publisher, int64_t as_of, struct error *err);
/* Write a point: of the publication its tree, values and names.  The one that is there of this
 * instant is replaced.  Names of later points stay as they are; but with `anew` they lose what is
 * there of this instant, since it is not as it was stored. */
int history_write_point(const struct publisher *publisher, const struct publication *publication,
                        int64_t as_of, bool anew, struct error *err);

/* Note that no run of then made it, how much older jobs could matter (NAN: nobody knows), and of
 * how many associations is in doubt what they were. */
int history_write_backfill(const struct publisher *publisher, int64_t as_of,
                           double truncation_bound, uint64_t in_doubt, struct error *err);

struct times {
    int64_t *list;
    size_t count;
};
void times_add(struct times *times, int64_t time);
void times_free(struct times *times);

/* The instants of a cluster's points, ascending: of all, or of those that backfill made. */
int history_points(struct db *db, const char *cluster, bool of_backfill, struct times *points,
                   struct error *err);
/* Those of which something is not as it was stored: values, or names that begin there. */
int history_damaged(struct db *db, const char *cluster, struct times *damaged, struct error *err);

/* Inside a transaction: write the rows of fairmill_fairness of an instant, a row for each scope of
 * core/insight/fairness.h, with their hash; those that are there of it are replaced. */
int fairness_rows_write(const struct publisher *publisher, const struct tree *tree,
                        const struct values *values, int64_t as_of, struct error *err);

#endif
