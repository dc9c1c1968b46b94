/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/amounts.h"
#include "report/page/escape.h"
#include "report/page/sections.h"
#include "report/page/view.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * The JSON of a cluster.  Values of rows are columns, in the order of view->rows, because that is
 * shorter than objects.  Numbers are rounded as the page displays them.  Rows are numbered as in
 * the view.
 */

/* An answer lists this number of pending jobs. */
#define JOBS_OF_ANSWER 8u
/* Ratios between these bounds have the digits that the page displays.  The others have four digits,
 * so that scripts order them as C does. */
#define LEAST_RATIO 0.01
#define MOST_RATIO 100
#define BELOW_LEAST 0.009999
#define ABOVE_MOST 100.1

static void data_open_list(struct text *text, const char *key)
{
    text_format(text, ",\n\"%s\":[", key);
}

/* Adds a comma unless a list has just begun. */
static void data_separate(struct text *text)
{
    text_add(text, text->bytes[text->length - 1] == '[' ? "" : ",");
}

static void data_add_word(struct text *text, const char *word)
{
    data_separate(text);
    page_add_string(text, word);
}

static void data_add_member(struct text *text, const char *key, const char *word)
{
    text_format(text, ",\n\"%s\":", key);
    page_add_string(text, word);
}

/* Adds null for NAN, and -1 for INFINITY, which is the ratio of 0 shares. */
static void data_add_number(struct text *text, double number)
{
    data_separate(text);
    if (isfinite(number))
        text_format(text, "%.12g", number);
    else
        text_add(text, isnan(number) ? "null" : "-1");
}

/* Adds a whole number; 0.5 is displayed as `< 1`. */
static void data_add_amount(struct text *text, double amount)
{
    data_add_number(text, amount > 0 && amount < 1 ? 0.5 : round(amount));
}

static void data_add_ratio(struct text *text, double ratio)
{
    if ((ratio > 0 && ratio < LEAST_RATIO) || (isfinite(ratio) && ratio > MOST_RATIO)) {
        data_separate(text);
        text_format(text, "%.4g", ratio < 1 ? fmin(ratio, BELOW_LEAST) : fmax(ratio, ABOVE_MOST));
    } else {
        data_add_number(text, isnan(ratio) ? 0 : isinf(ratio) ? ratio : amount_ratio(ratio));
    }
}

/* ---- Rows ---- */

enum data_column {
    DATA_SHARE,
    DATA_USED,
    DATA_RATIO,
    DATA_SPENT,
    DATA_PLACE,
    DATA_LEVEL,
    DATA_FACTOR,
    DATA_AHEAD,
};

static void data_add_value(struct text *text, const struct page_row *row, enum data_column column)
{
    switch (column) {
    case DATA_SHARE:
        data_add_number(text, row->own_share ? amount_percent(row->share) : 0);
        break;
    case DATA_USED:
        data_add_number(text, amount_percent(row->used));
        break;
    case DATA_RATIO:
        data_add_ratio(text, row->ratio);
        break;
    case DATA_SPENT:
        data_add_amount(text, row->spent);
        break;
    case DATA_PLACE:
        data_add_number(text, row->place);
        break;
    case DATA_LEVEL:
        data_add_ratio(text, row->level_ratio);
        break;
    case DATA_FACTOR:
        data_separate(text);
        text_format(text, "%.4f", isnan(row->factor) ? 0 : row->factor);
        break;
    case DATA_AHEAD:
        data_add_number(text, row->ahead);
        break;
    }
}

static void data_add_columns(struct text *text, const struct page_view *view)
{
    static const char *const keys[] = { "share", "used",  "ratio",  "spent",
                                        "place", "level", "factor", "ahead" };
    bool ranks = view->cluster->algorithm->ranks_users;
    bool complete = view->whole && !view->cluster->hides_users;
    for (enum data_column column = DATA_SHARE; column <= DATA_AHEAD; column++) {
        if (column == (ranks ? DATA_FACTOR : DATA_LEVEL) || (column == DATA_AHEAD && complete))
            continue;
        data_open_list(text, keys[column]);
        for (size_t i = 0; i < view->count; i++)
            data_add_value(text, page_view_row(view, view->rows[i]), column);
        text_add(text, "]");
    }
}

/*
 * Adds the names, and one letter a row: u for a user, v for a user with `parent` shares, a and b
 * for accounts, and capital letters for rows that are only compared.  The numbers of the parents
 * are differences to the row before: siblings are adjacent, so most of them are 0.
 */
static void data_add_tree(struct text *text, const struct page_view *view)
{
    struct text parents = { 0 }, kinds = { 0 };
    uint32_t last = 0;
    data_open_list(text, "names");
    text_add(&parents, "[");
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, view->rows[i]);
        const char *letters = view->part[view->rows[i]] == PAGE_INSIDE ? "abuv" : "ABUV";
        data_add_word(text, *row->user ? row->user : row->account);
        text_add_bytes(&kinds, letters + (*row->user ? 2 : 0) + !row->own_share, 1);
        data_add_number(&parents, (double)view->numbers[row->parent] - last);
        last = view->numbers[row->parent];
    }
    text_format(text, "],\n\"parents\":%s]", parents.bytes);
    data_add_member(text, "kinds", kinds.bytes);
    text_free(&parents);
    text_free(&kinds);
}

/* Each of these functions adds an item if the row needs it. */
static void data_add_partition(struct text *text, const struct page_row *row, size_t number)
{
    if (!*row->partition)
        return;
    data_separate(text);
    text_format(text, "[%zu", number);
    data_add_word(text, row->partition);
    text_add(text, "]");
}

/* The number of users, and their first and last places, if the page does not have them all. */
static void data_add_count(struct text *text, const struct page_row *row, size_t number)
{
    if (*row->user)
        return;
    data_separate(text);
    text_format(text, "[%zu,%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", number, row->users,
                row->first_place, row->last_place);
}

static void data_add_items(struct text *text, const struct page_view *view, const char *key,
                           void (*add)(struct text *, const struct page_row *, size_t number))
{
    data_open_list(text, key);
    for (size_t i = 0; i < view->count; i++)
        add(text, page_view_row(view, view->rows[i]), i);
    text_add(text, "]");
}

static void data_add_rows(struct text *text, const struct page_view *view)
{
    data_add_tree(text, view);
    data_add_columns(text, view);
    data_add_items(text, view, "partitions", data_add_partition);
    if (!view->whole || view->cluster->hides_users)
        data_add_items(text, view, "counts", data_add_count);
    data_open_list(text, "levels"); /* of rows whose level does not belong to the parent */
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, view->rows[i]);
        if (row->level == row->parent)
            continue;
        data_separate(text);
        text_format(text, "[%zu,%" PRIu32 "]", i, view->numbers[row->level]);
    }
    text_add(text, "]");
}

/* ---- Months, forecasts and budgets of the listed rows ---- */

/* Adds a list of the months for each unit. */
static void data_add_months_of(struct text *text, const struct page_cluster *cluster,
                               const float *values, uint32_t row)
{
    text_add(text, ",[");
    for (size_t unit = 0; unit < cluster->unit_count; unit++) {
        text_add(text, unit ? ",[" : "[");
        for (size_t month = cluster->months.first; month < PAGE_MONTHS; month++)
            data_add_amount(text, (double)values[page_month_index(cluster, unit, row, month)]);
        text_add(text, "]");
    }
    text_add(text, "]");
}

static void data_add_months(struct text *text, const struct page_view *view)
{
    const struct page_months *months = &view->cluster->months;
    data_open_list(text, "monthNames");
    for (size_t i = months->first; i < PAGE_MONTHS; i++) {
        text_add(text, i > months->first ? ",\"" : "\"");
        amount_add_month(text, months->starts[i]);
        text_add(text, "\"");
    }
    text_add(text, "]");
    data_open_list(text, "months");
    for (size_t i = 0; months->used && i < view->count; i++) {
        uint32_t row = view->rows[i];
        if (!page_view_row(view, row)->listed_months || view->part[row] != PAGE_INSIDE)
            continue;
        data_separate(text);
        text_format(text, "[%zu", i);
        data_add_months_of(text, view->cluster, months->used, row);
        data_add_months_of(text, view->cluster, months->due, row);
        text_add(text, "]");
    }
    text_add(text, "]");
}

/* Adds the days on which the place changes, each followed by the new place. */
static void data_add_days(struct text *text, const uint32_t *places)
{
    text_add(text, ",[");
    for (int day = 0; day <= PAGE_DAYS; day++) {
        if (day && places[day] == places[day - 1])
            continue;
        data_add_number(text, day);
        data_add_number(text, places[day]);
    }
    text_add(text, "]");
}

static void data_add_forecasts(struct text *text, const struct page_view *view)
{
    data_open_list(text, "days");
    for (int day = 0; day <= PAGE_DAYS; day++) {
        text_add(text, day ? ",\"" : "\"");
        amount_add_date(text, view->cluster->as_of + day * INT64_C(86400), 0);
        text_add(text, "\"");
    }
    text_add(text, "]");
    data_open_list(text, "forecasts");
    for (size_t i = 0; i < view->cluster->forecast_count; i++) {
        const struct page_forecast *forecast = &view->cluster->forecasts[i];
        if (!page_view_row(view, forecast->row)->listed_forecast ||
            view->part[forecast->row] != PAGE_INSIDE)
            continue;
        data_separate(text);
        text_format(text, "[%" PRIu32, view->numbers[forecast->row]);
        data_add_days(text, forecast->pausing);
        data_add_days(text, forecast->continuing);
        text_add(text, "]");
    }
    text_add(text, "]");
}

static void data_add_budgets(struct text *text, const struct page_view *view)
{
    data_open_list(text, "budgets");
    for (size_t i = 0; i < view->cluster->budget_count; i++) {
        const struct page_budget *budget = &view->cluster->budgets[i];
        if (view->part[budget->row] != PAGE_INSIDE)
            continue;
        data_separate(text);
        text_format(text, "[%" PRIu32, view->numbers[budget->row]);
        data_add_word(text, budget->hours);
        data_add_amount(text, budget->limit);
        data_add_amount(text, budget->used);
        data_add_amount(text, budget->running);
        data_add_amount(text, budget->left);
        text_format(text, ",%d,\"", budget->left <= 0);
        if (budget->ends)
            amount_add_date(text, budget->ends, 1);
        text_add(text, "\"]");
    }
    text_add(text, "]");
}

/* ---- Pending jobs ---- */

static void data_add_job(struct text *text, const struct page_view *view,
                         const struct page_job *job)
{
    struct text span = { 0 };
    text_add(&span, "");
    if (job->waiting_s >= 0)
        amount_add_span(&span, (double)job->waiting_s);
    data_separate(text);
    text_format(text, "[%" PRIu32 ",%" PRId64 ",%zu", view->numbers[job->row], job->place,
                job->pool_jobs);
    data_add_word(text, job->job_id);
    data_add_word(text, job->partition);
    data_add_word(text, span.bytes);
    data_add_word(text, job->reason);
    data_add_word(text, *page_view_row(view, job->row)->user ? "" : job->user);
    text_add(text, "]");
    text_free(&span);
}

/* Adds the first jobs of each row, and the numbers of its other jobs.  Thus the first jobs of each
 * account are in the list, too. */
static void data_add_jobs(struct text *text, const struct page_view *view)
{
    uint32_t *counts = memory_zeroed(view->cluster->row_count, sizeof *counts);
    data_open_list(text, "jobs");
    for (size_t i = 0; i < view->job_count; i++) {
        const struct page_job *job = &view->cluster->jobs[view->jobs[i]];
        if (counts[job->row]++ >= JOBS_OF_ANSWER)
            continue;
        data_add_job(text, view, job);
    }
    text_add(text, "]");
    data_open_list(text, "moreJobs");
    for (size_t i = 0; i < view->count; i++) {
        if (counts[view->rows[i]] <= JOBS_OF_ANSWER)
            continue;
        data_separate(text);
        text_format(text, "[%zu,%" PRIu32 "]", i, counts[view->rows[i]] - JOBS_OF_ANSWER);
    }
    text_add(text, "]");
    free(counts);
}

void page_add_data(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    text_format(text, "{\"asOf\":%" PRId64 ",\"staleAfter\":%" PRId64 ",\"periodDays\":%" PRId64,
                cluster->as_of, cluster->stale_after, (cluster->to - cluster->from) / 86400);
    text_format(text, ",\"users\":%" PRIu32 ",\"opened\":%" PRIu32 ",\"unit\":%zu", cluster->users,
                view->opened ? view->numbers[view->opened] : 0, cluster->chosen_unit);
    text_format(
        text, ",\"ranks\":%d,\"anyUsage\":%d,\"hidesUsers\":%d,\"hidesJobs\":%d,\"hasBudgets\":%d",
        cluster->algorithm->ranks_users, cluster->any_usage, cluster->hides_users,
        cluster->hides_jobs, !cluster->by_formula);
    data_add_member(text, "cluster", cluster->name);
    data_add_member(text, "period", cluster->period);
    data_add_member(text, "userWord", cluster->terms->user);
    data_add_member(text, "usersWord", cluster->terms->users);
    data_add_member(text, "partitionWord", cluster->terms->partition);
    data_open_list(text, "units");
    for (size_t i = 0; i < cluster->unit_count; i++)
        data_add_word(text, cluster->units[i].hours);
    text_add(text, "]");
    data_add_rows(text, view);
    data_add_months(text, view);
    data_add_forecasts(text, view);
    data_add_budgets(text, view);
    data_add_jobs(text, view);
    text_add(text, "}");
}
