/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_VERIFY_BULK_H
#define FAIRMILL_RESULTS_VERIFY_BULK_H

#include "db/driver.h"
#include "results/row_differences.h"
#include "results/stored_state.h"

/* What a witness (results/verify_session.h) knows: what it saw a run do, and what differs. */

#define STORED_TABLE_NAME "fairmill_kept"

/* The hash that a run would store of a part of a table. */
struct computed_part {
    char *table;
    struct hash_segment part;
    bool is_found; /* it is of rows that cannot be made anew, as they are stored */
};

/* What a run did to a table. */
struct witnessed_table {
    bool is_cleared; /* rows were removed, and none written since */
    int64_t cleared_day;
    int64_t last_day;      /* whose rows were compared */
    struct row_hash found; /* what is stored, where that is read whole and in order */
};

struct verify_session {
    struct db base;
    struct db *stored;
    const char *cluster;
    struct witnessed_table *tables; /* by shape */
    struct computed_part *parts;
    size_t part_count;
    struct row_differences differences;
    bool sums_differ, open_differ; /* by the seal's own hashes */
};

/* The tables that a witness compares. */

#define VERIFY_KEYS_AT_MOST 3

struct verified_table {
    const char *name;
    /* Besides the cluster, which comes first; ended by NULL. */
    const char *keys[VERIFY_KEYS_AT_MOST + 1];
    const char *clear, *remove; /* what removes all (of a day) or some */
    enum { OF_CLUSTER, BY_DAY, OF_CHECKPOINT } kind;
    const char *const *except; /* columns that hang on more than the source and the settings */
    bool in_order;             /* its hash is of all columns in their order */
};

extern const struct verified_table verified_tables[];
extern const size_t verified_table_count;
extern const struct verified_table *const verified_checkpoint_table;

/* NULL: the table is not compared. */
const struct verified_table *verified_table_named(const char *name);

struct witnessed_table *witnessed(const struct verify_session *session,
                                  const struct verified_table *table);
/* Note the hash that a run stores, of a table of this name. */
void verify_add_segment(struct verify_session *session, const struct db_value *table,
                        struct hash_segment part);

/* The rows that a run writes, and those that are stored in their place: what differs is noted in
 * the witness. */

/* For the driver. */
struct db_bulk *verify_bulk_begin(const struct db_bulk *target, struct error *err);
int verify_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err);
int verify_bulk_send(struct db_bulk *base, struct error *err);
void verify_bulk_free(struct db_bulk *base);

/* Rows of the table were removed, and perhaps none were written in their place: then none should be
 * there. */
int verify_compare_with_none(struct verify_session *session, const struct verified_table *table,
                             struct error *err);
/* Note a row that is only stored, or only computed; `keys` are its values behind the cluster. */
void verify_differ_whole(struct verify_session *session, const struct verified_table *table,
                         const struct db_value *keys, bool stored);

#endif
