/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_VERIFY_BULK_H
#define FAIRMILL_RESULTS_VERIFY_BULK_H

#include "db/driver.h"
#include "results/row_differences.h"
#include "results/stored_state.h"

/*
 * The state of a verifier (results/verify_session.h): the statements of the run that it observed,
 * and the differences that it found.
 */

#define STORED_TABLE_NAME "fairmill_kept"

/* The hash that a run would store for a hash segment. */
struct computed_part {
    char *table;
    struct hash_segment part;
    bool is_found; /* the hash of stored rows that the run cannot recompute */
};

/* The effect of a run's statements on one table. */
struct witnessed_table {
    bool is_cleared; /* the run removed rows and has written none since */
    int64_t cleared_day;
    int64_t last_day;      /* the last day whose rows were compared */
    struct row_hash found; /* hash of the stored rows, if all are read in column order */
};

struct verify_session {
    struct db base;
    struct db *stored;
    const char *cluster;
    struct witnessed_table *tables; /* with the same indexes as verified_tables */
    struct computed_part *parts;
    size_t part_count;
    struct row_differences differences;
    bool sums_differ, open_differ; /* according to the hashes in the checkpoint's row */
};

/* Descriptions of the tables that a verifier compares. */

#define VERIFY_KEYS_AT_MOST 5

struct verified_table {
    const char *name;
    /* NULL-terminated list of key columns after the cluster. */
    const char *keys[VERIFY_KEYS_AT_MOST + 1];
    const char *clear, *remove; /* statements that remove all rows (of a day), or some rows */
    enum { OF_CLUSTER, BY_DAY, OF_CHECKPOINT } kind;
    /*
     * columns that are not compared, because they depend on more than the accounting database and
     * the settings; or NULL
     */
    const char *const *except;
    bool in_order; /* the hash of the table covers all columns in their order */
};

extern const struct verified_table verified_tables[];
extern const size_t verified_table_count;
extern const struct verified_table *const verified_checkpoint_table;

/* Returns the description of a table, or NULL if it is not compared. */
const struct verified_table *verified_table_named(const char *name);

/* Returns the effect of the run's statements on a table, which the session owns. */
struct witnessed_table *witnessed(const struct verify_session *session,
                                  const struct verified_table *table);

/* Records the hash that a run stores for a segment of a table. */
void verify_add_segment(struct verify_session *session, const struct db_value *table,
                        struct hash_segment part);

/*
 * Comparison of the rows that a run writes with the stored rows.  Differences are recorded in the
 * session.
 */

/* Functions of the verifier's driver (db/driver.h). */
struct db_bulk *verify_bulk_begin(const struct db_bulk *target, struct error *err);
int verify_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err);
int verify_bulk_send(struct db_bulk *base, struct error *err);
void verify_bulk_free(struct db_bulk *base);

/*
 * Call after the run removed rows of the table.  If the run then wrote no rows, records each stored
 * row as a difference.
 */
int verify_compare_with_none(struct verify_session *session, const struct verified_table *table,
                             struct error *err);

/* Records a row that is only stored or only computed.  `keys` are its values after the cluster. */
void verify_differ_whole(struct verify_session *session, const struct verified_table *table,
                         const struct db_value *keys, bool stored);

#endif
