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

/*
 * Verifies that stored rows have not changed since a run stored them.
 *
 * Later runs continue from the rows of some tables.  For these rows, fairmill_kept has a row count
 * and a hash for each segment.  A segment is a day, a history point, or (segment 0) all rows of a
 * cluster.  A run does not use damaged rows.  It recomputes the rows that the accounting database
 * can provide, and reports other damaged rows in a finding.  The hash detects accidental changes,
 * not forgery.
 *
 * Functions that return int return -1 on error.
 */

/* Row count and hash of rows in any order.  If there are no rows, all fields are 0. */
struct row_hash {
    uint64_t rows, hash;
};

/*
 * Adds a row of words.  A word is an integer, the bits of a real number, or the result of
 * row_hash_of_text() for a text.
 */
void row_hash_add(struct row_hash *stored, const uint64_t *words, size_t count);
uint64_t row_hash_of_text(const char *bytes, size_t length);

/* Returns the word of a value; NULL has its own word. */
uint64_t row_hash_word(const struct db_value *value);

/* Add a row of values as they are written to a database or read from it. */
void row_hash_add_values(struct row_hash *stored, const struct db_value *values, size_t count);
void row_hash_add_fields(struct row_hash *stored, const struct row_field *fields, size_t count);
bool row_hash_same(const struct row_hash *one, const struct row_hash *other);

/* The hash segments of a table that have rows, in ascending order of number. */
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

/* Reads the stored hash of segment 0, which has all rows of a cluster. */
int stored_read_all(struct db *db, const char *cluster, const char *table, struct row_hash *stored,
                    struct error *err);

/* Returns the stored hash of a segment, or zeros if it is not listed. */
struct row_hash hash_segments_find(const struct hash_segments *parts, int64_t part);

/* Clears the hash of a segment in the list. */
void hash_segments_forget(struct hash_segments *parts, int64_t part);

/*
 * Stores the hash of a segment, or removes it if the segment is empty.  Must run inside the
 * transaction that writes the rows.
 */
int stored_write(struct db *db, const char *cluster, const char *table,
                 const struct hash_segment *part, struct error *err);

/*
 * Removes hashes that no run uses or would write, because another program must have added them.
 * Must run inside a transaction.
 */
int stored_remove_strays(struct db *db, const char *cluster, struct error *err);

/*
 * A table whose rows cannot be recomputed.  Each segment has the rows of one time at which rows
 * were written.
 */
struct hashed_table {
    const char *name;
    const char *read, *types; /* query for a cluster's rows between two times, and its column types;
                                 the time comes first */
    bool is_one_part;         /* has only segment 0, which every run of this release stores */
};
extern const struct hashed_table stored_history, stored_points, stored_backfill, stored_names,
    stored_changes, stored_factors, stored_fairness;
extern const struct hashed_table stored_share_past;  /* one segment, written once */
extern const struct hashed_table stored_tres_names;  /* one segment, written if it changes */
extern const struct hashed_table stored_share_state; /* one segment, written by each run */
/* All tables that are declared above, except stored_share_state; NULL-terminated. */
extern const struct hashed_table *const stored_records[];

/*
 * Stores the hash of the rows that a segment has now.  Must run inside the transaction that wrote
 * them.
 */
int stored_write_found(struct db *db, const char *cluster, const struct hashed_table *table,
                       int64_t part, struct error *err);

/* Stores the hashes of all segments of a table that had no hashes before. */
int stored_write_all(struct db *db, const char *cluster, const struct hashed_table *table,
                     struct error *err);

/*
 * Call before rows of a time are written.  Release 0.1.0 stored no hashes of these rows.  If the
 * time is before all segments with a hash, stores hashes for all segments that are older than
 * these.
 */
int stored_write_older(struct db *db, const char *cluster, const struct hashed_table *table,
                       int64_t part, struct error *err);

/* Damaged hash segments. */
struct kept_losses {
    struct kept_loss {
        const struct hashed_table *table;
        int64_t part;
        struct row_hash known, found; /* hash when the rows were written, and hash now */
    } * list;
    size_t count;
};

/*
 * Appends the damaged segments of a table to `losses`, whose list the caller frees.  Ignores
 * segments that are older than the oldest segment with a stored hash.
 */
int stored_compare(struct db *db, const char *cluster, const struct hashed_table *table,
                   struct kept_losses *losses, struct error *err);

/*
 * Sets `*first` to the lowest damaged segment; leaves `*first` unchanged if no segment is damaged.
 */
int stored_find_loss(struct db *db, const char *cluster, const struct hashed_table *table,
                     int64_t *first, struct error *err);

#endif
