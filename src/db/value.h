/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_VALUE_H
#define FAIRMILL_DB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* Values that are sent to a database or read from one, and the types of columns. */

enum db_type {
    DB_NULL,
    DB_INTEGER,
    DB_UNSIGNED, /* an integer; queries return it only for values above INT64_MAX */
    DB_REAL,
    DB_TEXT, /* bytes, not NUL-terminated */
};

struct db_value {
    enum db_type type;
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double real;
        struct {
            const char *bytes;
            size_t length;
        } text;
    };
};

/*
 * The column types of a query are a text with one letter for each column:
 *
 *   - 'i' integer
 *   - 'r' real
 *   - 't' text
 *   - 'n' real, or NAN if the value is not a finite number
 *
 * Any column may be NULL.  If a value does not have the type, the read fails with ERROR_DATA, and
 * the message names the column.  An example is a word or an out-of-range number in an integer
 * column.
 *
 * Database systems return numbers differently: a sum may be a decimal, and a large integer may be a
 * text.  Therefore a text that consists of a number is accepted as that number, and an integer can
 * be read as a text.
 */

/* A column of a bulk write: its name, and its type as described above. */
struct db_column {
    const char *name;
    char type;
};

/* These functions return arguments for queries.  They do not copy texts. */
struct db_value db_null(void);
struct db_value db_integer(int64_t integer);
struct db_value db_unsigned(uint64_t integer);
struct db_value db_real(double real);
struct db_value db_text(const char *text); /* NUL-terminated; NULL gives DB_NULL */
struct db_value db_bytes(const char *bytes, size_t length);

/*
 * Return the value of a column that was read with type 't', 'r' or 'n', and 'i', respectively.  For
 * NULL, they return "", NAN and `otherwise`.  db_value_text() returns a copy, which the caller
 * frees.
 */
char *db_value_text(const struct db_value *value);
double db_value_real(const struct db_value *value);
int64_t db_value_integer(const struct db_value *value, int64_t otherwise);

/*
 * Converts a value from the database to the type of its column in the query.  Leaves NULL
 * unchanged.  Fails with ERROR_DATA if the value cannot be converted exactly: '12' is an integer,
 * but '12x' and 1.5 are not.
 */
int db_value_fit(struct db_value *value, char type, const char *column, struct error *err);

/*
 * Returns true if a value is NULL or already has the type.  Called for every value that is written,
 * so it is inline.
 */
static inline bool db_value_is(const struct db_value *value, char type)
{
    switch (value->type) {
    case DB_INTEGER:
    case DB_UNSIGNED:
        return type == 'i';
    case DB_REAL:
        return type == 'r';
    case DB_TEXT:
        return type == 't';
    case DB_NULL:
        break;
    }
    return true;
}

/*
 * Returns -1 and sets `err` to an ERROR_OTHER: in a row of a bulk write, the value for this column
 * does not have the column's type.
 */
int db_value_misfit(const struct db_column *column, struct error *err);

/* Returns the approximate number of bytes that a row needs in the wire protocol. */
size_t db_row_bytes(const struct db_value *row, size_t count);

#endif
