/* SPDX-License-Identifier: MIT */
#include "report/sprio_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/*
 * Each column gets a letter of sprio's format, from its heading or, without headings, from the
 * number of fields.  The heading PARTITION is ambiguous, so place_partition() looks at all rows
 * below it.  Then sprio_print_take_field() reads each field according to its letter.
 */

#define FIELDS_AT_MOST 32
#define TRES_WIDTH 20 /* width of the column in sprio's default table, which cuts longer lists */
#define NORM_DECIMALS 14

/*
 * sprio's headings and the letters of their columns.  A factor has the letter of its weighted
 * value.
 */
static const struct heading {
    const char *name;
    char letter;
} headings[] = {
    { "JOBID", 'i' },     { "USER", 'u' },    { "ACCOUNT", 'o' },   { "QOSNAME", 'n' },
    { "PRIORITY", 'Y' },  { "SITE", 'S' },    { "AGE", 'A' },       { "ASSOC", 'B' },
    { "FAIRSHARE", 'F' }, { "JOBSIZE", 'J' }, { "QOS", 'Q' },       { "NICE", 'N' },
    { "TRES", 'T' },      { "CLUSTER", 'c' }, { "PARTITION", 'P' },
};
/* Slurm 24.11 and later have the QOS, last or after the partition. */
static const char *const without_headings[] = { "iurYABFJPQSTN", "iurYABFJPQT",    "iurYABFJPQSTNn",
                                                "iurYABFJPQTn",  "iurnYABFJPQSTN", "iurnYABFJPQT" };
/* The letters of the parts of a priority, in the order of enum prio_part. */
static const char parts[PRIO_PARTS + 1] = "ABFJPQ";

struct sprio_print_reader {
    struct sprio_print *print;
    const char *cluster;
    unsigned line;
    bool elsewhere; /* the last `CLUSTER:` line named a different cluster */
    char letters[FIELDS_AT_MOST + 1];
};

/* Splits a line.  Returns the number of fields, or FIELDS_AT_MOST + 1 if there are more. */
static size_t sprio_print_split(const struct sprio_print_reader *reader, struct span line,
                                struct span fields[FIELDS_AT_MOST])
{
    size_t count = 0;
    for (bool more = true; more && count <= FIELDS_AT_MOST; count++) {
        struct span rest;
        struct span field =
            reader->print->is_table ? span_word(line, &rest) : span_until(line, '|', &rest);
        if (reader->print->is_table && !field.length)
            return count;
        more = reader->print->is_table || field.length < line.length;
        if (count < FIELDS_AT_MOST)
            fields[count] = span_trimmed(field);
        line = rest;
    }
    return count;
}

static char letter_of(struct span name)
{
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (span_is(name, headings[i].name))
            return headings[i].letter;
    return '-';
}

static bool is_number(struct span field)
{
    struct printed_number ignored;
    return field.length && strchr("0123456789-", *field.bytes) &&
           printed_number_read(&ignored, field, 0);
}

/* Returns true if a part of the priority has two columns: normalized and weighted. */
static bool has_pairs(const struct sprio_print_reader *reader)
{
    for (const char *part = parts; *part; part++) {
        const char *first = strchr(reader->letters, *part);
        if (*part != 'P' && first && strchr(first + 1, *part))
            return true;
    }
    return false;
}

/* Facts about each column from all rows below the headings. */
struct seen {
    bool is_name[FIELDS_AT_MOST];   /* at least one row does not have a number */
    bool has_point[FIELDS_AT_MOST]; /* at least one row has a point */
};

static void see_rows(const struct sprio_print_reader *reader, struct span text, struct seen *seen)
{
    struct span fields[FIELDS_AT_MOST];
    size_t columns = strlen(reader->letters);
    while (text.length) {
        struct span line = span_trimmed(span_until(text, '\n', &text));
        if (span_begins(line, "CLUSTER:"))
            return;
        size_t count = sprio_print_split(reader, line, fields);
        for (size_t i = 0; i < count && i < columns; i++) {
            seen->is_name[i] |= count + 1 >= columns && !is_number(fields[i]);
            seen->has_point[i] |=
                fields[i].length && memchr(fields[i].bytes, '.', fields[i].length);
        }
    }
}

/*
 * The heading PARTITION may mean names, numbers or both.  A column with a field that is not a
 * number has names.  Without such a column, all fields are numbers.  If there are more of these
 * columns than expected, the first one without a decimal point has names, or the first of all if
 * all have points.
 */
static void place_partition(struct sprio_print_reader *reader, struct span text)
{
    struct seen seen = { 0 };
    size_t found[FIELDS_AT_MOST], count = 0, pointed = 0;
    see_rows(reader, text, &seen);
    for (size_t i = 0; reader->letters[i]; i++) {
        if (reader->letters[i] != 'P')
            continue;
        found[count++] = i;
        pointed += seen.has_point[i];
        if (seen.is_name[i]) {
            reader->letters[i] = 'r';
            return;
        }
    }
    size_t numbers = has_pairs(reader) || (count && seen.has_point[found[0]]) ? 2 : 1;
    for (size_t i = 0; i < count && count > numbers; i++)
        if (!seen.has_point[found[i]] || pointed == count) {
            reader->letters[found[i]] = 'r';
            return;
        }
}

static int sprio_print_take_headings(struct sprio_print_reader *reader, struct span line,
                                     struct span below, struct error *err)
{
    struct span fields[FIELDS_AT_MOST];
    reader->print->is_table = !memchr(line.bytes, '|', line.length);
    size_t count = sprio_print_split(reader, line, fields);
    if (count > FIELDS_AT_MOST)
        return printed_wrong(reader->line, "too many columns for sprio", err);
    for (size_t i = 0; i < count; i++)
        reader->letters[i] = letter_of(fields[i]);
    reader->letters[count] = '\0';
    place_partition(reader, below);
    if (!strchr(reader->letters, 'i'))
        return printed_wrong(reader->line, "missing heading JOBID; use the output of `sprio -l`",
                             err);
    if (!strpbrk(reader->letters, "YSNT") && !strpbrk(reader->letters, parts))
        return printed_wrong(reader->line,
                             "no column is a priority or factor; use `sprio -l`, not squeue", err);
    return 0;
}

static int guess_headings(struct sprio_print_reader *reader, struct span line, struct error *err)
{
    struct span fields[FIELDS_AT_MOST];
    reader->print->is_table = false;
    size_t count = sprio_print_split(reader, line, fields);
    for (size_t i = 0; i < sizeof without_headings / sizeof *without_headings; i++) {
        const char *letters = without_headings[i];
        if (strlen(letters) == count && is_number(fields[strchr(letters, 'Y') - letters])) {
            strcpy(reader->letters, letters);
            return 0;
        }
    }
    return printed_wrong(reader->line, "unknown columns; use output with the headings of sprio",
                         err);
}

/* sprio prints (null) for values that a job does not have, such as a QOS. */
static const char *sprio_print_text_of(const struct sprio_print_reader *reader, struct span field)
{
    return span_is(field, "(null)") ? "" : span_copy(reader->print->arena, field);
}

/* Returns a name.  If `*width` is smaller than the name's length, sets it to this length. */
static const char *sprio_print_name_of(const struct sprio_print_reader *reader, struct span field,
                                       size_t *width)
{
    if (field.length > *width)
        *width = field.length;
    return sprio_print_text_of(reader, field);
}

/* Reads a priority of `sprio -n`.  If its column is too narrow, the priority is truncated, not
 * rounded. */
static bool take_norm(struct printed_number *norm, struct span field, const char *point)
{
    int decimals = (int)(field.bytes + field.length - point) - 1;
    if (!printed_number_read(norm, field, decimals < NORM_DECIMALS ? decimals : NORM_DECIMALS))
        return false;
    double half = decimals < NORM_DECIMALS ? (norm->high - norm->low) / 2 : 0;
    norm->low += half;
    norm->high += half;
    return true;
}

static bool sprio_print_take_number(struct printed_job *job, char letter, struct span field)
{
    const char *part = strchr(parts, letter), *point = memchr(field.bytes, '.', field.length);
    bool has_point = point != NULL;
    if (letter == 'Y' && has_point)
        return take_norm(&job->norm, field, point) && !isinf(job->norm.low);
    struct printed_number *number = letter == 'S'   ? &job->site
                                    : letter == 'N' ? &job->nice
                                    : letter == 'Y' ? &job->priority
                                    : has_point     ? &job->factor[part - parts]
                                                    : &job->weighted[part - parts];
    int decimals = has_point ? 7 : letter == 'Y' ? PRINTED_CUT : 0;
    return field.length && printed_number_read(number, field, decimals) && !isinf(number->low);
}

/* Returns true if the first number in a list of TRES has a point. */
static bool has_points(struct span list)
{
    struct span rest, value, item = span_until(list, ',', &rest);
    (void)span_until(item, '=', &value);
    return value.length && memchr(value.bytes, '.', value.length);
}

static int sprio_print_take_field(const struct sprio_print_reader *reader, struct printed_job *job,
                                  char letter, struct span field, struct error *err)
{
    bool good = true;
    switch (letter) {
    case 'i':
        good = number_signed(field.bytes, field.length, &job->id) && job->id > 0;
        break;
    case 'u':
        job->user = sprio_print_text_of(reader, field);
        break;
    case 'o':
        job->account = sprio_print_text_of(reader, field);
        break;
    case 'n':
        job->qos = sprio_print_name_of(reader, field, &reader->print->qos_width);
        break;
    case 'r':
        job->partition = sprio_print_name_of(reader, field, &reader->print->partition_width);
        break;
    case 'T':
        *(has_points(field) ? &job->tres_factors : &job->tres) = sprio_print_text_of(reader, field);
        job->tres_cut = reader->print->is_table && field.length >= TRES_WIDTH;
        break;
    case 'c':
    case '-':
        break;
    default:
        good = sprio_print_take_number(job, letter, field);
    }
    for (size_t i = 0; !good && i < sizeof headings / sizeof *headings; i++)
        if (headings[i].letter == letter)
            return printed_no_such(reader->line, field, headings[i].name, err);
    return 0;
}

static int sprio_print_take_row(struct sprio_print_reader *reader, struct span line,
                                struct error *err)
{
    struct sprio_print *print = reader->print;
    struct span fields[FIELDS_AT_MOST];
    struct printed_job job = { .line = reader->line };
    job.priority = job.norm = job.site = job.nice = NOT_PRINTED;
    size_t count = sprio_print_split(reader, line, fields), columns = strlen(reader->letters);
    /* In a table, an empty last column looks like a missing field. */
    bool blank =
        print->is_table && columns && count == columns - 1 && reader->letters[columns - 1] == 'T';
    if (count != columns && !blank)
        return printed_wrong(reader->line,
                             "the number of fields differs from the number of headings", err);
    for (size_t i = 0; i < PRIO_PARTS; i++)
        job.factor[i] = job.weighted[i] = NOT_PRINTED;
    job.tres = blank ? "" : NULL;
    for (size_t i = 0; i < count; i++) {
        if (reader->letters[i] == 'c' &&
            !reads_as(fields[i].bytes, fields[i].length, reader->cluster))
            return 0;
        if (sprio_print_take_field(reader, &job, reader->letters[i], fields[i], err))
            return -1;
    }
    *memory_append(&print->rows, &print->count) = job;
    return 0;
}

/* Returns true for the line of `sprio -w`, which has a word instead of a job id. */
static bool is_weights(const struct sprio_print_reader *reader, struct span line)
{
    bool bars = memchr(line.bytes, '|', line.length) != NULL;
    struct span rest, field = bars ? span_until(line, '|', &rest) : span_word(line, &rest);
    const char *id = bars ? strchr(reader->letters, 'i') : NULL;
    for (const char *at = reader->letters; id && at < id; at++)
        field = span_until(rest, '|', &rest);
    return span_is(span_trimmed(field), "Weights");
}

static int sprio_print_take_line(struct sprio_print_reader *reader, struct span line,
                                 struct span below, struct error *err)
{
    line = span_trimmed(line);
    if (span_begins(line, "CLUSTER:")) {
        struct span name = span_trimmed((struct span){ line.bytes + 8, line.length - 8 });
        reader->elsewhere = !reads_as(name.bytes, name.length, reader->cluster);
        *reader->letters = '\0';
        return 0;
    }
    if (!line.length || reader->elsewhere)
        return 0;
    if (is_weights(reader, line))
        return printed_wrong(reader->line,
                             "these are the weights of `sprio -w`, not jobs; use `sprio -l`", err);
    if (*reader->letters)
        return sprio_print_take_row(reader, line, err);
    if (*line.bytes < '0' || *line.bytes > '9')
        return sprio_print_take_headings(reader, line, below, err);
    return guess_headings(reader, line, err) || sprio_print_take_row(reader, line, err) ? -1 : 0;
}

int sprio_print_read(struct sprio_print *print, struct span text, const char *cluster,
                     struct error *err)
{
    struct sprio_print_reader reader = { .print = print, .cluster = cluster };
    int result = 0;
    /* Narrow columns also cut headings.  A known heading was not cut, so its column is at least as
     * wide as the heading. */
    *print = (struct sprio_print){ .partition_width = strlen("PARTITION"),
                                   .qos_width = strlen("QOSNAME"),
                                   .arena = arena_create() };
    while (!result && text.length) {
        struct span line = span_until(text, '\n', &text);
        reader.line++;
        result = sprio_print_take_line(&reader, line, text, err);
    }
    if (!result && !print->count)
        result = fail(err, ERROR_DATA, "the output has no jobs of cluster '%s'", cluster);
    if (result)
        sprio_print_free(print);
    return result;
}

void sprio_print_free(struct sprio_print *print)
{
    if (print->arena)
        arena_destroy(print->arena);
    free(print->rows);
    *print = (struct sprio_print){ 0 };
}
