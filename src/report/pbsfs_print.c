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
#define ENTITY "fairshare entity:"
/*
 * Decimals of a percentage in `pbsfs -p`, of a step of a path, and of other values in `pbsfs -g`.
 */
#define PERCENTAGE_DECIMALS 3
#define STEP_DECIMALS 3
#define PARTS_DECIMALS 6

/* The label before each number of a line, in order.  A number may touch the next label. */
enum pbsfs_field { FIELD_GROUP, FIELD_NUMBER, FIELD_SHARES, FIELD_USAGE, FIELD_PERCENTAGE, FIELDS };
static const char *const labels[FIELDS] = { ": Grp:", "cgrp:", "Shares:", "Usage:", "Perc:" };

static struct span span_behind(struct span span, size_t length)
{
    return span_trimmed((struct span){ span.bytes + length, span.length - length });
}

/*
 * Splits a line at its labels into the name and the fields.  Returns false if a label is missing.
 */
static bool pbsfs_cut(struct span line, struct span *name, struct span fields[FIELDS])
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

static bool pbsfs_take_number(struct printed_number *number, struct span span, int decimals)
{
    return span.length && printed_number_read(number, span, decimals) && isfinite(number->high);
}

static bool pbsfs_take_fields(struct printed_member *row, struct span fields[FIELDS])
{
    struct span *percentage = &fields[FIELD_PERCENTAGE];
    int64_t *const integers[] = { &row->group, &row->number, &row->shares };
    for (int field = 0; field <= FIELD_SHARES; field++)
        if (!number_signed(fields[field].bytes, fields[field].length, integers[field]))
            return false;
    if (!percentage->length || percentage->bytes[percentage->length - 1] != '%')
        return false;
    percentage->length--;
    return pbsfs_take_number(&row->usage, fields[FIELD_USAGE], 0) &&
           pbsfs_take_number(&row->percentage, *percentage, PERCENTAGE_DECIMALS);
}

static struct printed_member *pbsfs_add_row(struct pbsfs_print *print,
                                            const struct printed_member *row)
{
    print->rows = memory_grown(print->rows, print->count, sizeof *print->rows);
    print->rows[print->count] = *row;
    return &print->rows[print->count++];
}

/* Reads a line of `pbsfs -p`. */
static int pbsfs_take_line(struct pbsfs_print *print, struct span line, unsigned number,
                           struct error *err)
{
    struct span name, fields[FIELDS];
    struct printed_member row = { 0 };
    row.tree_usage = NOT_PRINTED;
    if (!print->unit && !print->count && span_begins(line, HEADING)) {
        print->unit = span_utf8(print->arena, span_behind(line, strlen(HEADING)));
        return 0;
    }
    if (!pbsfs_cut(line, &name, fields) || !pbsfs_take_fields(&row, fields))
        return printed_wrong(number, "not a line of `pbsfs -p`", err);
    row.name = span_utf8(print->arena, name);
    pbsfs_add_row(print, &row);
    return 0;
}

/* ---- pbsfs -g ---- */

enum value {
    VALUE_GROUP,
    VALUE_NUMBER,
    VALUE_SHARES,
    VALUE_PERCENTAGE,
    VALUE_TREE_USAGE,
    VALUE_USAGE,
    VALUE_QUOTIENT,
    VALUES
};
/* The labels of the values, in the order of the output.  The path follows the last value. */
static const char *const values[VALUES] = {
    "Resgroup", "cresgroup", "Shares", "Percentage", "fairshare_tree_usage", "usage", "usage/perc",
};

/* Removes `end` from the end of `span`.  Returns false if the last character is different. */
static bool ends_with(struct span *span, char end)
{
    if (!span->length || span->bytes[span->length - 1] != end)
        return false;
    *span = span_trimmed((struct span){ span->bytes, span->length - 1 });
    return true;
}

static bool take_integer(int64_t *number, struct span span)
{
    return number_signed(span.bytes, span.length, number);
}

/* Reads usage and its unit: `5227 (cput)`. */
static bool pbsfs_take_usage(struct pbsfs_print *print, struct printed_member *row,
                             struct span span)
{
    struct span unit, number = span_until(span, ' ', &unit);
    unit = span_trimmed(unit);
    if (!pbsfs_take_number(&row->usage, number, 0) || !span_begins(unit, "(") ||
        !ends_with(&unit, ')'))
        return false;
    if (!print->unit)
        print->unit = span_utf8(print->arena, span_behind(unit, 1));
    return true;
}

static bool pbsfs_take_value(struct pbsfs_print *print, struct printed_member *row,
                             enum value value, struct span span)
{
    switch (value) {
    case VALUE_GROUP:
        return take_integer(&row->group, span);
    case VALUE_NUMBER:
        return take_integer(&row->number, span);
    case VALUE_SHARES:
        return take_integer(&row->shares, span);
    case VALUE_PERCENTAGE:
        return ends_with(&span, '%') && pbsfs_take_number(&row->percentage, span, PARTS_DECIMALS);
    case VALUE_TREE_USAGE:
        return pbsfs_take_number(&row->tree_usage, span, PARTS_DECIMALS);
    case VALUE_USAGE:
        return pbsfs_take_usage(print, row, span);
    default:
        return true; /* not read, because it follows from the other values */
    }
}

/* Removes the last word of a line and returns it. */
static struct span last_word(struct span *line)
{
    size_t at = line->length;
    while (at && line->bytes[at - 1] != ' ' && line->bytes[at - 1] != '\t')
        at--;
    struct span word = { line->bytes + at, line->length - at };
    *line = span_trimmed((struct span){ line->bytes, at });
    return word;
}

/*
 * Reads a step of a path: `NAME      :    11       5227 / 0.386 = 13548`.  Reads from the end,
 * because the name may contain any characters.
 */
static bool take_step(struct pbsfs_print *print, struct printed_member *row, struct span line)
{
    struct printed_step step = { .name = "" };
    int64_t number;
    (void)last_word(&line);
    struct span equals = last_word(&line), part = last_word(&line), slash = last_word(&line);
    struct span usage = last_word(&line);
    if (!span_is(equals, "=") || !span_is(slash, "/") ||
        !pbsfs_take_number(&step.usage, usage, 0) ||
        !pbsfs_take_number(&step.part, part, STEP_DECIMALS) ||
        !take_integer(&number, last_word(&line)) || !ends_with(&line, ':') || !line.length)
        return false;
    step.name = span_utf8(print->arena, line);
    *memory_append(&row->path, &row->path_count) = step;
    return true;
}

/* The state of reading `pbsfs -g`. */
struct pbsfs_walk {
    struct pbsfs_print *print;
    int value; /* the next value of the current entity; VALUES: the path */
};

/* Returns true if the current entity is complete: its path ends with itself. */
static bool pbsfs_is_complete(const struct pbsfs_print *print)
{
    const struct printed_member *row = print->count ? &print->rows[print->count - 1] : NULL;
    return !row || (row->path_count && !strcmp(row->path[row->path_count - 1].name, row->name));
}

static bool begin_entity(struct pbsfs_walk *walk, struct span name)
{
    struct pbsfs_print *print = walk->print;
    struct printed_member row = { .name = span_utf8(print->arena, name) };
    row.tree_usage = NOT_PRINTED;
    pbsfs_add_row(print, &row);
    walk->value = 0;
    return name.length != 0;
}

static bool pbsfs_take_part(struct pbsfs_walk *walk, struct span line)
{
    struct pbsfs_print *print = walk->print;
    if (pbsfs_is_complete(print))
        return span_begins(line, ENTITY) && begin_entity(walk, span_behind(line, strlen(ENTITY)));
    struct printed_member *row = &print->rows[print->count - 1];
    int value = walk->value++;
    if (value > VALUES)
        return take_step(print, row, line);
    if (value == VALUES)
        return span_begins(line, "Path from root:");
    struct span rest, word = span_trimmed(span_until(line, ':', &rest));
    return span_is(word, values[value]) &&
           pbsfs_take_value(print, row, (enum value)value, span_trimmed(rest));
}

static int take_entities(struct pbsfs_print *print, struct span text, struct error *err)
{
    struct pbsfs_walk walk = { print, 0 };
    unsigned number = 0;
    while (text.length) {
        struct span line = span_trimmed(span_until(text, '\n', &text));
        number++;
        if (line.length && !pbsfs_take_part(&walk, line))
            return printed_wrong(number, "not a line of `pbsfs -g`", err);
    }
    return pbsfs_is_complete(print)
               ? 0
               : printed_wrong(number, "the output ends in the middle of an entity", err);
}

static int pbsfs_take_tree(struct pbsfs_print *print, struct span text, struct error *err)
{
    int result = 0;
    for (unsigned number = 1; !result && text.length; number++) {
        struct span line = span_trimmed(span_until(text, '\n', &text));
        if (line.length)
            result = pbsfs_take_line(print, line, number, err);
    }
    return result;
}

int pbsfs_print_read(struct pbsfs_print *print, struct span text, struct error *err)
{
    struct span first = text;
    while (first.length && strchr(" \t\r\n", *first.bytes))
        first = (struct span){ first.bytes + 1, first.length - 1 };
    *print = (struct pbsfs_print){ .arena = arena_create(), .whole = !span_begins(first, ENTITY) };
    int result = print->whole ? pbsfs_take_tree(print, text, err) : take_entities(print, text, err);
    if (!result && !print->count)
        result = fail(err, ERROR_DATA, "the output has no entities");
    if (result)
        pbsfs_print_free(print);
    return result;
}

void pbsfs_print_free(struct pbsfs_print *print)
{
    if (print->arena)
        arena_destroy(print->arena);
    for (size_t i = 0; i < print->count; i++)
        free(print->rows[i].path);
    free(print->rows);
    *print = (struct pbsfs_print){ 0 };
}
