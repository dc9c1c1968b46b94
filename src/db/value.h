/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_VALUE_H
#define FAIRMILL_DB_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/* A value that goes to a database or comes from one, and the types of columns. */

enum db_type {
    DB_NULL,
    DB_INTEGER,
    DB_UNSIGNED, /* an integer; fetched only for what is above INT64_MAX */
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

/* Column types of a query's answer, one letter a column: 'i' integer, 'r' real, 't' text, 'n' a
 * real that is NAN where the value is no number, or not finite. A column may be NULL whatever its
 * type.  A value that is not of the type (a word where an integer was asked for, a number out of
 * range) fails with ERROR_DATA and names the column. Databases differ in how they hold a number (a
 * sum may be a decimal, a large integer a text): whatever is wholly a number counts as one, and an
 * integer can be asked for as text. */

/* A column of a bulk write: its name, and its type as above. */
struct db_column {
    const char *name;
    char type;
};

/* Shorthand for arguments. */
struct db_value db_null(void);
struct db_value db_integer(int64_t integer);
struct db_value db_unsigned(uint64_t integer);
struct db_value db_real(double real);
struct db_value db_text(const char *text); /* NUL-terminated; NULL is NULL */
struct db_value db_bytes(const char *bytes, size_t length);

/* What a value holds, of the type that its column was asked for as: a text as a copy to be freed,
 * "" for NULL; a real, NAN for NULL; an integer, `otherwise` for NULL. */
char *db_value_text(const struct db_value *value);
double db_value_real(const struct db_value *value);
int64_t db_value_integer(const struct db_value *value, int64_t otherwise);

/* Make of a value, as the database holds it, one of the type that the query asked for.  Only
 * what is exactly of that type will do: '12' is an integer, '12x' and 1.5 are not. */
int db_value_fit(struct db_value *value, char type, const char *column, struct error *err);

/* Whether a value is of a type, or NULL, as it is.  It is asked of every value that is written. */
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

/* Say that a row for a bulk write has a value that is not of its column's type. */
int db_value_misfit(const struct db_column *column, struct error *err);

/* The bytes that a row takes on the wire, nearly. */
size_t db_row_bytes(const struct db_value *row, size_t count);

#endif
