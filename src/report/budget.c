/* SPDX-License-Identifier: MIT */
#include "report/budget.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "report/answer.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "util/number.h"
#include "util/text.h"
#include "util/times.h"

/* ---- The columns ---- */

#define ROW(member) MEMBER(struct budget_row, member)
static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "kind", "Kind", COLUMN_TEXT, ROW(kind) },
    { "id", "ID", COLUMN_INTEGER, ROW(id), .hidden = NOT_FOR_PEOPLE },
    { "account", "Account", COLUMN_TEXT, ROW(account) },
    { "username", "User", COLUMN_TEXT, ROW(user), .optional = true },
    { "partition", "Partition", COLUMN_TEXT, ROW(partition), .optional = true },
    { "qos", "QOS", COLUMN_TEXT, ROW(qos), .optional = true },
    { "tres", "TRES", COLUMN_TEXT, ROW(tres) },
    { "limit_minutes", "Limit", COLUMN_INTEGER, ROW(limit) },
    { "used_minutes", "Used", COLUMN_INTEGER, ROW(used) },
    { "used_percent", "Used%", COLUMN_REAL, ROW(used_percent), .decimals = 1 },
    { "running_minutes", "Running", COLUMN_INTEGER, ROW(running) },
    { "left_minutes", "Left", COLUMN_INTEGER, ROW(left) },
    { "exhausted_at", "ExhaustedAt", COLUMN_TIME, ROW(exhausted_at), .zero_is_none = true },
    { .name = NULL },
};
const struct table_layout budget_layout = { columns, "budgets", .by_cluster = true,
                                            .has_page = true };

/* ---- Rows ---- */

void budget_rows_free(struct budget_rows *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct budget_row *row = &list->rows[i];
        char *const texts[] = { row->kind,      row->account, row->user,
                                row->partition, row->qos,     row->tres };
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    free(list->rows);
    *list = (struct budget_rows){ 0 };
}

static int budget_compare_names(const struct budget_row *one, const struct budget_row *other)
{
    int order = strcmp(one->kind, other->kind);
    if (!order)
        order = strcmp(one->qos, other->qos);
    if (!order)
        order = strcmp(one->account, other->account);
    if (!order)
        order = strcmp(one->user, other->user);
    if (!order)
        order = strcmp(one->partition, other->partition);
    return order ? order : strcmp(one->tres, other->tres);
}

static bool budget_is_reached(const struct budget_row *row)
{
    return row->used >= row->limit;
}

static int budget_by_urgency(const void *a, const void *b)
{
    const struct budget_row *one = a, *other = b;
    int64_t ends[] = { budget_is_reached(one) ? 0
                       : one->exhausted_at    ? one->exhausted_at
                                              : INT64_MAX,
                       budget_is_reached(other) ? 0
                       : other->exhausted_at    ? other->exhausted_at
                                                : INT64_MAX };
    if (ends[0] != ends[1])
        return ends[0] < ends[1] ? -1 : 1;
    if (one->used_percent != other->used_percent)
        return one->used_percent > other->used_percent ? -1 : 1;
    return budget_compare_names(one, other);
}

void budget_rows_sort(struct budget_rows *list)
{
    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, budget_by_urgency);
}

/* ---- The page ---- */

#define BAR_LENGTH 40

static void budget_add_owner(struct text *text, const struct budget_row *row)
{
    if (*row->qos)
        text_format(text, "QOS %s", row->qos);
    else if (*row->user)
        text_format(text, "%s of %s", row->user, row->account);
    else
        text_add(text, row->account);
    if (*row->partition)
        text_format(text, " in partition %s", row->partition);
}

/* Adds a bar of used, running and free minutes. */
static void budget_add_bar(struct text *text, const struct budget_row *row)
{
    static const char *const marks[2][3] = { { "#", "+", "." }, { "█", "▒", "·" } };
    bool utf8 = terminal_of_output().utf8;
    double limit = (double)row->limit, cells = BAR_LENGTH;
    double used = limit > 0 ? fmin((double)row->used / limit, 1) * cells : cells;
    double taken =
        limit > 0 ? fmin(((double)row->used + (double)row->running) / limit, 1) * cells : cells;
    for (int i = 0; i < BAR_LENGTH; i++)
        text_add(text, marks[utf8][i < lround(used) ? 0 : i < lround(taken) ? 1 : 2]);
    text_add(text, "\n");
}

/* Rounds to an integer, which is 100 only if the limit is reached. */
static double budget_shown_percent(const struct budget_row *row)
{
    double percent = round(row->used_percent);
    return budget_is_reached(row) ? percent : fmin(percent, 99);
}

static void budget_add_used(struct text *text, const struct budget_row *row)
{
    struct text sentence = { 0 };
    budget_add_owner(&sentence, row);
    text_format(&sentence, " has used %s of %s ", number_grouped(row->used).bytes,
                number_grouped(row->limit).bytes);
    usage_unit_add_tres(&sentence, row->tres, "-minutes");
    if (row->limit > 0)
        text_format(&sentence, " (%.0f %%)", budget_shown_percent(row));
    if (row->running)
        text_format(&sentence, "; running jobs may use %s more",
                    number_grouped(row->running).bytes);
    terminal_say(text, 0, "%s.", sentence.bytes);
    text_free(&sentence);
}

static void budget_add_end(struct answer *answer, const struct budget_row *row)
{
    if (!budget_is_reached(row) && row->left <= 0)
        answer_say(answer, "Until running jobs end, nothing is left.\n");
    if (budget_is_reached(row))
        answer_say(answer, "The limit is reached; nothing is left.\n");
    else if (row->exhausted_at)
        answer_say(answer, "At last week's rate, the limit is reached on %s.\n",
                   time_day_text(row->exhausted_at).bytes);
    else
        answer_say(answer, "At last week's rate, the limit is not reached.\n");
}

static void budget_add_none(const struct budget_view *view, struct text *text)
{
    text_add(text, "\n");
    terminal_say(text, 0, "No limit of TRES-minutes applies%s%s.%s", view->name ? " to " : "",
                 view->name ? view->name : "",
                 view->is_slurm && view->advice
                     ? "  To set one, use `sacctmgr modify account NAME set "
                       "GrpTRESMins=gres/gpu=MINUTES`."
                     : "");
}

static void budget_add_page(const struct budget_view *view, struct answer *answer)
{
    answer_say(answer, "Cluster %s, %s\n", view->cluster, time_text(view->as_of).bytes);
    if (!view->all->count)
        budget_add_none(view, answer_text(answer));
    for (size_t i = 0; i < view->all->count; i++) {
        const struct budget_row *row = &view->all->rows[i];
        answer_say(answer, "\n");
        budget_add_used(answer_text(answer), row);
        if (terminal_of_output().is_one)
            budget_add_bar(answer_text(answer), row);
        budget_add_end(answer, row);
    }
    if (view->all->count && !view->enforced)
        answer_say(answer,
                   "\nslurmctld does not enforce these limits: AccountingStorageEnforce lacks "
                   "`limits`.\n");
}

static json_t *budget_facts(const struct budget_view *view)
{
    return json_pack("{s:I, s:o}", "as_of", (json_int_t)view->as_of, "enforced",
                     view->enforced < 0 ? json_null() : json_boolean(view->enforced));
}

void budget_add_answer(const struct budget_view *view, struct answer *answer)
{
    answer_cluster(answer, &(struct table_cluster){
                               .name = view->cluster,
                               .facts = answer_wants_facts(answer) ? budget_facts(view) : NULL,
                           });
    if (answer_wants_page(answer))
        budget_add_page(view, answer);
    else
        for (size_t i = 0; i < view->all->count; i++)
            answer_row(answer, &view->all->rows[i]);
}
