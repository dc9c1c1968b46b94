/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_STORE_H
#define FAIRMILL_RESULTS_DAY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/usage/day_sums.h"
#include "db/db.h"
#include "results/days.h"
#include "results/stored_state.h"

/* The rows of a day in the tables that have sums by day and association. */

/* Sums of one day by id, which hold until sums are added, and the first that day_list_next_pair()
 * has not returned yet. */
struct day_list {
    const struct day_sum *rows;
    size_t count, next;
};

struct day_list day_list_of(struct day_sums *sums);

/* Add a row to what is kept of a day, and what is kept of all rows of a list. */
struct row_hash day_list_kept(const struct day_list *list);

struct day_table {
    const char *name;
    const char *read, *types;   /* the rows of a day */
    const char *remove, *clear; /* some of them, all of them */
    bool has_usage;             /* as a number of TRES-seconds */
};
extern const struct day_table day_usage_table, day_open_table;

struct day_store {
    struct db *db;
    const char *name; /* of the cluster */
    struct db_value cluster;
    struct days *days;
    bool nothing_known;               /* no run has said yet what it stored */
    struct hash_segments usage, open; /* what was stored of each day in the two tables */
};

/* What is stored of a day in one of the tables. */
struct stored_day {
    int64_t start;         /* of the day */
    uint32_t day;          /* its place */
    struct day_sums *sums; /* NULL: it is only looked at */
    bool intact;           /* it is as it was stored */
    bool readable;         /* else it may lack rows that are there */
};

/* A day's part of a table, as fairmill_kept has it. */
int64_t day_part(const struct day_store *store, size_t day);

/* Read the rows of stored->start, and what is kept of them, as it is found. */
int day_store_read_rows(struct day_store *store, const struct day_table *table,
                        struct stored_day *stored, struct row_hash *found, struct error *err);
/* Read what is stored of a day.  If it is not as it was stored, a run that goes on from it fails
 * (ERROR_DAMAGED), and one that makes all anew reads it all the same. */
int day_store_read(struct day_store *store, const struct day_table *table, uint32_t day,
                   struct stored_day *stored, struct error *err);
/* Turn the stored sums of a day into the new ones: only rows that differ are written. */
int day_store_write(struct day_store *store, const struct day_table *table, uint32_t day,
                    const struct stored_day *stored, struct day_list new, struct error *err);
/* Note what is stored of a day from now on. */
int day_store_keep(struct day_store *store, const struct day_table *table, uint32_t day,
                   const struct day_list *list, struct error *err);
/* Nothing is stored of a day any more. */
int day_store_forget(struct day_store *store, const struct day_table *table, int64_t day,
                     struct error *err);
/* Remove all rows of each day that a query finds from `first` to `last`, the oldest day first.  A
 * DELETE of several days at once would lock the row behind them, which may be another cluster's. */
int day_store_remove(struct day_store *store, const struct day_table *table, const char *find,
                     int64_t first, int64_t last, struct error *err);
/* Note what is to be said of a day that others had changed. */
void day_store_note_repair(struct day_store *store, const struct day_table *table,
                           const struct stored_day *stored, struct day_list new);
/* The sums cannot be kept; fairshare does not wait for them.  Returns -1. */
int day_store_give_up(struct day_store *store);

/* A cluster's row of fairmill_usage_span. */
struct usage_span {
    uint64_t as_of;      /* of the run that wrote the days; 0: none did */
    uint64_t oldest_end; /* of all job rows then; UINT64_MAX: none had ended */
    uint64_t final_to;   /* days before it are not changed any more: their jobs were purged */
};

/* Read it.  *known: a run has said what it stored; *intact: the row is that, or there is neither.
 */
int usage_span_read(struct db *db, const char *cluster, struct usage_span *span, bool *known,
                    bool *intact, struct error *err);
int usage_span_write(struct db *db, const char *cluster, const struct usage_span *span,
                     struct error *err);

extern const char usage_span_table[];

/* That row as it is found, and what is stored of each day. */
struct stored_days {
    struct usage_span span;
    struct hash_segments days;
};
int stored_days_read(struct db *db, const char *cluster, struct stored_days *stored,
                     struct error *err);
void stored_days_free(struct stored_days *stored);
/* Whether any of them does not begin with a day of the process's time zone. */
bool stored_days_are_strange(const struct stored_days *stored);
/* Days can be summed from `from` on, unless they are final, and up to where jobs were purged if the
 * oldest one ended at `oldest_end` now.  Returns the time at which the first of them must begin so
 * that the stored days of another time zone before it neither overlap it nor leave a gap; 0 if it
 * can begin at midnight. */
uint64_t stored_days_border(const struct stored_days *stored, uint64_t from, uint64_t oldest_end);

#endif
