/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ROWS_H
#define FAIRMILL_RESULTS_ROWS_H

#include <stdbool.h>

#include "db/db.h"

/* Helpers of the modules that read and write the result tables. */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * Converts a real number.  NAN becomes NULL, and infinity 1e100, because databases store infinity
 * in different ways.  rows_real_of() converts back.
 */
struct db_value rows_real(double number);
double rows_real_of(const struct db_value *value);

/* Converts an integer; a negative number becomes NULL. */
struct db_value rows_integer(int64_t number);

/*
 * Converts a text to UTF-8.  Returns a value that points to `text` if it is UTF-8 already, as
 * nearly all are, else to `converted`, which the caller frees.
 */
struct db_value rows_text(const char *text, struct text *converted);

/*
 * Converts an unsigned 64-bit number to the signed number with the same bits, a type that every
 * database has.  rows_bits_of() converts back; NULL becomes 0.
 */
struct db_value rows_bits(uint64_t bits);
uint64_t rows_bits_of(const struct db_value *value);

/*
 * Runs a query that returns at most one integer.  Returns 1 and sets `*integer`; returns 0 if the
 * result is empty or NULL; returns -1 on error.
 */
int rows_read_integer(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t count, int64_t *integer, struct error *err);

/* A column of a table, its type (db/value.h), and its value in a row. */
struct row_field {
    const char *column;
    char type;
    struct db_value value;
};

/*
 * Writes rows into a table, all with the same columns.  A row replaces the row with the same values
 * in the first `keys` columns; if `keys` is 0, rows are only added.  The first call of rows_add()
 * begins the statement.  After a failure rows_add() does nothing and returns -1, so callers may
 * check rows_end() only.
 */
struct row_writer {
    struct db *db;
    const char *table;
    size_t keys;
    /* Callers set the following fields to 0. */
    bool begun;
    struct db_bulk *bulk; /* NULL if not begun or failed */
    struct db_column *columns;
    struct db_value *values;
};
int rows_add(struct row_writer *writer, const struct row_field *fields, size_t count,
             struct error *err);

/*
 * Sends the remaining rows if `result` is 0, else abandons them.  Frees the writer's memory.
 * Returns 0 or -1.
 */
int rows_end(struct row_writer *writer, int result, struct error *err);

/* Writes one row; `keys` is as in struct row_writer.  Returns 0 or -1. */
int rows_write_one(struct db *db, const char *table, size_t keys, const struct row_field *fields,
                   size_t count, struct error *err);

/*
 * Runs a NULL-terminated list of statements with the same arguments, up to the first that fails.
 * Returns 0 or -1.
 */
int rows_execute_all(struct db *db, const char *const *statements, const struct db_value *arguments,
                     size_t count, struct error *err);

/* Maximum number of ids in one statement. */
#define ROW_IDS_AT_ONCE 500
struct row_ids {
    const uint64_t *ids;
    size_t count;
};

/*
 * Runs a statement for any number of ids.  `sql` must end with the name of the column that contains
 * the ids; the function appends the condition.  `key` has the arguments before the ids, at most
 * two.  Returns 0 or -1.
 */
int rows_execute_for(struct db *db, const char *sql, const struct db_value *key, size_t key_count,
                     struct row_ids ids, struct error *err);

/*
 * Runs a query for at most ROW_IDS_AT_ONCE ids.  `sql` ends as for rows_execute_for(), and `key`
 * has the two arguments before the ids.
 */
struct db_rows *rows_query_for(struct db *db, const char *sql, const struct db_value *key,
                               struct row_ids ids, const char *column_types, struct error *err);

/* Sorts ids in ascending order, removes duplicates, and returns the number of ids that remain. */
size_t row_ids_sort(uint64_t *ids, size_t count);

/*
 * The rows of some ids of a cluster, in ascending order of id.  `sql` selects rows of a cluster,
 * its only argument, and ends with that condition.  A column of the tables is named id_assoc.
 */
struct id_rows {
    struct db *db;
    const char *sql, *cluster, *column_types;
    const struct row_ids *ids; /* in ascending order; NULL means all */
    const char *then_by;       /* a second column of the order, or NULL */
    /* Callers set the following fields to 0. */
    size_t done;
    bool begun, failed;
    struct db_rows *rows;
};
/* Like db_fetch() and db_finish(). */
int id_rows_fetch(struct id_rows *reading, const struct db_value **row, struct error *err);
int id_rows_finish(struct id_rows *reading);

/* Ends the transaction: commits if `result` is 0, else rolls back.  Returns 0 or -1. */
int rows_commit(struct db *db, int result, struct error *err);

#endif
