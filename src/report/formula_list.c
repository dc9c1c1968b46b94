/* SPDX-License-Identifier: MIT */
#include "report/formula_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/formula/formula.h"
#include "report/priorities.h"
#include "report/table.h"
#include "util/error.h"
#include "util/memory.h"

/* ---- Values of names ---- */

/* Returns the value of a name such as `age_factor` or `age_weighted`; NAN for any other name. */
static double part_named(const struct prio_row *row, const char *name)
{
    for (enum prio_part part = 0; part < PRIO_PARTS; part++) {
        size_t length = strlen(prio_part_names[part]);
        if (strncmp(name, prio_part_names[part], length) != 0)
            continue;
        if (!strcmp(name + length, "_factor"))
            return row->factor[part];
        if (!strcmp(name + length, "_weighted"))
            return row->weighted[part];
    }
    return NAN;
}

/* Finds the value of a name that is also a column of fairmill_job_priority.  Returns false if there
 * is no such name, or if the job has no such value. */
static bool find_own(const struct prio_row *row, const char *name, struct formula_value *value)
{
    bool is_slurm = !row->of_formula;
    bool is_priority = !strcmp(name, "priority"), is_site = is_slurm && !strcmp(name, "site"),
         is_nice = is_slurm && !strcmp(name, "nice");
    value->is_whole = is_priority || is_site || is_nice;
    value->number = is_priority                                   ? (double)row->priority
                    : is_site                                     ? (double)row->site
                    : is_nice                                     ? (double)row->nice
                    : is_slurm && !strcmp(name, "tres_weighted")  ? prio_tres_sum(row)
                    : is_slurm && !strcmp(name, "priority_norm")  ? row->norm
                    : !is_slurm && !strcmp(name, "formula_value") ? row->value
                                                                  : part_named(row, name);
    return !isnan(value->number);
}

static bool formula_list_find(const struct prio_row *row, const char *name,
                              struct formula_value *value)
{
    for (size_t i = 0; i < row->term_count; i++)
        if (!strcmp(row->first_term[i].name, name)) {
            double number = row->first_term[i].value;
            *value = (struct formula_value){ number, number == floor(number) };
            return true;
        }
    return find_own(row, name, value);
}

static int formula_list_refuse(const char *name, const struct prio_row *row, struct error *err)
{
    struct text text = { 0 };
    if (row->of_formula) {
        text_add(&text, "priority, formula_value, fairshare_factor");
        for (size_t i = 0; i < row->term_count; i++)
            text_format(&text, ", %s", row->first_term[i].name);
    } else {
        text_add(&text, "priority, priority_norm, site, nice, tres_weighted");
        for (enum prio_part part = 0; part < PRIO_PARTS; part++)
            text_format(&text, ", %s_factor, %s_weighted", prio_part_names[part],
                        prio_part_names[part]);
    }
    fail(err, ERROR_USAGE, "prio: --formula: unknown name '%s'; use one of %s", name, text.bytes);
    text_free(&text);
    return -1;
}

static int value_of_job(struct prio_list *list, struct prio_row *row, struct formula *formula,
                        struct formula_value *values, struct error *err)
{
    struct error flaw;
    size_t count = formula_name_count(formula);
    for (size_t i = 0; i < count; i++)
        if (!formula_list_find(row, formula_name(formula, i), &values[i]))
            return formula_list_refuse(formula_name(formula, i), row, err);
    if (formula_evaluate(formula, values, &row->what_if, &flaw)) {
        row->what_if = NAN;
        row->why = prio_list_text(list, flaw.message, strlen(flaw.message));
    }
    return 0;
}

/* Limits the time of a request to about this number of nanoseconds, or a few times as much. */
#define COST_LIMIT 1000000000

int formula_list_value(struct prio_list *list, struct formula *formula, struct error *err)
{
    if (list->count > COST_LIMIT / formula_cost(formula))
        return fail(err, ERROR_USAGE, "prio: --formula: the formula is too long for %zu jobs",
                    list->count);
    struct formula_value *values = memory_zeroed(formula_name_count(formula) + 1, sizeof *values);
    int result = 0;
    for (size_t i = 0; !result && i < list->count; i++)
        result = value_of_job(list, &list->rows[i], formula, values, err);
    free(values);
    return result;
}

/* ---- Order ---- */

/* Higher values first, NAN last. */
static int formula_list_by_number(double one, double other)
{
    if (isnan(one) || isnan(other))
        return isnan(one) - isnan(other);
    return (one < other) - (one > other);
}

static int formula_list_by_job(const struct prio_row *one, const struct prio_row *other)
{
    int order = (one->id_job > other->id_job) - (one->id_job < other->id_job);
    order = order ? order : strcmp(one->job_id, other->job_id);
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : strcmp(one->qos, other->qos);
}

static int formula_list_by_value(const void *a, const void *b)
{
    const struct prio_row *one = a, *other = b;
    int order = formula_list_by_number(one->what_if, other->what_if);
    return order ? order : formula_list_by_job(one, other);
}

static int formula_list_by_priority(const void *a, const void *b)
{
    const struct prio_row *one = a, *other = b;
    int order = (one->priority < other->priority) - (one->priority > other->priority);
    order = order ? order : formula_list_by_number(one->value, other->value);
    return order ? order : formula_list_by_job(one, other);
}

void formula_list_sort(struct prio_list *list, bool wished)
{
    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows,
              wished ? formula_list_by_value : formula_list_by_priority);
}

/* ---- Table ---- */

#define ROW(member) MEMBER(struct prio_row, member)

static void get_priority(const void *of, struct cell *cell)
{
    const struct prio_row *row = of;
    if (row->has_priority)
        cell_integer(cell, row->priority);
}

static const struct column of_openpbs[] = {
    { "job_id", "JobID", COLUMN_TEXT, ROW(job_id), .right = true },
    { "queue", "Queue", COLUMN_TEXT, ROW(partition) },
    { "username", "Entity", COLUMN_TEXT, ROW(user) },
    { "account", "Group", COLUMN_TEXT, ROW(account) },
    { "priority", "Priority", COLUMN_INTEGER, .get = get_priority },
    { "formula_value", "Formula", COLUMN_REAL, ROW(value), .optional = true },
    { "what_if", "WhatIf", COLUMN_REAL, ROW(what_if), .optional = true },
    { "why", "Why", COLUMN_TEXT, ROW(why), .optional = true },
    { "terms", "Terms", COLUMN_TEXT, ROW(terms), .optional = true, .expendable = 1 },
    { .name = NULL },
};
static const struct column of_slurm[] = {
    { "jobid", "JobID", COLUMN_TEXT, ROW(job_id), .right = true },
    { "partition", "Partition", COLUMN_TEXT, ROW(partition) },
    { "qos_name", "QOS", COLUMN_TEXT, ROW(qos) },
    { "username", "User", COLUMN_TEXT, ROW(user) },
    { "account", "Account", COLUMN_TEXT, ROW(account) },
    { "priority", "Priority", COLUMN_INTEGER, .get = get_priority },
    { "what_if", "WhatIf", COLUMN_REAL, ROW(what_if) },
    { "why", "Why", COLUMN_TEXT, ROW(why), .optional = true },
    { .name = NULL },
};

int formula_list_print(struct text *text, const struct prio_list *list,
                       const struct table_options *options, struct error *err)
{
    const struct table_layout layout = { list->of_formula ? of_openpbs : of_slurm, "jobs",
                                         .by_cluster = true };
    struct table *table = table_create(text, &layout, options, err);
    if (!table)
        return -1;
    prio_list_print(list, table, false);
    int result = table_end(table, err);
    table_destroy(table);
    return result;
}
