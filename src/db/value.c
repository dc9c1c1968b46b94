/* SPDX-License-Identifier: MIT */
#include "db/value.h"

#include <math.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"

struct db_value db_null(void)
{
    return (struct db_value){ .type = DB_NULL };
}

struct db_value db_integer(int64_t integer)
{
    return (struct db_value){ .type = DB_INTEGER, .integer = integer };
}

struct db_value db_unsigned(uint64_t integer)
{
    if (integer <= INT64_MAX)
        return db_integer((int64_t)integer);
    return (struct db_value){ .type = DB_UNSIGNED, .unsigned_integer = integer };
}

struct db_value db_real(double real)
{
    return (struct db_value){ .type = DB_REAL, .real = real };
}

struct db_value db_text(const char *text)
{
    return text ? db_bytes(text, strlen(text)) : db_null();
}

struct db_value db_bytes(const char *bytes, size_t length)
{
    return (struct db_value){ .type = DB_TEXT, .text = { .bytes = bytes, .length = length } };
}

char *db_value_text(const struct db_value *value)
{
    return value->type == DB_TEXT ? memory_bytes(value->text.bytes, value->text.length)
                                  : memory_text("");
}

double db_value_real(const struct db_value *value)
{
    return value->type == DB_REAL ? value->real : NAN;
}

int64_t db_value_integer(const struct db_value *value, int64_t otherwise)
{
    return value->type == DB_INTEGER ? value->integer : otherwise;
}

static bool become_integer(struct db_value *value)
{
    uint64_t large;
    switch (value->type) {
    case DB_UNSIGNED:
        if (value->unsigned_integer <= INT64_MAX)
            *value = db_integer((int64_t)value->unsigned_integer);
        return true;
    case DB_REAL:
        /* The bounds are powers of two, so doubles hold them exactly. */
        if (!(value->real >= -0x1p63 && value->real < 0x1p63) || value->real != trunc(value->real))
            return false;
        *value = db_integer((int64_t)value->real);
        return true;
    case DB_TEXT:
        if (number_unsigned(value->text.bytes, value->text.length, &large)) {
            *value = (struct db_value){ .type = DB_UNSIGNED, .unsigned_integer = large };
            return become_integer(value);
        }
        value->type = DB_INTEGER;
        return number_signed(value->text.bytes, value->text.length, &value->integer);
    default:
        return value->type == DB_INTEGER;
    }
}

static bool become_real(struct db_value *value)
{
    char digits[128];
    switch (value->type) {
    case DB_INTEGER:
        *value = db_real((double)value->integer);
        return true;
    case DB_UNSIGNED:
        *value = db_real((double)value->unsigned_integer);
        return true;
    case DB_TEXT:
        if (value->text.length >= sizeof digits)
            return false;
        memcpy(digits, value->text.bytes, value->text.length);
        digits[value->text.length] = '\0';
        value->type = DB_REAL;
        return strlen(digits) == value->text.length && number_real(digits, &value->real);
    default:
        return value->type == DB_REAL;
    }
}

int db_value_fit(struct db_value *value, char type, const char *column, struct error *err)
{
    if (value->type == DB_NULL)
        return 0;
    if (type == 'i' && !become_integer(value))
        return fail(err, ERROR_DATA, "column '%s' holds a value that is not an integer", column);
    if (type == 'r' && !become_real(value))
        return fail(err, ERROR_DATA, "column '%s' holds a value that is not a number", column);
    if (type == 'n' && (!become_real(value) || !isfinite(value->real)))
        *value = db_real(NAN);
    if (type == 't' && value->type != DB_TEXT)
        return fail(err, ERROR_DATA, "column '%s' holds a value that is not a text", column);
    return 0;
}

int db_value_misfit(const struct db_column *column, struct error *err)
{
    return fail(err, ERROR_OTHER, "a value for column '%s' does not have the column's type '%c'",
                column->name, column->type);
}

size_t db_row_bytes(const struct db_value *row, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += 12 + (row[i].type == DB_TEXT ? row[i].text.length : 0);
    return bytes;
}
