/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_STORED_STATE_H
#define FAIRMILL_RESULTS_STORED_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct db_value;
struct error;
struct row_field;

/* Whether rows that we stored are still what we stored.  Beside the rows of a table that later runs
 * go on from, fairmill_kept has how many there are and a hash over them, in parts: of a day, of a
 * point of history, or (part 0) of all rows of a cluster.  A run does not use rows that are not as
 * they were stored: it computes anew what the source can tell, and names the rest in a finding. The
 * hash finds accidents, not forgers. */

/* A number of rows in any order.  Zeroed, it is of none. */
struct row_hash {
    uint64_t rows, hash;
};
/* Add a row, which is made of words: an integer, the bits of a real number, or what
 * row_hash_of_text() makes of a text. */
void row_hash_add(struct row_hash *stored, const uint64_t *words, size_t count);
uint64_t row_hash_of_text(const char *bytes, size_t length);
/* The same of values as they go to a database, or come from it. */
void row_hash_add_values(struct row_hash *stored, const struct db_value *values, size_t count);
void row_hash_add_fields(struct row_hash *stored, const struct row_field *fields, size_t count);
bool row_hash_same(const struct row_hash *one, const struct row_hash *other);

/* The parts of a table that have rows, by ascending part. */
struct hash_segment {
    int64_t part;
    struct row_hash stored;
};
struct hash_segments {
    struct hash_segment *parts;
    size_t count;
};
int stored_read(struct db *db, const char *cluster, const char *table, struct hash_segments *parts,
                struct error *err);
void hash_segments_free(struct hash_segments *parts);
/* What is stored of part 0, which is all rows of a cluster. */
int stored_read_all(struct db *db, const char *cluster, const char *table, struct row_hash *stored,
                    struct error *err);
/* What is stored of a part; of one that is not listed there are no rows. */
struct row_hash hash_segments_find(const struct hash_segments *parts, int64_t part);
/* Take a part off the list. */
void hash_segments_forget(struct hash_segments *parts, int64_t part);

/* Inside the transaction that writes the rows: what is stored of a part now. */
int stored_write(struct db *db, const char *cluster, const char *table,
                 const struct hash_segment *part, struct error *err);
/* Inside a transaction: forget parts that no run looks at and none would write again, which
 * somebody else put there. */
int stored_remove_strays(struct db *db, const char *cluster, struct error *err);

/* A table that no run goes on from and that cannot be made anew: its parts are the instants at
 * which its rows were written. */
struct hashed_table {
    const char *name;
    const char *read,
        *types;       /* of a cluster, the rows from one instant to another: it comes first */
    bool is_one_part; /* part 0, which every run of this release has hashed */
};
extern const struct hashed_table stored_history, stored_points, stored_backfill, stored_names,
    stored_changes, stored_factors, stored_fairness;
extern const struct hashed_table stored_share_past;       /* one part, written once */
extern const struct hashed_table stored_share_state;      /* one part, which each run writes */
extern const struct hashed_table *const stored_records[]; /* these; ended by NULL */

/* Inside the transaction that has written rows of an instant: keep what is there of it. */
int stored_write_found(struct db *db, const char *cluster, const struct hashed_table *table,
                       int64_t part, struct error *err);
/* The same of rows of all instants, of which nothing is kept yet. */
int stored_write_all(struct db *db, const char *cluster, const struct hashed_table *table,
                     struct error *err);
/* Call this before rows of an instant are written.  An older release kept nothing of its rows; if
 * the instant is older than every part that is kept, keep what is there before the first of them.
 */
int stored_write_older(struct db *db, const char *cluster, const struct hashed_table *table,
                       int64_t part, struct error *err);
/* Parts of tables that are not as they were written. */
struct kept_losses {
    struct kept_loss {
        const struct hashed_table *table;
        int64_t part;
        struct row_hash known, found; /* what was written, and what is there */
    } * list;
    size_t count;
};
/* Add what is not as it was written to `losses`, whose list the caller frees; of what is older than
 * any that is known, nothing. */
int stored_compare(struct db *db, const char *cluster, const struct hashed_table *table,
                   struct kept_losses *losses, struct error *err);
/* Set *first to the lowest of these parts; leave it as it is if there is none. */
int stored_find_loss(struct db *db, const char *cluster, const struct hashed_table *table,
                     int64_t *first, struct error *err);

#endif
