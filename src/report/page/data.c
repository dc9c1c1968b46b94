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

/* Ends the list before, and begins the next one. */
static void data_next_list(struct text *text, const char *key)
{
    text_format(text, "],\n\"%s\":[", key);
}

/* Adds a comma unless a list has just begun. */
static void data_separate(struct text *text)
{
    text_add(text, text->length && text->bytes[text->length - 1] != '[' ? "," : "");
}

static void data_add_word(struct text *text, const char *word)
{
    data_separate(text);
    page_add_string(text, word);
}

static void data_begin_item(struct text *text, size_t row)
{
    data_separate(text);
    text_format(text, "[%zu", row);
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
    data_add_number(text, isnan(ratio) ? 0 : isinf(ratio) ? ratio : amount_ratio(ratio));
}

/* ---- Rows ---- */

/* The columns, and lists with items of only some rows.  Numbers of parents are differences from the
 * row before.  Levels are those that do not belong to the row's parent.  Pending jobs are those of
 * rows with more than an answer lists.  Counts are the users of an account, and their first and
 * last places. */
enum data_column {
    DATA_NAMES,
    DATA_PARENTS,
    DATA_SHARE,
    DATA_USED,
    DATA_RATIO,
    DATA_SPENT,
    DATA_PLACE,
    DATA_LEVEL,
    DATA_FACTOR,
    DATA_LEVELS,
    DATA_PENDING,
    DATA_AHEAD,
    DATA_COUNTS,
    DATA_COLUMNS
};
static const char *const data_keys[] = { "names",   "parents", "share", "used",   "ratio",
                                         "spent",   "place",   "level", "factor", "levels",
                                         "pending", "ahead",   "counts" };

/* Adds a name, or a list of the name and the partition. */
static void data_add_name(struct text *names, const struct page_row *row)
{
    const char *name = *row->user ? row->user : row->account;
    data_separate(names);
    text_add(names, *row->partition ? "[" : "");
    page_add_string(names, name);
    if (*row->partition) {
        data_add_word(names, row->partition);
        text_add(names, "]");
    }
}

static void data_add_exceptions(struct text *columns, const struct page_view *view, size_t number)
{
    const struct page_row *row = page_view_row(view, view->rows[number]);
    if (row->level != row->parent) {
        data_begin_item(&columns[DATA_LEVELS], number);
        text_format(&columns[DATA_LEVELS], ",%" PRIu32 "]", view->numbers[row->level]);
    }
    if (row->jobs > JOBS_OF_ANSWER) {
        data_begin_item(&columns[DATA_PENDING], number);
        text_format(&columns[DATA_PENDING], ",%" PRIu32 "]", row->jobs);
    }
    if (!*row->user) {
        data_begin_item(&columns[DATA_COUNTS], number);
        text_format(&columns[DATA_COUNTS], ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", row->users,
                    row->first_place, row->last_place);
    }
}

static void data_add_row(struct text *columns, const struct page_view *view, size_t number)
{
    const struct page_row *row = page_view_row(view, view->rows[number]);
    uint32_t before = number ? page_view_row(view, view->rows[number - 1])->parent : 0;
    data_add_name(&columns[DATA_NAMES], row);
    data_add_number(&columns[DATA_PARENTS],
                    (double)view->numbers[row->parent] - view->numbers[before]);
    data_add_number(&columns[DATA_SHARE], row->own_share ? amount_percent(row->share) : 0);
    data_add_number(&columns[DATA_USED], amount_percent(row->used));
    data_add_ratio(&columns[DATA_RATIO], row->ratio);
    data_add_amount(&columns[DATA_SPENT], row->spent);
    data_add_number(&columns[DATA_PLACE], row->place);
    data_add_ratio(&columns[DATA_LEVEL], row->level_ratio);
    data_separate(&columns[DATA_FACTOR]);
    text_format(&columns[DATA_FACTOR], "%.4f", isnan(row->factor) ? 0 : row->factor);
    data_add_number(&columns[DATA_AHEAD], row->ahead);
    data_add_exceptions(columns, view, number);
}

/* The kinds are one letter a row: u for a user, v for a user with `parent` shares, a and b for
 * accounts, and capital letters for rows that are only compared. */
static void data_add_rows(struct text *text, const struct page_view *view)
{
    struct text columns[DATA_COLUMNS] = { 0 }, kinds = { 0 };
    bool ranks = view->cluster->algorithm->ranks_users;
    bool complete = view->whole && !view->cluster->hides_users; /* scripts can count */
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = page_view_row(view, view->rows[i]);
        const char *letters = view->part[view->rows[i]] == PAGE_INSIDE ? "abuv" : "ABUV";
        text_add_bytes(&kinds, letters + (*row->user ? 2 : 0) + !row->own_share, 1);
        data_add_row(columns, view, i);
    }
    data_next_list(text, "kinds");
    data_add_word(text, kinds.bytes);
    for (enum data_column i = DATA_NAMES; i < DATA_COLUMNS; i++) {
        if (i != (ranks ? DATA_FACTOR : DATA_LEVEL) && (i < DATA_AHEAD || !complete)) {
            data_next_list(text, data_keys[i]);
            text_add(text, columns[i].length ? columns[i].bytes : "");
        }
        text_free(&columns[i]);
    }
    text_free(&kinds);
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
    data_next_list(text, "monthNames");
    for (size_t i = months->first; i < PAGE_MONTHS; i++) {
        text_add(text, i > months->first ? ",\"" : "\"");
        amount_add_month(text, months->starts[i]);
        text_add(text, "\"");
    }
    data_next_list(text, "months");
    for (size_t i = 0; months->used && i < view->count; i++) {
        uint32_t row = view->rows[i];
        if (!page_view_row(view, row)->listed_months || view->part[row] != PAGE_INSIDE)
            continue;
        data_begin_item(text, i);
        data_add_months_of(text, view->cluster, months->used, row);
        data_add_months_of(text, view->cluster, months->due, row);
        text_add(text, "]");
    }
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
    data_next_list(text, "days");
    for (int day = 0; day <= PAGE_DAYS; day++) {
        text_add(text, day ? ",\"" : "\"");
        amount_add_date(text, view->cluster->as_of + day * INT64_C(86400), 0);
        text_add(text, "\"");
    }
    data_next_list(text, "forecasts");
    for (size_t i = 0; i < view->cluster->forecast_count; i++) {
        const struct page_forecast *forecast = &view->cluster->forecasts[i];
        if (!page_view_row(view, forecast->row)->listed_forecast ||
            view->part[forecast->row] != PAGE_INSIDE)
            continue;
        data_begin_item(text, view->numbers[forecast->row]);
        data_add_days(text, forecast->pausing);
        data_add_days(text, forecast->continuing);
        text_add(text, "]");
    }
}

static void data_add_budgets(struct text *text, const struct page_view *view)
{
    data_next_list(text, "budgets");
    for (size_t i = 0; i < view->cluster->budget_count; i++) {
        const struct page_budget *budget = &view->cluster->budgets[i];
        if (view->part[budget->row] != PAGE_INSIDE)
            continue;
        data_begin_item(text, view->numbers[budget->row]);
        data_add_word(text, budget->hours);
        data_add_amount(text, budget->limit);
        data_add_amount(text, budget->used);
        data_add_amount(text, budget->running);
        data_add_amount(text, budget->left);
        text_format(text, ",%" PRId64 ",\"", budget->ends);
        if (budget->ends)
            amount_add_date(text, budget->ends, 1);
        text_add(text, "\"]");
    }
}

/* ---- Pending jobs ---- */

/* Returns the number of the job's partition, and notes the length of its pool. */
static size_t data_find_pool(const struct page_cluster *cluster, const struct page_job *job,
                             size_t *lengths)
{
    size_t i = 0;
    while (i < cluster->partition_count && strcmp(cluster->partitions[i].name, job->partition) != 0)
        i++;
    lengths[i] = job->pool_jobs;
    return i;
}

static void data_add_job(struct text *text, const struct page_view *view,
                         const struct page_job *job, size_t pool)
{
    data_separate(text);
    text_add(text, "[");
    data_add_word(text, job->job_id);
    text_format(text, ",%" PRIu32 ",%zu,%" PRId64 ",\"", view->numbers[job->row], pool, job->place);
    if (job->waiting_s >= 0)
        amount_add_span(text, (double)job->waiting_s);
    text_add(text, "\"");
    bool has_row = *page_view_row(view, job->row)->user != '\0';
    if (page_job_cannot_start(job) || !has_row)
        data_add_word(text, *job->detail ? job->detail : job->reason);
    if (!has_row)
        data_add_word(text, job->user);
    text_add(text, "]");
}

/* Adds the first jobs of each row.  Thus the first jobs of each account are in the list, too. */
static void data_add_jobs(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    uint32_t *counts = memory_zeroed(cluster->row_count, sizeof *counts);
    size_t *lengths = memory_zeroed(cluster->partition_count + 1, sizeof *lengths);
    data_next_list(text, "jobs");
    for (size_t i = 0; i < view->job_count; i++) {
        const struct page_job *job = &cluster->jobs[view->jobs[i]];
        if (counts[job->row]++ < JOBS_OF_ANSWER)
            data_add_job(text, view, job, data_find_pool(cluster, job, lengths));
    }
    data_next_list(text, "pools");
    for (size_t i = 0; i <= cluster->partition_count; i++) {
        text_add(text, i ? ",[" : "[");
        data_add_word(text, i < cluster->partition_count ? cluster->partitions[i].name : "");
        text_format(text, ",%zu]", lengths[i]);
    }
    free(lengths);
    free(counts);
}

void page_add_data(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    text_format(text, "{\"asOf\":%" PRId64 ",\"staleAfter\":%" PRId64 ",\"periodDays\":%.4g",
                cluster->as_of, cluster->stale_after,
                (double)(cluster->to - cluster->from) / 86400);
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
    text_add(text, ",\n\"units\":[");
    for (size_t i = 0; i < cluster->unit_count; i++)
        data_add_word(text, cluster->units[i].hours);
    data_add_rows(text, view);
    data_add_months(text, view);
    data_add_forecasts(text, view);
    data_add_budgets(text, view);
    data_add_jobs(text, view);
    text_add(text, "]}");
}
