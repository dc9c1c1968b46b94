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

/*
 * Reads and writes the rows of a day in two tables.  The table fairmill_usage_day has the daily
 * usage of each association by all jobs.  The table fairmill_usage_open has only the part of that
 * usage that comes from jobs that are not in the checkpoint.  A hash of the rows is stored for each
 * day and table (stored_state.h).
 *
 * The amount of a kept TRES is in the column of the TRES's number, and is NULL if it is 0.  The
 * settings may no longer keep a TRES that earlier runs kept.  The amounts of such a TRES stay in
 * the days that a run does not write.  A run that reads all jobs removes them from the days that it
 * writes.
 */

/*
 * Returns the row hash of the rows of one day.  Only rows with usage above 0 are stored.  The hash
 * of a row without amounts is the one that releases before 0.4.0 stored.
 */
struct row_hash day_list_kept(const struct day_list *list, const struct kept_tres *kept);

struct day_table {
    const char *name;
    const char *remove, *clear; /* statements that remove some or all rows of a day */
    bool has_usage;             /* has a column with the usage in TRES-seconds */
};
extern const struct day_table day_usage_table, day_open_table;

struct day_store {
    struct db *db;
    const char *name; /* of the cluster */
    struct db_value cluster;
    struct days *days;
    bool nothing_known;               /* no run has stored hashes yet */
    struct hash_segments usage, open; /* stored hashes of the days in the two tables */
};

/* The stored rows of a day in one table. */
struct stored_day {
    int64_t start;         /* start of the day, in epoch seconds */
    uint32_t day;          /* index of the day in struct days */
    struct day_sums *sums; /* receives the rows; NULL to check them only */
    bool intact;           /* the rows match their hash */
    bool readable;         /* all rows could be read; if false, `sums` may be incomplete */
    bool has_other_tres;   /* the rows have amounts of a TRES that is not kept */
};

/*
 * Returns the number of a day's hash segment: the start of the day in epoch seconds.  `day` is the
 * index of the day in struct days.
 */
int64_t day_part(const struct day_store *store, size_t day);

/*
 * Reads the rows of the day stored->start and sets `*found`, which must be 0, to their hash.  Sets
 * stored->readable and stored->has_other_tres.  Returns -1 on error.
 */
int day_store_read_rows(struct day_store *store, const struct day_table *table,
                        struct stored_day *stored, struct row_hash *found, struct error *err);

/*
 * Reads the stored rows of a day and compares their hash with the stored hash.  If the hashes
 * differ, or if the rows have amounts of a TRES that is not kept, an incremental run fails with
 * ERROR_DAMAGED.  A run that reads all jobs continues; stored->intact is false if the hashes
 * differ.
 */
int day_store_read(struct day_store *store, const struct day_table *table, uint32_t day,
                   struct stored_day *stored, struct error *err);

/*
 * Replaces the stored sums of a day by `new`.  Writes only the rows that differ, or all rows if
 * most rows differ.  Returns -1 on error.
 */
int day_store_write(struct day_store *store, const struct day_table *table, uint32_t day,
                    const struct stored_day *stored, struct day_list new, struct error *err);

/* Stores the hash of a day's rows if it has changed. */
int day_store_keep(struct day_store *store, const struct day_table *table, uint32_t day,
                   const struct day_list *list, struct error *err);

/* Removes the stored hash of a day. */
int day_store_forget(struct day_store *store, const struct day_table *table, int64_t day,
                     struct error *err);

/*
 * Removes all rows of each day from `first` to `last` that the query `find` returns, and their
 * hashes.  Begins with the oldest day.  Uses one DELETE for each day, because a DELETE of several
 * days could also lock the next row, which may be a row of another cluster.
 */
int day_store_remove(struct day_store *store, const struct day_table *table, const char *find,
                     int64_t first, int64_t last, struct error *err);

/*
 * Adds the number of a day's rows that differ from `new` to days->repairs.  Does nothing if the
 * rows match their hash, or if no run has stored hashes yet.
 */
void day_store_note_repair(struct day_store *store, const struct day_table *table,
                           const struct stored_day *stored, struct day_list new);

/*
 * Sets days->failed, because the sums cannot be stored.  The run then publishes fairshare without
 * the daily usage.  Returns -1.
 */
int day_store_give_up(struct day_store *store);

#endif
