/* SPDX-License-Identifier: MIT */
#include "report/sshare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define FIELDS_AT_MOST 64

enum field {
    FIELD_CLUSTER,
    FIELD_ID,
    FIELD_ACCOUNT,
    FIELD_USER,
    FIELD_PARTITION,
    FIELD_SHARES,
    FIELD_RAW_USAGE,
    FIELD_NORM_USAGE,
    FIELD_FAIRSHARE,
    FIELD_LEVEL_FS,
    FIELDS,
};

static const char *const headings[FIELDS] = {
    "Cluster",   "ID",       "Account",   "User",      "Partition",
    "RawShares", "RawUsage", "NormUsage", "FairShare", "LevelFS",
};

struct span {
    const char *bytes;
    size_t length;
};

struct reader {
    struct sshare_print *print;
    const char *cluster;
    unsigned line;
    bool elsewhere; /* below the `CLUSTER:` of another one */
    bool bars;      /* between fields */
    /* Of a table: where each column begins, and how wide it is. */
    size_t starts[FIELDS_AT_MOST], widths[FIELDS_AT_MOST];
    size_t columns;
    int field_of[FIELDS_AT_MOST]; /* -1: of no interest */
    struct span heading;          /* the line, until the dashes come */
    bool begun;                   /* the headings are known */
};

static struct span trimmed(struct span span)
{
    while (span.length && (*span.bytes == ' ' || *span.bytes == '\t'))
        span = (struct span){ span.bytes + 1, span.length - 1 };
    while (span.length && strchr(" \t\r", span.bytes[span.length - 1]))
        span.length--;
    return span;
}

static bool begins(struct span line, const char *text)
{
    return line.length >= strlen(text) && !memcmp(line.bytes, text, strlen(text));
}

static int wrong(const struct reader *reader, const char *what, struct error *err)
{
    return fail(err, ERROR_DATA, "line %u: %s", reader->line, what);
}

/* The next field of a line, and where the one behind it begins. */
static struct span next_field(const struct reader *reader, struct span line, size_t column,
                              size_t *at)
{
    if (!reader->bars) {
        size_t start = reader->starts[column], width = reader->widths[column];
        if (start >= line.length)
            return (struct span){ "", 0 };
        size_t left = line.length - start;
        return (struct span){ line.bytes + start, left < width ? left : width };
    }
    if (*at > line.length)
        return (struct span){ "", 0 };
    const char *start = line.bytes + *at;
    const char *bar = memchr(start, '|', line.length - *at);
    size_t length = bar ? (size_t)(bar - start) : line.length - *at;
    *at += length + 1;
    return (struct span){ start, length };
}

static int take_headings(struct reader *reader, struct span line, struct error *err)
{
    bool there[FIELDS] = { false };
    size_t at = 0;
    for (size_t column = 0; column < reader->columns; column++) {
        struct span name = trimmed(next_field(reader, line, column, &at));
        reader->field_of[column] = -1;
        for (int field = 0; field < FIELDS; field++)
            if (name.length == strlen(headings[field]) &&
                !strncasecmp(name.bytes, headings[field], name.length)) {
                reader->field_of[column] = field;
                there[field] = true;
            }
    }
    if (!there[FIELD_ACCOUNT] || !there[FIELD_USER] || !there[FIELD_RAW_USAGE])
        return wrong(reader, "headings Account, User and RawUsage are wanted here, of sshare -l",
                     err);
    reader->begun = true;
    return 0;
}

static int take_bars(struct reader *reader, struct span line, struct error *err)
{
    reader->bars = true;
    reader->columns = 1;
    for (size_t i = 0; i < line.length; i++)
        reader->columns += line.bytes[i] == '|';
    if (reader->columns > FIELDS_AT_MOST)
        return wrong(reader, "that many columns has no sshare", err);
    return take_headings(reader, line, err);
}

/* Below the headings of a table. */
static int take_dashes(struct reader *reader, struct span line, struct error *err)
{
    reader->columns = 0;
    for (size_t i = 0; i < line.length;) {
        size_t start = i;
        while (i < line.length && line.bytes[i] == '-')
            i++;
        if (i > start) {
            if (reader->columns == FIELDS_AT_MOST)
                return wrong(reader, "that many columns has no sshare", err);
            reader->starts[reader->columns] = start;
            reader->widths[reader->columns++] = i - start;
        } else if (line.bytes[i] == ' ') {
            i++;
        } else {
            return wrong(reader, "a line of dashes is wanted here, or bars between headings", err);
        }
    }
    return take_headings(reader, reader->heading, err);
}

/* Half a unit of the last digit that is there; of 17 digits what a double leaves out. */
static double digits_error(struct span span, double value)
{
    const char *point = memchr(span.bytes, '.', span.length);
    const char *exponent = memchr(span.bytes, 'e', span.length);
    size_t digits = span.length;
    if (!point)
        return exponent ? fabs(value) * 1e-15 : 0;
    if (exponent || digits > 15)
        return fabs(value) * 4e-16;
    return 0.5 * pow(10, -(double)(span.length - 1 - (size_t)(point - span.bytes)));
}

static bool take_number(struct printed_number *number, struct span span)
{
    char text[64];
    *number = (struct printed_number){ NAN, 0 };
    if (!span.length)
        return true;
    if (span.length >= sizeof text)
        return false;
    memcpy(text, span.bytes, span.length);
    text[span.length] = '\0';
    if (!strcasecmp(text, "inf")) {
        number->value = INFINITY;
        return true;
    }
    if (!number_real(text, &number->value))
        return false;
    number->error = digits_error(span, number->value);
    return true;
}

static const char *take_name(struct reader *reader, struct span span, bool *cut)
{
    *cut = !reader->bars && span.length && span.bytes[span.length - 1] == '+';
    return arena_copy(reader->print->arena, span.bytes, span.length - *cut);
}

static bool take_shares(struct printed_row *row, struct span span)
{
    row->has_shares = span.length != 0;
    row->parent_shares = span.length == 6 && !memcmp(span.bytes, "parent", 6);
    return !span.length || row->parent_shares ||
           number_signed(span.bytes, span.length, &row->shares);
}

static int take_field(struct reader *reader, struct printed_row *row, int field, struct span span,
                      struct error *err)
{
    bool ignored, good = true;
    switch (field) {
    case FIELD_ID:
        good = number_signed(span.bytes, span.length, &row->id);
        break;
    case FIELD_ACCOUNT:
        row->account = take_name(reader, span, &row->account_cut);
        break;
    case FIELD_USER:
        row->user = take_name(reader, span, &row->user_cut);
        break;
    case FIELD_PARTITION:
        row->partition = take_name(reader, span, &ignored);
        break;
    case FIELD_SHARES:
        good = take_shares(row, span);
        break;
    case FIELD_RAW_USAGE:
        good = span.length && take_number(&row->raw_usage, span) && row->raw_usage.value >= 0 &&
               isfinite(row->raw_usage.value);
        break;
    case FIELD_NORM_USAGE:
        good = take_number(&row->norm_usage, span) && !isinf(row->norm_usage.value);
        break;
    case FIELD_FAIRSHARE:
        good = take_number(&row->fairshare, span) && !isinf(row->fairshare.value);
        break;
    case FIELD_LEVEL_FS:
        good = take_number(&row->level_fs, span);
        break;
    default:
        break;
    }
    return good ? 0
                : fail(err, ERROR_DATA, "line %u: '%.*s' is no %s", reader->line,
                       (int)(span.length < 100 ? span.length : 100), span.bytes, headings[field]);
}

static int take_row(struct reader *reader, struct span line, struct error *err)
{
    struct sshare_print *print = reader->print;
    struct printed_row row = { .account = "",
                               .user = "",
                               .partition = NULL,
                               .norm_usage = { NAN, 0 },
                               .fairshare = { NAN, 0 },
                               .level_fs = { NAN, 0 } };
    size_t at = 0;
    for (size_t column = 0; column < reader->columns; column++) {
        struct span span = trimmed(next_field(reader, line, column, &at));
        int field = reader->field_of[column];
        if (field == FIELD_CLUSTER && !reads_as(span.bytes, span.length, reader->cluster))
            return 0;
        if (field >= 0 && take_field(reader, &row, field, span, err))
            return -1;
    }
    print->rows = memory_grown(print->rows, print->count, sizeof *print->rows);
    print->rows[print->count++] = row;
    return 0;
}

static int take_line(struct reader *reader, struct span line, struct error *err)
{
    struct span bare = trimmed(line);
    if (begins(bare, "CLUSTER:")) {
        struct span name = trimmed((struct span){ bare.bytes + 8, bare.length - 8 });
        reader->elsewhere = !reads_as(name.bytes, name.length, reader->cluster);
        reader->begun = false;
        reader->heading = (struct span){ NULL, 0 };
        return 0;
    }
    if (!bare.length || reader->elsewhere)
        return 0;
    line.length = (size_t)(bare.bytes + bare.length - line.bytes);
    if (reader->begun)
        return take_row(reader, line, err);
    if (memchr(line.bytes, '|', line.length))
        return take_bars(reader, line, err);
    if (reader->heading.bytes)
        return take_dashes(reader, line, err);
    reader->heading = line;
    return 0;
}

int sshare_print_read(struct sshare_print *print, const char *bytes, size_t length,
                      const char *cluster, struct error *err)
{
    struct reader reader = { .print = print, .cluster = cluster };
    *print = (struct sshare_print){ .arena = arena_create() };
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t stop = end ? (size_t)(end - bytes) : length;
        reader.line++;
        if (take_line(&reader, (struct span){ bytes + at, stop - at }, err)) {
            sshare_print_free(print);
            return -1;
        }
        at = stop + 1;
    }
    if (print->count)
        return 0;
    sshare_print_free(print);
    return fail(err, ERROR_DATA, "no association of cluster '%s' is printed there", cluster);
}

void sshare_print_free(struct sshare_print *print)
{
    if (print->arena)
        arena_destroy(print->arena);
    free(print->rows);
    *print = (struct sshare_print){ 0 };
}
