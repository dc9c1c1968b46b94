/* SPDX-License-Identifier: MIT */
#include "report/assoc_mgr_print.h"

#include <math.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* slurmctld's word for what is not known, in a column of numbers. */
#define UNKNOWN 4294967294.0
#define SHARES_OF_PARENT 2147483647

struct reader {
    struct sshare_print *print;
    const char *cluster;
    unsigned line;
    bool begun, here; /* an association; one of the cluster */
    bool named;       /* its names and ID are read */
    struct printed_row row;
};

static int no_such(const struct reader *reader, struct span span, const char *what,
                   struct error *err)
{
    return fail(err, ERROR_DATA, "line %u: '%.*s' is no %s", reader->line,
                (int)(span.length < 100 ? span.length : 100), span.bytes, what);
}

/* The association is complete. */
static int end_row(struct reader *reader, struct error *err)
{
    const struct printed_row *row = &reader->row;
    struct sshare_print *print = reader->print;
    if (!reader->begun)
        return 0;
    reader->begun = false;
    if (!row->id || !*row->account || !printed_is_there(&row->raw_usage))
        return printed_wrong(reader->line,
                             "the association above it has no account, ID or UsageRaw", err);
    if (!reader->here)
        return 0;
    print->rows = memory_grown(print->rows, print->count, sizeof *print->rows);
    print->rows[print->count++] = *row;
    return 0;
}

static const char *name_of(const struct reader *reader, struct span span)
{
    return arena_copy(reader->print->arena, span.bytes, span.length);
}

/* `man(6)`, with its number. */
static struct span without_number(struct span span)
{
    size_t at = span.length;
    while (at && span.bytes[at - 1] != '(')
        at--;
    return at ? (struct span){ span.bytes, at - 1 } : span;
}

static bool take_number(struct printed_number *number, struct span span)
{
    if (!span.length || !printed_number_read(number, span, 2) || isinf(number->low))
        return false;
    if (number->low <= UNKNOWN && number->high >= UNKNOWN)
        *number = NOT_PRINTED;
    return true;
}

/* SharesRaw/Norm/Level/Factor.  A factor of 0 is one that slurmctld has not sent. */
static bool take_shares(struct printed_row *row, struct span span)
{
    struct span raw = span_until(span, '/', &span), norm = span_until(span, '/', &span);
    (void)span_until(span, '/', &span); /* the level's */
    row->has_shares = *row->user || strcmp(row->account, "root") != 0;
    if (!number_signed(raw.bytes, raw.length, &row->shares) ||
        !take_number(&row->norm_shares, norm) || !take_number(&row->fairshare, span))
        return false;
    row->parent_shares = row->shares == SHARES_OF_PARENT;
    if (row->fairshare.low <= 0)
        row->fairshare = NOT_PRINTED;
    return true;
}

/* UsageRaw/Norm/Efctv. */
static bool take_usage(struct printed_row *row, struct span span)
{
    struct span raw = span_until(span, '/', &span), norm = span_until(span, '/', &span);
    return take_number(&row->raw_usage, raw) && printed_is_there(&row->raw_usage) &&
           row->raw_usage.low >= 0 && take_number(&row->norm_usage, norm) &&
           take_number(&row->effective_usage, span);
}

static int take_word(struct reader *reader, struct span word, struct error *err)
{
    struct printed_row *row = &reader->row;
    struct span value, key = span_until(word, '=', &value);
    if (span_begins(key, "SharesRaw/")) {
        reader->named = true;
        if (!take_shares(row, value))
            return no_such(reader, value, "SharesRaw/Norm/Level/Factor", err);
    } else if (span_begins(key, "UsageRaw/")) {
        if (!take_usage(row, value))
            return no_such(reader, value, "UsageRaw/Norm/Efctv", err);
    } else if (reader->named) {
        return 0;
    } else if (span_is(key, "Account")) {
        row->account = name_of(reader, value);
    } else if (span_is(key, "UserName")) {
        row->user = name_of(reader, without_number(value));
    } else if (span_is(key, "Partition")) {
        row->partition = name_of(reader, value);
    } else if (span_is(key, "ID")) {
        if (!number_signed(value.bytes, value.length, &row->id) || row->id <= 0)
            return no_such(reader, value, "ID", err);
    }
    return 0;
}

static int begin_row(struct reader *reader, struct span cluster, struct error *err)
{
    if (end_row(reader, err))
        return -1;
    reader->begun = true;
    reader->named = false;
    reader->here = reads_as(cluster.bytes, cluster.length, reader->cluster);
    reader->row = PRINTED_ROW;
    return 0;
}

/* A record begins with a line of its own, and ends with Comment=, which is text of any kind. */
static int take_line(struct reader *reader, struct span line, struct error *err)
{
    struct span value, word = span_word(line, &line);
    if (span_is(span_until(word, '=', &value), "ClusterName")) {
        if (begin_row(reader, value, err))
            return -1;
        word = span_word(line, &line);
    } else if (span_is(word, "QOS") && span_is(span_trimmed(line), "Records")) {
        return end_row(reader, err);
    }
    for (; reader->begun && word.length; word = span_word(line, &line)) {
        if (span_begins(word, "Comment="))
            return end_row(reader, err);
        if (take_word(reader, word, err))
            return -1;
    }
    return 0;
}

int assoc_mgr_print_read(struct sshare_print *print, struct span text, const char *cluster,
                         struct error *err)
{
    struct reader reader = { .print = print, .cluster = cluster };
    int result = 0;
    *print = (struct sshare_print){ .arena = arena_create() };
    while (!result && text.length) {
        struct span line = span_trimmed(span_until(text, '\n', &text));
        reader.line++;
        result = take_line(&reader, line, err);
    }
    return sshare_print_end(print, result ? -1 : end_row(&reader, err), cluster, err);
}
