/* SPDX-License-Identifier: MIT */
#include "report/sprio.h"

#include <stdlib.h>
#include <string.h>

#include "report/priorities.h"
#include "report/table.h"
#include "report/table_text.h"
#include "util/error.h"
#include "util/memory.h"

/*
 * The columns of sprio, by letter.  A lower-case letter shows a factor, and its capital shows the
 * factor times its weight.
 */

/* Returns the part that a letter of either case means, or PRIO_PARTS if it means none. */
static enum prio_part sprio_part_of(char letter)
{
    static const char letters[PRIO_PARTS + 1] = "abfjpq";
    const char *at = strchr(letters, letter | 0x20);
    return letter && at ? (enum prio_part)(at - letters) : PRIO_PARTS;
}

/* Like sprio, computes a factor by dividing the weighted value by its weight. */
static void get_part(const void *of, struct cell *cell)
{
    const struct prio_row *row = of;
    const struct prio_list *list = cell->context;
    enum prio_part part = sprio_part_of((char)cell->column->index);
    uint64_t weight = list->weights.of[part];
    if (row->of_formula)
        return;
    if (row->is_weights || cell->column->index < 'a')
        cell_format(cell, "%.0f", row->weighted[part]);
    else
        cell_format(cell, "%.7f", weight ? row->weighted[part] / (double)weight : 0.0);
}

/* Fills a cell of a column that applies to jobs only.  In the line of weights, such cells are
 * empty, except that the cell of the id contains `Weights`. */
static void get_of_job(const void *of, struct cell *cell)
{
    const struct prio_row *row = of;
    if (row->is_weights)
        cell_text(cell, cell->column->index == 'i' ? "Weights" : NULL);
    else if (cell->column->index == 'i' && row->of_formula)
        cell_text(cell, row->job_id);
    else if (cell->column->index == 'i')
        cell_integer(cell, row->id_job);
    else if (cell->column->index == 'N')
        cell_integer(cell, row->nice);
    else if (cell->column->index == 'z') {
        if (row->place)
            cell_integer(cell, row->place);
    } else if (cell->column->index == 't')
        cell_text(cell, row->tres_factors);
    else if (cell->column->index == 'y' && !row->of_formula)
        cell_format(cell, "%16.14f", row->norm);
    else if (row->has_priority)
        cell_integer(cell, row->priority);
}

#define SPRIO(letter, heading, ...)                                 \
    {                                                               \
        heading, heading, COLUMN_TEXT, __VA_ARGS__, .index = letter \
    }

static const struct column columns[] = {
    SPRIO('a', "AGE", .get = get_part),
    SPRIO('A', "AGE", .get = get_part),
    SPRIO('b', "ASSOC", .get = get_part),
    SPRIO('B', "ASSOC", .get = get_part),
    SPRIO('c', "CLUSTER", .stored = STORED_AS_CLUSTER),
    SPRIO('f', "FAIRSHARE", .get = get_part),
    SPRIO('F', "FAIRSHARE", .get = get_part),
    SPRIO('i', "JOBID", .get = get_of_job),
    SPRIO('j', "JOBSIZE", .get = get_part),
    SPRIO('J', "JOBSIZE", .get = get_part),
    SPRIO('n', "QOSNAME", MEMBER(struct prio_row, qos)),
    SPRIO('N', "NICE", .get = get_of_job),
    SPRIO('o', "ACCOUNT", MEMBER(struct prio_row, account)),
    SPRIO('p', "PARTITION", .get = get_part),
    SPRIO('P', "PARTITION", .get = get_part),
    SPRIO('q', "QOS", .get = get_part),
    SPRIO('Q', "QOS", .get = get_part),
    SPRIO('r', "PARTITION", MEMBER(struct prio_row, partition)),
    SPRIO('S', "SITE", MEMBER(struct prio_row, site)),
    SPRIO('t', "TRES", .get = get_of_job),
    SPRIO('T', "TRES", MEMBER(struct prio_row, tres_weighted)),
    SPRIO('u', "USER", MEMBER(struct prio_row, user)),
    SPRIO('y', "PRIORITY", .get = get_of_job),
    SPRIO('Y', "PRIORITY", .get = get_of_job),
    SPRIO('z', "PLACE", .get = get_of_job), /* not in sprio */
    { .name = NULL },
};

static const struct table_layout layout = { columns, "jobs", .by_cluster = true };

static const struct column *column_of(char letter)
{
    for (const struct column *each = columns; each->name; each++)
        if (each->index == letter)
            return each;
    return NULL;
}

/* ---- Formats ---- */

#define WIDEST 1000

struct sprio_format {
    struct table_format table;
    struct arena *texts;
};

static void format_free(struct sprio_format *format)
{
    free(format->table.columns);
    arena_destroy(format->texts);
}

static int parse_column(struct sprio_format *format, const char **at, struct error *err)
{
    struct chosen chosen = { .left = **at != '.' };
    *at += !chosen.left;
    for (; **at >= '0' && **at <= '9' && chosen.width <= WIDEST; ++*at)
        chosen.width = chosen.width * 10 + (size_t)(**at - '0');
    if (chosen.width > WIDEST)
        return fail(err, ERROR_USAGE, "prio: the width of a column must be at most %d", WIDEST);
    if (!**at)
        return fail(err, ERROR_USAGE, "prio: the format ends in the middle of a column");
    chosen.column = column_of(**at);
    if (!chosen.column)
        return fail(err, ERROR_USAGE, "prio: unknown column '%%%c' in the format; see sprio(1)",
                    **at);
    size_t length = strcspn(++*at, "%");
    chosen.after = arena_copy(format->texts, *at, length);
    *at += length;
    struct table_format *table = &format->table;
    *memory_append(&table->columns, &table->count) = chosen;
    return 0;
}

static int format_parse(struct sprio_format *format, const char *text, struct error *err)
{
    size_t length = strcspn(text, "%");
    *format = (struct sprio_format){ .texts = arena_create() };
    format->table.before = arena_copy(format->texts, text, length);
    for (const char *at = text + length; *at == '%';) {
        at++;
        if (parse_column(format, &at, err)) {
            format_free(format);
            return -1;
        }
    }
    return 0;
}

int sprio_check_format(const char *text, struct error *err)
{
    struct sprio_format format;
    if (format_parse(&format, text, err))
        return -1;
    format_free(&format);
    return 0;
}

/* Adds sprio's default format: the columns whose weight is not 0 or, if `all`, all columns. */
static void add_usual_format(struct text *text, const struct prio_list *list,
                             const struct sprio_look *look)
{
    static const char letters[2][PRIO_PARTS + 1] = { "ABFJPQ", "abfjpq" };
    const char *dot = look->normalized ? "" : ".";
    bool names_qos = look->all && list->names_qos;
    text_format(text, "%%.15i %%9r%s%s %%%s10%c%s", look->all || look->with_users ? " %.8u" : "",
                names_qos ? " %.8o" : "", dot, look->normalized ? 'y' : 'Y',
                look->normalized ? "" : " %.10S");
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        if (names_qos && part == PRIO_QOS)
            text_format(text, " %%%s10n", dot);
        if (look->all || list->weights.of[part])
            text_format(text, " %%%s10%c", dot, letters[look->normalized][part]);
    }
    if (look->all && !look->normalized)
        text_add(text, " %.11N");
    if (look->all || *list->weights.tres)
        text_format(text, " %%%s20%c", dot, look->normalized ? 't' : 'T');
}

/* Makes the columns of the default format wide enough that only decimals are cut. */
static void widen(struct table_format *format)
{
    for (size_t i = 0; i < format->count; i++)
        format->columns[i].widens = format->columns[i].column->index != 'y';
}

void sprio_print(struct text *text, const struct prio_list *list, const struct sprio_look *look)
{
    struct sprio_format format;
    struct error ignored;
    struct text own = { 0 };
    if (!look->format)
        add_usual_format(&own, list, look);
    if (!format_parse(&format, look->format ? look->format : own.bytes, &ignored)) {
        if (!look->format && !look->only_weights)
            widen(&format.table);
        const struct table_options options = { .no_header = look->no_header,
                                               .format = &format.table };
        struct table *table = table_create(text, &layout, &options, &ignored);
        prio_list_print(list, table, look->only_weights);
        table_end(table, &ignored);
        table_destroy(table);
        format_free(&format);
    }
    text_free(&own);
}

/* ---- Sorting ---- */

static int by_real(double one, double other)
{
    return (one > other) - (one < other);
}

/* Compares by pool and place; jobs without a place are last in their pool. */
static int by_place(const struct prio_row *one, const struct prio_row *other)
{
    int order = strcmp(one->pool, other->pool);
    if (order || !one->place || !other->place)
        return order ? order : !one->place - !other->place;
    return (one->place > other->place) - (one->place < other->place);
}

static int by_letter(const struct prio_row *one, const struct prio_row *other, char letter)
{
    enum prio_part part = sprio_part_of(letter);
    if (part != PRIO_PARTS)
        return by_real(one->weighted[part], other->weighted[part]);
    switch (letter) {
    case 'i':
        return (one->id_job > other->id_job) - (one->id_job < other->id_job);
    case 'n':
        return strcmp(one->qos, other->qos);
    case 'N':
        return (one->nice > other->nice) - (one->nice < other->nice);
    case 'o':
        return strcmp(one->account, other->account);
    case 'r':
        return strcmp(one->partition, other->partition);
    case 'S':
        return (one->site > other->site) - (one->site < other->site);
    case 't':
    case 'T':
        return by_real(prio_tres_sum(one), prio_tres_sum(other));
    case 'u':
        return strcmp(one->user, other->user);
    case 'y':
    case 'Y':
        return one->of_formula
                   ? (one->priority > other->priority) - (one->priority < other->priority)
                   : by_real(one->norm, other->norm);
    case 'z':
        return by_place(one, other);
    default: /* the cluster, which is the same for all */
        return 0;
    }
}

static int by_keys(const void *a, const void *b, void *keys)
{
    const struct prio_row *one = a, *other = b;
    int order = 0;
    for (const char *key = keys; !order && *key; key++)
        if (!strchr(",+-", *key))
            order =
                by_letter(one, other, *key) * (key > (const char *)keys && key[-1] == '-' ? -1 : 1);
    order = order ? order : by_letter(one, other, 'i');
    order = order ? order : (one->key > other->key) - (one->key < other->key);
    order = order ? order : by_letter(other, one, 'y');
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : strcmp(one->qos, other->qos);
}

int prio_list_sort(struct prio_list *list, const char *keys, struct error *err)
{
    for (const char *key = keys; *key; key++)
        if (!strchr(",+-", *key) && !column_of(*key))
            return fail(err, ERROR_USAGE, "prio: unknown sort key '%c'; see `fairmill help prio`",
                        *key);
    if (list->count)
        qsort_r(list->rows, list->count, sizeof *list->rows, by_keys, (char *)(uintptr_t)keys);
    return 0;
}
