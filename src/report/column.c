/* SPDX-License-Identifier: MIT */
#include "report/column.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/times.h"

/* At a greater depth, indentation no longer helps the reader. */
#define DEEPEST_INDENT 40u
#define USUAL_DECIMALS 6

void form_add_padded(struct text *text, const char *cell, size_t width, bool left)
{
    size_t used = utf8_width(cell);
    if (left)
        text_add(text, cell);
    text_add_blanks(text, used < width ? width - used : 0);
    if (!left)
        text_add(text, cell);
}

/* Adds a name between bars.  A bar in the name is escaped, because it would end the field. */
static void form_add_field(struct text *text, const char *name)
{
    size_t start = text->length;
    text_add_printable(text, name);
    char *bar = strchr(name, '|') ? text->bytes + start : NULL;
    if (!bar)
        return;
    char *printable = memory_text(bar);
    text->length = start;
    for (const char *at = printable; *at; at++)
        text_add_bytes(text, *at == '|' ? "\\x7C" : at, *at == '|' ? 4 : 1);
    free(printable);
}

void form_add_json_real(struct text *text, double number)
{
    size_t start = text->length;
    if (isnan(number) || isinf(number)) {
        text_add(text, "null");
        return;
    }
    text_add_exact(text, number);
    char *exponent = strchr(text->bytes + start, 'e');
    if (!exponent) {
        text_add(text, strchr(text->bytes + start, '.') ? "" : ".0");
        return;
    }
    char *to = exponent + 1 + (exponent[1] == '-'), *from = exponent + 2;
    from += strspn(from, "0");
    memmove(to, from, strlen(from) + 1);
    text->length -= (size_t)(from - to);
}

json_t *form_json_real(double number)
{
    return isnan(number) || isinf(number) ? json_null() : json_real(number);
}

/* Escapes DEL, the only control character that jansson does not escape. */
static int add_chunk(const char *bytes, size_t length, void *text)
{
    for (const char *found; length && (found = memchr(bytes, '\x7f', length));) {
        size_t before = (size_t)(found - bytes);
        text_add_bytes(text, bytes, before);
        text_add(text, "\\u007f");
        bytes += before + 1;
        length -= before + 1;
    }
    text_add_bytes(text, bytes, length);
    return 0;
}

void form_add_json(struct text *text, json_t *json)
{
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
    struct text line = { 0 };
    json_dump_callback(json, add_chunk, &line, flags);
    /* If the line has a character that a terminal must not get, write all characters beyond ASCII
     * as \uXXXX. */
    if (!utf8_is_printable(line.bytes)) {
        line.length = 0;
        json_dump_callback(json, add_chunk, &line, flags | JSON_ENSURE_ASCII);
    }
    text_add_bytes(text, line.bytes, line.length);
    text_free(&line);
    json_decref(json);
}

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

struct text *cell_compose(struct cell *cell)
{
    cell->composed.length = 0;
    text_add(&cell->composed, "");
    cell->kind = CELL_TEXT;
    cell->text = NULL;
    return &cell->composed;
}

void cell_format(struct cell *cell, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_format_list(cell_compose(cell), format, arguments);
    va_end(arguments);
}

static void read_member(struct cell *cell, const struct column *column, const void *at)
{
    switch (column->stored) {
    case STORED_TEXT:
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
        if (column->type == COLUMN_YES_NO)
            cell_integer(cell, isinf(*(const double *)at) != 0);
        else
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
    const void *from = column->of_context ? cell->context : row;
    if (column->is_behind)
        from = *(const void *const *)((const char *)row + column->pointer_at);
    cell->column = column;
    cell->kind = CELL_EMPTY;
    cell->depth = column->depth_at ? *(const uint32_t *)((const char *)row + column->depth_at) : 0;
    cell->paint = PAINT_NONE;
    if (column->get)
        column->get(row, cell);
    else if (from)
        read_member(cell, column, (const char *)from + column->offset);
    if (cell->kind == CELL_TEXT && !cell->text)
        cell->text = cell->composed.bytes;
    if (column->zero_is_none && cell->kind == CELL_INTEGER && !cell->integer)
        cell->kind = CELL_EMPTY;
}

void text_add_duration(struct text *text, int64_t seconds)
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

static void column_add_integer(struct text *text, const struct cell *cell)
{
    switch (cell->column->type) {
    case COLUMN_TIME:
        time_add(text, cell->integer);
        break;
    case COLUMN_DAY:
        time_add_day(text, cell->integer);
        break;
    case COLUMN_DURATION:
        text_add_duration(text, cell->integer);
        break;
    case COLUMN_YES_NO:
        text_add(text, cell->integer ? "yes" : "no");
        break;
    default:
        text_add(text, cell->column->plus && cell->integer >= 0 ? "+" : "");
        text_add_integer(text, cell->integer);
    }
}

static void add_real(struct text *text, const struct cell *cell)
{
    const struct column *column = cell->column;
    int decimals = column->decimals ? column->decimals : USUAL_DECIMALS;
    if (isinf(cell->real))
        text_add(text, cell->real < 0 ? "-inf" : "inf");
    else if (column->type == COLUMN_USAGE || decimals == NO_DECIMALS)
        text_add_fixed(text, floor(cell->real), 0);
    else if (column->digits)
        text_format(text, "%.*g", column->digits, cell->real);
    else if (column->plus)
        text_format(text, "%+.*f", decimals, cell->real);
    else
        text_add_fixed(text, cell->real, decimals);
}

void cell_add_for_people(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT) {
        uint32_t depth = cell->depth < DEEPEST_INDENT ? cell->depth : DEEPEST_INDENT;
        text_add_blanks(text, depth);
        text_add_printable(text, cell->text);
        return;
    }
    if (cell->kind == CELL_INTEGER)
        column_add_integer(text, cell);
    else if (cell->kind == CELL_REAL)
        add_real(text, cell);
    if (cell->kind != CELL_EMPTY && cell->column->unit)
        text_format(text, " %s", cell->column->unit);
}

/* Adds a number in full precision, but usage as an integer. */
static void add_exact(struct text *text, const struct cell *cell)
{
    enum column_type type = cell->column->type;
    if (cell->kind == CELL_INTEGER && cell->has_dates &&
        (type == COLUMN_TIME || type == COLUMN_DAY))
        column_add_integer(text, cell);
    else if (cell->kind == CELL_INTEGER)
        text_add_integer(text, cell->integer);
    else if (cell->kind == CELL_REAL && isinf(cell->real))
        text_add(text, cell->real < 0 ? "-inf" : "inf");
    else if (cell->kind == CELL_REAL && type == COLUMN_USAGE)
        text_add_fixed(text, floor(cell->real), 0);
    else if (cell->kind == CELL_REAL)
        text_add_exact(text, cell->real);
}

void cell_add_between_bars(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT)
        form_add_field(text, cell->text);
    else
        add_exact(text, cell);
}

/*
 * Returns true if a spreadsheet might take the text for a formula.  The characters that begin one
 * also have full-width forms.  A text with a leading apostrophe gets another one, so that removing
 * the first one always restores the text.
 */
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
    size_t start = text->length;
    text_add(text, needs_apostrophe(cell->text) ? "'" : "");
    text_add_printable(text, cell->text);
    if (!strpbrk(text->bytes + start, ",\"\r\n"))
        return;
    char *printable = memory_text(text->bytes + start);
    text->length = start;
    text_add_quoted(text, '"', printable);
    free(printable);
}

static json_t *json_text(const char *bytes)
{
    json_t *json = json_string(bytes);
    if (json)
        return json;
    char *utf8 = utf8_copy(bytes, strlen(bytes));
    json = json_string(utf8);
    free(utf8);
    return json;
}

/* Returns true if neither JSON nor a terminal needs escapes in the text. */
static bool is_plain(const char *bytes)
{
    while (*bytes >= ' ' && *bytes <= '~' && *bytes != '"' && *bytes != '\\')
        bytes++;
    return !*bytes;
}

bool cell_add_json(struct text *text, const struct cell *cell)
{
    if (cell->kind == CELL_TEXT) {
        if (!is_plain(cell->text))
            return false;
        text_add(text, "\"");
        text_add(text, cell->text);
        text_add(text, "\"");
    } else if (cell->kind == CELL_EMPTY) {
        text_add(text, "null");
    } else if (cell->kind == CELL_REAL) {
        form_add_json_real(text, cell->real);
    } else if (cell->column->type == COLUMN_YES_NO) {
        text_add(text, cell->integer ? "true" : "false");
    } else {
        text_add_integer(text, cell->integer);
    }
    return true;
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
