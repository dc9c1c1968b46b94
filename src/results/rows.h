/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ROWS_H
#define FAIRMILL_RESULTS_ROWS_H

#include <stdbool.h>

#include "db/db.h"

/* What the modules that read and write the result tables have in common. */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A real number: NAN is NULL, and infinity is 1e100, since databases differ in how they hold it.
 * And what is read back. */
struct db_value rows_real(double number);
double rows_real_of(const struct db_value *value);
/* An integer; one below 0 is NULL. */
struct db_value rows_integer(int64_t number);
/* A text as UTF-8.  Nearly all are that already; `converted` holds the others. */
struct db_value rows_text(const char *text, struct text *converted);
/* 64 bits without a sign, stored as the signed integer of the same bits, which every database has;
 * and what is read back, 0 for NULL. */
struct db_value rows_bits(uint64_t bits);
uint64_t rows_bits_of(const struct db_value *value);

/* Run a query whose answer is one integer at most: 1 and *integer, 0 where it is none or NULL, -1
 * on failure. */
int rows_read_integer(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t count, int64_t *integer, struct error *err);

/* A column of a table, its type (db/value.h), and the value that goes there. */
struct row_field {
    const char *column;
    char type;
    struct db_value value;
};

/* Rows on their way into a table, all with the same columns.  A row replaces the one that has the
 * same values in the first `keys` columns; without keys it is added.  Nothing is begun before the
 * first row.  After a failure rows_add() does nothing and returns -1, so checks may wait for
 * rows_end(). */
struct row_writer {
    struct db *db;
    const char *table;
    size_t keys;
    /* The rest begins as 0. */
    bool begun;
    struct db_bulk *bulk; /* NULL: not begun, or failed */
    struct db_column *columns;
    struct db_value *values;
};
int rows_add(struct row_writer *writer, const struct row_field *fields, size_t count,
             struct error *err);
/* Send what is left where `result` is 0, else nothing more.  Returns 0 or -1. */
int rows_end(struct row_writer *writer, int result, struct error *err);
/* All of that for one row. */
int rows_write_one(struct db *db, const char *table, size_t keys, const struct row_field *fields,
                   size_t count, struct error *err);

/* Run statements, ended by NULL, with the same arguments, up to the first that fails. */
int rows_execute_all(struct db *db, const char *const *statements, const struct db_value *arguments,
                     size_t count, struct error *err);

/* So many ids at most are named in one statement. */
#define ROW_IDS_AT_ONCE 500
struct row_ids {
    const uint64_t *ids;
    size_t count;
};
/* Run a statement that ends in such a column, for any number of ids; `key` has its two arguments
 * at most. */
int rows_execute_for(struct db *db, const char *sql, const struct db_value *key, size_t key_count,
                     struct row_ids ids, struct error *err);

/* End the transaction: commit it where `result` is 0, else roll it back.  Returns 0 or -1. */
int rows_commit(struct db *db, int result, struct error *err);

#endif
