/* SPDX-License-Identifier: MIT */
#include "report/column.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "report/forms.h"
#include "util/instant.h"
#include "util/memory.h"

/* A tree that is deeper is not read by its indent. */
#define DEEPEST_INDENT 40u
#define USUAL_DECIMALS 6

void cell_text(struct cell *cell, const char *text)
{
    cell->kind = text ? CELL_TEXT : CELL_EMPTY;
    cell->text = text;
}

void cell_integer(struct cell *cell, int64_t number)
{
    cell->kind = CELL_INTEGER;
    cell->integer = number;
}

void cell_real(struct cell *cell, double number)
{
    cell->kind = isnan(number) ? CELL_EMPTY : CELL_REAL;
    cell->real = number;
}

void cell_format(struct cell *cell, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t length = (size_t)vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *composed = memory_zeroed(length + 1, 1);
    vsnprintf(composed, length + 1, format, arguments);
    va_end(arguments);
    text_free(&cell->composed);
    cell->composed = (struct text){ composed, length, length + 1 };
    cell_text(cell, composed);
}

static void read_member(struct cell *cell, enum stored stored, const void *at)
{
    switch (stored) {
    case STORED_TEXT:
        if (*(const char *const *)at)
            cell_text(cell, *(const char *const *)at);
        break;
    case STORED_INT32:
        cell_integer(cell, *(const int32_t *)at);
        break;
    case STORED_UINT32:
        cell_integer(cell, *(const uint32_t *)at);
        break;
    case STORED_INT64:
    case STORED_UINT64:
        cell_integer(cell, *(const int64_t *)at);
        break;
    case STORED_REAL:
        cell_real(cell, *(const double *)at);
        break;
    case STORED_FLAG:
        cell_integer(cell, *(const bool *)at);
        break;
    case STORED_AS_CLUSTER:
        cell_text(cell, cell->cluster);
        break;
    case STORED_NOWHERE:
        break;
    }
}

void cell_of(struct cell *cell, const struct column *column, const void *row)
{
    cell->column = column;
    cell->kind = CELL_EMPTY;
    cell->depth = 0;
    cell->paint = PAINT_NONE;
    if (column->get)
        column->get(row, cell);
    else
        read_member(cell, column->stored, (const char *)row + column->offset);
}

void text_add_span(struct text *text, int64_t seconds)
{
    if (seconds < 120)
        text_format(text, "%" PRId64 " s", seconds);
    else if (seconds < 7200)
        text_format(text, "%" PRId64 " min", seconds / 60);
    else if (seconds < 172800)
        text_format(text, "%" PRId64 " h", seconds / 3600);
    else
        text_format(text, "%" PRId64 " d", seconds / 86400);
}

static void add_integer(struct text *text, const struct cell *cell)
{
    switch (cell->column->type) {
    case COLUMN_INSTANT:
        instant_add(text, cell->integer);
        break;
    case COLUMN_DAY:
        instant_add_day(text, cell->integer);
        break;
    case COLUMN_SPAN:
        text_add_span(text, cell->integer);
        break;
    case COLUMN_YES_NO:
        text_add(text, cell->integer ? "yes" : "no");
        break;
    default:
        text_format(text, cell->column->plus ? "%+" PRId64 : "%" PRId64, cell->integer);
    }
}

static void add_real(struct text *text, const struct cell *cell)
{
    const struct column *column = cell->column;
    int decimals = column->decimals ? column->decimals : USUAL_DECIMALS;
    if (isinf(cell->real))
        text_add(text, cell->real < 0 ? "-inf" : "inf");
    else if (column->type == COLUMN_USAGE || decimals == NO_DECIMALS)
        text_format(text, "%.0f", floor(cell->real));
    else if (column->digits)
        text_format(text, "%.*g", column->digits, cell->real);
    else
        text_format(text, column->plus ? "%+.*f" : "%.*f", decimals, cell->real);
}

void cell_add_for_people(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT) {
        uint32_t depth = cell->depth < DEEPEST_INDENT ? cell->depth : DEEPEST_INDENT;
        text_format(text, "%*s", (int)depth, "");
        text_add_printable(text, cell->text);
        return;
    }
    if (cell->kind == CELL_INTEGER)
        add_integer(text, cell);
    else if (cell->kind == CELL_REAL)
        add_real(text, cell);
    if (cell->kind != CELL_EMPTY && cell->column->unit)
        text_format(text, " %s", cell->column->unit);
}

/* A number with all that it is. */
static void add_exact(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_INTEGER)
        text_format(text, "%" PRId64, cell->integer);
    else if (cell->kind == CELL_REAL && isinf(cell->real))
        text_add(text, cell->real < 0 ? "-inf" : "inf");
    else if (cell->kind == CELL_REAL && cell->column->type == COLUMN_USAGE)
        text_format(text, "%.0f", floor(cell->real));
    else if (cell->kind == CELL_REAL)
        text_format(text, "%.17g", cell->real);
}

void cell_add_between_bars(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        form_add_field(text, cell->text);
    else
        add_exact(text, cell);
}

/* What spreadsheets may begin a formula with, also as wide characters, and the apostrophe, so that
 * whoever takes the first one away has the text again. */
static bool needs_apostrophe(const char *text)
{
    static const char *const beginnings[] = { "=",  "+", "-",      "@",      "\t",     "\r",
                                              "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20" };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(text, beginnings[i], strlen(beginnings[i])))
            return true;
    return false;
}

void cell_add_csv(struct text *text, const struct cell *cell)
{
    if (cell->kind != CELL_TEXT) {
        add_exact(text, cell);
        return;
    }
    struct text printable = { 0 };
    text_add(&printable, needs_apostrophe(cell->text) ? "'" : "");
    text_add_printable(&printable, cell->text);
    bool quoted = strpbrk(printable.bytes, ",\"\r\n") != NULL;
    text_add(text, quoted ? "\"" : "");
    for (const char *at = printable.bytes; *at; at++)
        text_add_bytes(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    text_add(text, quoted ? "\"" : "");
    text_free(&printable);
}

static json_t *json_text(const char *bytes)
{
    json_t *json = json_string(bytes);
    if (json)
        return json;
    struct text utf8 = { 0 };
    text_add(&utf8, "");
    text_add_as_utf8(&utf8, bytes, strlen(bytes));
    json = json_string(utf8.bytes);
    text_free(&utf8);
    return json;
}

json_t *cell_json(const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        return json_text(cell->text);
    if (cell->kind == CELL_REAL)
        return form_json_real(cell->real);
    if (cell->kind == CELL_EMPTY)
        return json_null();
    return cell->column->type == COLUMN_YES_NO ? json_boolean(cell->integer)
                                               : json_integer(cell->integer);
}
