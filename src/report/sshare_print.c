/* SPDX-License-Identifier: MIT */
#include "report/sshare_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/association.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* ---- sshare ---- */

#define FIELDS_AT_MOST 64

enum sshare_field {
    FIELD_CLUSTER,
    FIELD_ID,
    FIELD_ACCOUNT,
    FIELD_USER,
    FIELD_PARTITION,
    FIELD_SHARES,
    /* Numbers of struct printed_row, in its order. */
    FIELD_RAW_USAGE,
    FIELD_NORM_SHARES,
    FIELD_NORM_USAGE,
    FIELD_EFFECTIVE_USAGE,
    FIELD_FAIRSHARE,
    FIELD_LEVEL_FS,
    FIELDS,
};

static const char *const headings[FIELDS] = {
    "Cluster",  "ID",         "Account",   "User",         "Partition", "RawShares",
    "RawUsage", "NormShares", "NormUsage", "EffectvUsage", "FairShare", "LevelFS",
};

/* Decimals of sshare's factors. */
#define DECIMALS 6

struct sshare_reader {
    struct sshare_print *print;
    const char *cluster;
    unsigned line;
    bool elsewhere; /* the last `CLUSTER:` line named a different cluster */
    bool bars;      /* bars separate the fields */
    /* The start and the width of each column of a table. */
    size_t starts[FIELDS_AT_MOST], widths[FIELDS_AT_MOST];
    size_t columns;
    int field_of[FIELDS_AT_MOST]; /* enum sshare_field; -1: ignored */
    struct span heading;          /* the line of headings, until the dashes are read */
    bool begun;                   /* the headings were read */
};

/* Returns the field of `column`.  With bars, it starts at `*at`, which is then advanced. */
static struct span sshare_next_field(const struct sshare_reader *reader, struct span line,
                                     size_t column, size_t *at)
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

static int sshare_take_headings(struct sshare_reader *reader, struct span line, struct error *err)
{
    bool there[FIELDS] = { false };
    size_t at = 0;
    for (size_t column = 0; column < reader->columns; column++) {
        struct span name = span_trimmed(sshare_next_field(reader, line, column, &at));
        reader->field_of[column] = -1;
        for (int field = 0; field < FIELDS; field++)
            if (span_is(name, headings[field])) {
                reader->field_of[column] = field;
                there[field] = true;
            }
    }
    if (!there[FIELD_ID] && !(there[FIELD_ACCOUNT] && there[FIELD_USER]))
        return printed_wrong(
            reader->line, "missing headings Account and User; use the output of `sshare -l`", err);
    if (!there[FIELD_RAW_USAGE] && !there[FIELD_FAIRSHARE])
        return printed_wrong(reader->line, "missing heading RawUsage or FairShare", err);
    reader->begun = true;
    return 0;
}

static int take_bars(struct sshare_reader *reader, struct span line, struct error *err)
{
    reader->bars = true;
    reader->columns = 1;
    for (size_t i = 0; i < line.length; i++)
        reader->columns += line.bytes[i] == '|';
    if (reader->columns > FIELDS_AT_MOST)
        return printed_wrong(reader->line, "too many columns for sshare", err);
    return sshare_take_headings(reader, line, err);
}

/* Reads the line of dashes below the headings of a table. */
static int take_dashes(struct sshare_reader *reader, struct span line, struct error *err)
{
    reader->columns = 0;
    for (size_t i = 0; i < line.length;) {
        size_t start = i;
        while (i < line.length && line.bytes[i] == '-')
            i++;
        if (i > start) {
            if (reader->columns == FIELDS_AT_MOST)
                return printed_wrong(reader->line, "too many columns for sshare", err);
            reader->starts[reader->columns] = start;
            reader->widths[reader->columns++] = i - start;
        } else if (line.bytes[i] == ' ') {
            i++;
        } else {
            return printed_wrong(reader->line,
                                 "expected a line of dashes, or bars between headings", err);
        }
    }
    return sshare_take_headings(reader, reader->heading, err);
}

static const char *sshare_take_name(struct sshare_reader *reader, struct span span, bool *cut)
{
    *cut = !reader->bars && span.length && span.bytes[span.length - 1] == '+';
    return arena_copy(reader->print->arena, span.bytes, span.length - *cut);
}

static bool sshare_take_shares(struct printed_row *row, struct span span)
{
    row->has_shares = span.length != 0;
    row->parent_shares = span.length == 6 && !memcmp(span.bytes, "parent", 6);
    return !span.length || row->parent_shares ||
           number_signed(span.bytes, span.length, &row->shares);
}

static bool sshare_take_number(struct printed_row *row, int field, struct span span)
{
    struct printed_number *const numbers[] = { &row->raw_usage,  &row->norm_shares,
                                               &row->norm_usage, &row->effective_usage,
                                               &row->fairshare,  &row->level_fs };
    struct printed_number *number = numbers[field - FIELD_RAW_USAGE];
    bool is_usage = field == FIELD_RAW_USAGE;
    return (span.length || !is_usage) &&
           printed_number_read(number, span, is_usage ? PRINTED_CUT : DECIMALS) &&
           !(is_usage && number->low < 0) && !(field != FIELD_LEVEL_FS && isinf(number->low));
}

static int sshare_take_field(struct sshare_reader *reader, struct printed_row *row, int field,
                             struct span span, struct error *err)
{
    bool ignored, good = true;
    switch (field) {
    case FIELD_CLUSTER:
        break;
    case FIELD_ID:
        good = number_signed(span.bytes, span.length, &row->id);
        break;
    case FIELD_ACCOUNT:
        row->account = sshare_take_name(reader, span, &row->account_cut);
        break;
    case FIELD_USER:
        row->user = sshare_take_name(reader, span, &row->user_cut);
        break;
    case FIELD_PARTITION:
        row->partition = sshare_take_name(reader, span, &ignored);
        break;
    case FIELD_SHARES:
        good = sshare_take_shares(row, span);
        break;
    default:
        good = sshare_take_number(row, field, span);
    }
    return good ? 0 : printed_no_such(reader->line, span, headings[field], err);
}

/* A number that is wider than its column moves the columns after it. */
static int check_widths(const struct sshare_reader *reader, struct span line, struct error *err)
{
    for (size_t column = 0; !reader->bars && column < reader->columns; column++) {
        size_t end = reader->starts[column] + reader->widths[column];
        if (end < line.length && line.bytes[end] != ' ')
            return printed_wrong(reader->line, "a number is wider than its column; use `sshare -P`",
                                 err);
    }
    return 0;
}

static int sshare_take_row(struct sshare_reader *reader, struct span line, struct error *err)
{
    if (check_widths(reader, line, err))
        return -1;
    struct printed_row row = PRINTED_ROW;
    size_t at = 0;
    for (size_t column = 0; column < reader->columns; column++) {
        struct span span = span_trimmed(sshare_next_field(reader, line, column, &at));
        int field = reader->field_of[column];
        if (field == FIELD_CLUSTER && !reads_as(span.bytes, span.length, reader->cluster))
            return 0;
        if (field >= 0 && sshare_take_field(reader, &row, field, span, err))
            return -1;
    }
    struct sshare_print *print = reader->print;
    *memory_append(&print->rows, &print->count) = row;
    return 0;
}

static int sshare_take_line(struct sshare_reader *reader, struct span line, struct error *err)
{
    struct span bare = span_trimmed(line);
    if (span_begins(bare, "CLUSTER:")) {
        struct span name = span_trimmed((struct span){ bare.bytes + 8, bare.length - 8 });
        reader->elsewhere = !reads_as(name.bytes, name.length, reader->cluster);
        reader->begun = false;
        reader->heading = (struct span){ NULL, 0 };
        return 0;
    }
    if (!bare.length || reader->elsewhere)
        return 0;
    line.length = (size_t)(bare.bytes + bare.length - line.bytes);
    if (reader->begun)
        return sshare_take_row(reader, line, err);
    if (memchr(line.bytes, '|', line.length))
        return take_bars(reader, line, err);
    if (reader->heading.bytes)
        return take_dashes(reader, line, err);
    reader->heading = line;
    return 0;
}

int sshare_print_read(struct sshare_print *print, struct span text, const char *cluster,
                      struct error *err)
{
    struct sshare_reader reader = { .print = print, .cluster = cluster };
    int result = 0;
    *print = (struct sshare_print){ .arena = arena_create() };
    while (!result && text.length) {
        struct span line = span_until(text, '\n', &text);
        reader.line++;
        result = sshare_take_line(&reader, line, err);
    }
    return sshare_print_end(print, result, cluster, err);
}

int sshare_print_end(struct sshare_print *print, int result, const char *cluster, struct error *err)
{
    if (!result && !print->count)
        result = fail(err, ERROR_DATA, "the output has no associations of cluster '%s'", cluster);
    if (result)
        sshare_print_free(print);
    return result;
}

void sshare_print_free(struct sshare_print *print)
{
    if (print->arena)
        arena_destroy(print->arena);
    free(print->rows);
    *print = (struct sshare_print){ 0 };
}

/* ---- scontrol show assoc_mgr ---- */

/* slurmctld's number for an unknown value (NO_VAL). */
#define UNKNOWN 4294967294.0

struct assoc_mgr_reader {
    struct sshare_print *print;
    const char *cluster;
    unsigned line;
    bool begun, here; /* an association has begun; it is in the requested cluster */
    bool named;       /* its names and ID were read */
    struct printed_row row;
};

/* Ends the current association and appends its row. */
static int assoc_mgr_end_row(struct assoc_mgr_reader *reader, struct error *err)
{
    const struct printed_row *row = &reader->row;
    struct sshare_print *print = reader->print;
    if (!reader->begun)
        return 0;
    reader->begun = false;
    if (!row->id || !*row->account || !printed_is_there(&row->raw_usage))
        return printed_wrong(reader->line,
                             "the association above this line has no account, ID or UsageRaw", err);
    if (!reader->here)
        return 0;
    *memory_append(&print->rows, &print->count) = *row;
    return 0;
}

/* Returns a name without the number that follows it, as in `man(6)`. */
static struct span assoc_mgr_without_number(struct span span)
{
    size_t at = span.length;
    while (at && span.bytes[at - 1] != '(')
        at--;
    return at ? (struct span){ span.bytes, at - 1 } : span;
}

static bool assoc_mgr_take_number(struct printed_number *number, struct span span)
{
    if (!span.length || !printed_number_read(number, span, 2) || isinf(number->low))
        return false;
    if (number->low <= UNKNOWN && number->high >= UNKNOWN)
        *number = NOT_PRINTED;
    return true;
}

/* Reads SharesRaw/Norm/Level/Factor.  A factor of 0 means that slurmctld did not send it. */
static bool assoc_mgr_take_shares(struct printed_row *row, struct span span)
{
    struct span raw = span_until(span, '/', &span), norm = span_until(span, '/', &span);
    (void)span_until(span, '/', &span); /* Level */
    row->has_shares = *row->user || strcmp(row->account, "root") != 0;
    if (!number_signed(raw.bytes, raw.length, &row->shares) ||
        !assoc_mgr_take_number(&row->norm_shares, norm) ||
        !assoc_mgr_take_number(&row->fairshare, span))
        return false;
    row->parent_shares = row->shares == SHARES_PARENT;
    if (row->fairshare.low <= 0)
        row->fairshare = NOT_PRINTED;
    return true;
}

/* Reads UsageRaw/Norm/Efctv. */
static bool assoc_mgr_take_usage(struct printed_row *row, struct span span)
{
    struct span raw = span_until(span, '/', &span), norm = span_until(span, '/', &span);
    return assoc_mgr_take_number(&row->raw_usage, raw) && printed_is_there(&row->raw_usage) &&
           row->raw_usage.low >= 0 && assoc_mgr_take_number(&row->norm_usage, norm) &&
           assoc_mgr_take_number(&row->effective_usage, span);
}

static int assoc_mgr_take_word(struct assoc_mgr_reader *reader, struct span word, struct error *err)
{
    struct printed_row *row = &reader->row;
    struct span value, key = span_until(word, '=', &value);
    if (span_begins(key, "SharesRaw/")) {
        reader->named = true;
        if (!assoc_mgr_take_shares(row, value))
            return printed_no_such(reader->line, value, "SharesRaw/Norm/Level/Factor", err);
    } else if (span_begins(key, "UsageRaw/")) {
        if (!assoc_mgr_take_usage(row, value))
            return printed_no_such(reader->line, value, "UsageRaw/Norm/Efctv", err);
    } else if (reader->named) {
        return 0;
    } else if (span_is(key, "Account")) {
        row->account = span_copy(reader->print->arena, value);
    } else if (span_is(key, "UserName")) {
        row->user = span_copy(reader->print->arena, assoc_mgr_without_number(value));
    } else if (span_is(key, "Partition")) {
        row->partition = span_copy(reader->print->arena, value);
    } else if (span_is(key, "ID")) {
        if (!number_signed(value.bytes, value.length, &row->id) || row->id <= 0)
            return printed_no_such(reader->line, value, "ID", err);
    }
    return 0;
}

static int assoc_mgr_begin_row(struct assoc_mgr_reader *reader, struct span cluster,
                               struct error *err)
{
    if (assoc_mgr_end_row(reader, err))
        return -1;
    reader->begun = true;
    reader->named = false;
    reader->here = reads_as(cluster.bytes, cluster.length, reader->cluster);
    reader->row = PRINTED_ROW;
    return 0;
}

/* A record begins on a new line and ends with Comment=, which may be any text. */
static int assoc_mgr_take_line(struct assoc_mgr_reader *reader, struct span line, struct error *err)
{
    struct span value, word = span_word(line, &line);
    if (span_is(span_until(word, '=', &value), "ClusterName")) {
        if (assoc_mgr_begin_row(reader, value, err))
            return -1;
        word = span_word(line, &line);
    } else if (span_is(word, "QOS") && span_is(span_trimmed(line), "Records")) {
        return assoc_mgr_end_row(reader, err);
    }
    for (; reader->begun && word.length; word = span_word(line, &line)) {
        if (span_begins(word, "Comment="))
            return assoc_mgr_end_row(reader, err);
        if (assoc_mgr_take_word(reader, word, err))
            return -1;
    }
    return 0;
}

int assoc_mgr_print_read(struct sshare_print *print, struct span text, const char *cluster,
                         struct error *err)
{
    struct assoc_mgr_reader reader = { .print = print, .cluster = cluster };
    int result = 0;
    *print = (struct sshare_print){ .arena = arena_create() };
    while (!result && text.length) {
        struct span line = span_trimmed(span_until(text, '\n', &text));
        reader.line++;
        result = assoc_mgr_take_line(&reader, line, err);
    }
    return sshare_print_end(print, result ? -1 : assoc_mgr_end_row(&reader, err), cluster, err);
}
