/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_STORE_H
#define FAIRMILL_RESULTS_DAY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "results/day_list.h"
#include "results/days.h"
#include "results/kept.h"

/* The rows of a day in the tables that have sums by day and association. */

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
    bool nothing_known;            /* no run has said yet what it stored */
    struct kept_parts usage, open; /* what was stored of each day in the two tables */
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
                        struct stored_day *stored, struct kept_rows *found, struct error *err);
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

#endif
