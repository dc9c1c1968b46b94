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

static void data_add_key(struct text *text, const char *key)
{
    text_format(text, ",\n\"%s\":", key);
}

static void data_open_list(struct text *text, const char *key)
{
    data_add_key(text, key);
    text_add(text, "[");
}

/* Adds a comma unless a list has just begun. */
static void data_separate(struct text *text)
{
    text_add(text, text->bytes[text->length - 1] == '[' ? "" : ",");
}

static void data_add_integer(struct text *text, const char *key, int64_t number)
{
    data_add_key(text, key);
    text_format(text, "%" PRId64, number);
}

static void data_add_flag(struct text *text, const char *key, bool flag)
{
    data_add_key(text, key);
    text_add(text, flag ? "true" : "false");
}

static void data_add_word(struct text *text, const char *key, const char *word)
{
    data_add_key(text, key);
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

/* Returns a whole number; 0.5 is displayed as `< 1`. */
static double data_amount(double amount)
{
    return amount > 0 && amount < 1 ? 0.5 : round(amount);
}

static double data_rounded(const char *format, double number)
{
    struct text digits = { 0 };
    text_format(&digits, format, number);
    double rounded = strtod(digits.bytes, NULL);
    text_free(&digits);
    return rounded;
}

static double data_ratio(double ratio)
{
    if (isnan(ratio))
        return 0;
    if (ratio > 0 && ratio < LEAST_RATIO)
        return data_rounded("%.4g", fmin(ratio, BELOW_LEAST));
    if (isfinite(ratio) && ratio > MOST_RATIO)
        return data_rounded("%.4g", fmax(ratio, ABOVE_MOST));
    return amount_ratio(ratio);
}

/* ---- Rows ---- */

static double data_share(const struct page_row *row)
{
    return row->own_share ? amount_percent(row->share) : 0;
}

static double data_used(const struct page_row *row)
{
    return amount_percent(row->used);
}

static double data_share_ratio(const struct page_row *row)
{
    return data_ratio(row->ratio);
}

static double data_level_ratio(const struct page_row *row)
{
    return data_ratio(row->level_ratio);
}

static double data_factor(const struct page_row *row)
{
    return data_rounded("%.4f", row->factor);
}

static double data_spent(const struct page_row *row)
{
    return data_amount(row->spent);
}

static double data_place(const struct page_row *row)
{
    return row->place;
}

static double data_ahead(const struct page_row *row)
{
    return row->ahead;
}

static void data_add_column(struct text *text, const struct page_view *view, const char *key,
                            double (*value)(const struct page_row *row))
{
    data_open_list(text, key);
    for (size_t i = 0; i < view->count; i++)
        data_add_number(text, value(page_view_row(view, view->rows[i])));
    text_add(text, "]");
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
        data_separate(text);
        page_add_string(text, *row->user ? row->user : row->account);
        text_add_bytes(&kinds, letters + (*row->user ? 2 : 0) + !row->own_share, 1);
        data_add_number(&parents, (double)view->numbers[row->parent] - last);
        last = view->numbers[row->parent];
    }
    text_add(text, "]");
    data_add_key(text, "parents");
    text_add(text, parents.bytes);
    text_add(text, "]");
    data_add_word(text, "kinds", kinds.bytes);
    text_free(&parents);
    text_free(&kinds);
}

/* Adds the partitions of rows, and the levels that do not belong to the row's parent. */
static void data_add_exceptions(struct text *text, const struct page_view *view)
{
    data_open_list(text, "partitions");
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, view->rows[i]);
        if (!*row->partition)
            continue;
        data_separate(text);
        text_format(text, "[%zu,", i);
        page_add_string(text, row->partition);
        text_add(text, "]");
    }
    text_add(text, "]");
    data_open_list(text, "levels");
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, view->rows[i]);
        if (row->level == row->parent)
            continue;
        data_separate(text);
        text_format(text, "[%zu,%" PRIu32 "]", i, view->numbers[row->level]);
    }
    text_add(text, "]");
}

/* Adds the numbers of users of each account, and their first and last places. */
static void data_add_counts(struct text *text, const struct page_view *view)
{
    data_open_list(text, "counts");
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, view->rows[i]);
        if (*row->user)
            continue;
        data_separate(text);
        text_format(text, "[%zu,%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", i, row->users,
                    row->first_place, row->last_place);
    }
    text_add(text, "]");
}

static void data_add_rows(struct text *text, const struct page_view *view)
{
    bool ranks = view->cluster->algorithm->ranks_users;
    data_add_tree(text, view);
    data_add_exceptions(text, view);
    data_add_column(text, view, "share", data_share);
    data_add_column(text, view, "used", data_used);
    data_add_column(text, view, "ratio", data_share_ratio);
    data_add_column(text, view, "spent", data_spent);
    data_add_column(text, view, "place", data_place);
    data_add_column(text, view, ranks ? "level" : "factor", ranks ? data_level_ratio : data_factor);
    if (view->whole && !view->cluster->hides_users)
        return;
    data_add_counts(text, view);
    data_add_column(text, view, "ahead", data_ahead);
}

/* ---- Months, forecasts and budgets of the listed rows ---- */

/* Adds a list of the months for each unit. */
static void data_add_months_of(struct text *text, const struct page_cluster *cluster,
                               const float *values, uint32_t row)
{
    text_add(text, ",[");
    for (size_t unit = 0; unit < cluster->unit_count; unit++) {
        data_separate(text);
        text_add(text, "[");
        for (size_t month = cluster->months.first; month < PAGE_MONTHS; month++)
            data_add_number(
                text, data_amount((double)values[page_month_index(cluster, unit, row, month)]));
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
        if (view->part[forecast->row] != PAGE_INSIDE || !forecast->pausing[0])
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
        double amounts[] = { budget->limit, budget->used, budget->running, budget->left };
        if (view->part[budget->row] != PAGE_INSIDE)
            continue;
        data_separate(text);
        text_format(text, "[%" PRIu32 ",", view->numbers[budget->row]);
        page_add_string(text, budget->hours);
        for (size_t k = 0; k < sizeof amounts / sizeof *amounts; k++)
            data_add_number(text, data_amount(amounts[k]));
        text_format(text, ",%d,\"", budget->left <= 0);
        if (budget->ends)
            amount_add_date(text, budget->ends, 1);
        text_add(text, "\"]");
    }
    text_add(text, "]");
}

/* ---- Pending jobs ---- */

/* Returns the number of jobs in the pool that can start. */
static size_t data_pool_length(const struct page_cluster *cluster, const char *pool)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->job_count; i++)
        count += cluster->jobs[i].place && !strcmp(cluster->jobs[i].pool, pool);
    return count;
}

static void data_add_job(struct text *text, const struct page_view *view,
                         const struct page_job *job, size_t length)
{
    data_separate(text);
    text_add(text, "[");
    page_add_string(text, job->job_id);
    text_format(text, ",%" PRIu32 ",", view->numbers[job->row]);
    page_add_string(text, job->partition);
    text_format(text, ",%" PRId64 ",%zu,\"", job->place, length);
    if (job->waiting_s >= 0)
        amount_add_span(text, (double)job->waiting_s);
    text_add(text, "\",");
    page_add_string(text, job->reason);
    text_add(text, ",");
    page_add_string(text, *page_view_row(view, job->row)->user ? "" : job->user);
    text_add(text, "]");
}

/* Adds the first jobs of each row, and the numbers of its other jobs.  Thus the first jobs of each
 * account are in the list, too. */
static void data_add_jobs(struct text *text, const struct page_view *view)
{
    uint32_t *counts = memory_zeroed(view->cluster->row_count, sizeof *counts);
    const char *pool = NULL;
    size_t length = 0;
    data_open_list(text, "jobs");
    for (size_t i = 0; i < view->job_count; i++) {
        const struct page_job *job = &view->cluster->jobs[view->jobs[i]];
        if (counts[job->row]++ >= JOBS_OF_ANSWER)
            continue;
        if (!pool || strcmp(pool, job->pool) != 0)
            length = data_pool_length(view->cluster, job->pool);
        pool = job->pool;
        data_add_job(text, view, job, length);
    }
    text_add(text, "]");
    data_open_list(text, "moreJobs");
    for (size_t i = 0; i < view->count; i++) {
        uint32_t count = counts[view->rows[i]];
        if (count <= JOBS_OF_ANSWER)
            continue;
        data_separate(text);
        text_format(text, "[%zu,%" PRIu32 "]", i, count - JOBS_OF_ANSWER);
    }
    text_add(text, "]");
    free(counts);
}

void page_add_data(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    text_add(text, "{\"cluster\":");
    page_add_string(text, cluster->name);
    data_add_integer(text, "asOf", cluster->as_of);
    data_add_integer(text, "staleAfter", cluster->stale_after);
    data_add_integer(text, "periodDays", (cluster->to - cluster->from) / 86400);
    data_add_integer(text, "users", cluster->users);
    data_add_integer(text, "opened", view->opened ? view->numbers[view->opened] : 0);
    data_add_flag(text, "ranks", cluster->algorithm->ranks_users);
    data_add_flag(text, "anyUsage", cluster->any_usage);
    data_add_flag(text, "hidesUsers", cluster->hides_users);
    data_add_flag(text, "hidesJobs", cluster->hides_jobs);
    data_add_word(text, "period", cluster->period ? cluster->period : "");
    data_add_word(text, "userWord", cluster->terms->user);
    data_add_word(text, "usersWord", cluster->terms->users);
    data_add_word(text, "partitionWord", cluster->terms->partition);
    data_add_integer(text, "unit", (int64_t)cluster->chosen_unit);
    data_open_list(text, "units");
    for (size_t i = 0; i < cluster->unit_count; i++) {
        data_separate(text);
        page_add_string(text, cluster->units[i].hours);
    }
    text_add(text, "]");
    data_add_rows(text, view);
    data_add_months(text, view);
    data_add_forecasts(text, view);
    data_add_budgets(text, view);
    data_add_jobs(text, view);
    text_add(text, "}");
}
