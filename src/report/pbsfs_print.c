/* SPDX-License-Identifier: MIT */
#include "report/pbsfs_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define HEADING "Fairshare usage units are in:"
#define PERCENTAGE_DECIMALS 3

/* What stands before each number of a line, in its order.  No blank is sure behind a number. */
enum field { FIELD_GROUP, FIELD_NUMBER, FIELD_SHARES, FIELD_USAGE, FIELD_PERCENTAGE, FIELDS };
static const char *const labels[FIELDS] = { ": Grp:", "cgrp:", "Shares:", "Usage:", "Perc:" };

/* A name, or what is not there in UTF-8. */
static const char *text_of(const struct pbsfs_print *print, struct span span)
{
    struct text text = { 0 };
    text_add(&text, "");
    text_add_as_utf8(&text, span.bytes, span.length);
    const char *copy = arena_copy(print->arena, text.bytes, text.length);
    text_free(&text);
    return copy;
}

/* Cut a line at its labels: what is before the first one, and behind each.  False where one is not
 * there. */
static bool cut(struct span line, struct span *name, struct span fields[FIELDS])
{
    struct span *part = name;
    for (int field = 0; field < FIELDS; field++) {
        struct span found = span_find(line, labels[field]);
        size_t length = strlen(labels[field]);
        if (!found.bytes)
            return false;
        *part = span_trimmed((struct span){ line.bytes, (size_t)(found.bytes - line.bytes) });
        part = &fields[field];
        line = (struct span){ found.bytes + length, found.length - length };
    }
    *part = span_trimmed(line);
    return name->length != 0;
}

static bool take_number(struct printed_number *number, struct span span, int decimals)
{
    return span.length && printed_number_read(number, span, decimals) && isfinite(number->high);
}

static bool take_fields(struct printed_member *row, struct span fields[FIELDS])
{
    struct span *percentage = &fields[FIELD_PERCENTAGE];
    int64_t *const integers[] = { &row->group, &row->number, &row->shares };
    for (int field = 0; field <= FIELD_SHARES; field++)
        if (!number_signed(fields[field].bytes, fields[field].length, integers[field]))
            return false;
    if (!percentage->length || percentage->bytes[percentage->length - 1] != '%')
        return false;
    percentage->length--;
    return take_number(&row->usage, fields[FIELD_USAGE], 0) &&
           take_number(&row->percentage, *percentage, PERCENTAGE_DECIMALS);
}

static int take_line(struct pbsfs_print *print, struct span line, unsigned number,
                     struct error *err)
{
    struct span name, fields[FIELDS];
    struct printed_member row = { .name = "" };
    if (!line.length)
        return 0;
    if (!print->unit && !print->count && span_begins(line, HEADING)) {
        size_t length = strlen(HEADING);
        print->unit = text_of(
            print, span_trimmed((struct span){ line.bytes + length, line.length - length }));
        return 0;
    }
    if (!cut(line, &name, fields) || !take_fields(&row, fields))
        return printed_wrong(number, "that is no line of `pbsfs -p`", err);
    row.name = text_of(print, name);
    print->rows = memory_grown(print->rows, print->count, sizeof *print->rows);
    print->rows[print->count++] = row;
    return 0;
}

int pbsfs_print_read(struct pbsfs_print *print, struct span text, struct error *err)
{
    int result = 0;
    *print = (struct pbsfs_print){ .arena = arena_create() };
    for (unsigned number = 1; !result && text.length; number++)
        result = take_line(print, span_trimmed(span_until(text, '\n', &text)), number, err);
    if (!result && !print->count)
        result = fail(err, ERROR_DATA, "nobody is printed there");
    if (result)
        pbsfs_print_free(print);
    return result;
}

void pbsfs_print_free(struct pbsfs_print *print)
{
    if (print->arena)
        arena_destroy(print->arena);
    free(print->rows);
    *print = (struct pbsfs_print){ 0 };
}
