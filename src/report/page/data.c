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
#include "util/clock.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * The JSON of a cluster.  Values are in lists without names, because that is short.  Numbers are
 * rounded as the page displays them.  Rows are numbered as in the view.
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

/* Adds null for NAN. */
static void data_add_number(struct text *text, double number)
{
    data_separate(text);
    if (fabs(number) < 1e9 && number == (int)number)
        text_format(text, "%d", (int)number); /* most numbers are whole; this is faster */
    else
        text_format(text, isnan(number) ? "null" : "%.12g", number);
}

/* Adds a whole number; 0.5 is displayed as `< 1`. */
static void data_add_amount(struct text *text, double amount)
{
    data_add_number(text, amount > 0 && amount < 1 ? 0.5 : round(amount));
}

/* Returns the ratio as it is displayed; -1 for 0 shares, whose ratio is infinite. */
static double data_ratio(double ratio)
{
    return isnan(ratio) ? 0 : isinf(ratio) ? -1 : amount_ratio(ratio);
}

/* ---- Rows ---- */

/* Adds 1 for a user, 2 for a share of its own and 4 for a row that is only compared. */
static void data_add_kind(struct text *text, const struct page_view *view, uint32_t row)
{
    const struct page_row *of = page_view_row(view, row);
    bool compared = view->part[row] != PAGE_INSIDE;
    data_add_number(text, (*of->user ? 1 : 0) + 2 * of->own_share + 4 * compared);
}

/* Returns true if scripts can count the users ahead, because the page has all users. */
static bool data_is_complete(const struct page_view *view)
{
    return view->whole && !view->cluster->hides_users;
}

/* The number of the parent is the difference from that of the row before.  Most users need
 * only the first values: their level is that of their parent. */
static void data_add_row(struct text *text, const struct page_view *view, size_t number)
{
    const struct page_row *row = page_view_row(view, view->rows[number]);
    uint32_t before = number ? page_view_row(view, view->rows[number - 1])->parent : 0;
    bool ranks = view->cluster->algorithm->ranks_users;
    text_add(text, number ? ",[" : "[");
    data_add_word(text, *row->user ? row->user : row->account);
    data_add_kind(text, view, view->rows[number]);
    data_add_number(text, (double)view->numbers[row->parent] - view->numbers[before]);
    data_add_number(text, row->own_share ? amount_percent(row->share) : 0);
    data_add_number(text, amount_percent(row->used));
    data_add_number(text, data_ratio(row->ratio));
    data_add_amount(text, row->spent);
    data_add_number(text, row->place);
    if (ranks)
        data_add_number(text, data_ratio(row->level_ratio));
    else
        text_format(text, ",%.4f", isnan(row->factor) ? 0 : row->factor);
    if (*row->user && data_is_complete(view) && !*row->partition && row->level == row->parent &&
        row->jobs <= JOBS_OF_ANSWER) {
        text_add(text, "]");
        return;
    }
    data_add_word(text, row->partition);
    data_add_number(text, view->numbers[row->level]);
    data_add_number(text, row->jobs);
    data_add_number(text, row->users);
    data_add_number(text, row->first_place);
    data_add_number(text, row->last_place);
    data_add_number(text, row->ahead);
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

static void data_add_days(struct text *text, const uint32_t *places)
{
    text_add(text, ",[");
    for (int day = 0; day <= PAGE_DAYS; day++)
        data_add_number(text, places[day]);
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

static void data_add_job(struct text *text, const struct page_view *view,
                         const struct page_job *job)
{
    bool is_user = *page_view_row(view, job->row)->user != '\0';
    text_add(text, "[");
    data_add_word(text, job->job_id);
    data_add_number(text, view->numbers[job->row]);
    data_add_word(text, job->partition);
    data_add_word(text, strcmp(job->pool, job->partition) != 0 ? job->pool : "");
    data_add_number(text, (double)job->place);
    data_add_number(text, (double)job->pool_jobs);
    text_add(text, ",\"");
    if (job->waiting_s >= 0)
        amount_add_span(text, (double)job->waiting_s);
    text_add(text, "\"");
    data_add_word(text, *job->detail ? job->detail : job->reason);
    data_add_word(text, is_user ? "" : job->user);
    text_add(text, "]");
}

/* Adds the first jobs of each row.  Thus the first jobs of each account are in the list, too. */
static void data_add_jobs(struct text *text, const struct page_view *view)
{
    uint32_t *counts = memory_zeroed(view->cluster->row_count, sizeof *counts);
    data_next_list(text, "jobs");
    for (size_t i = 0; i < view->job_count; i++) {
        const struct page_job *job = &view->cluster->jobs[view->jobs[i]];
        if (counts[job->row]++ >= JOBS_OF_ANSWER)
            continue;
        data_separate(text);
        data_add_job(text, view, job);
    }
    free(counts);
}

void page_add_data(struct text *text, const struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    text_format(text, "{\"asOf\":%" PRId64 ",\"staleAfter\":%" PRId64 ",\"stoppedAt\":%" PRId64,
                cluster->as_of, cluster->stale_after, clock_is_stopped() ? clock_now() : 0);
    text_format(text, ",\"periodDays\":%.4g", (double)(cluster->to - cluster->from) / 86400);
    text_format(text, ",\"users\":%" PRIu32 ",\"opened\":%" PRIu32 ",\"unit\":%zu", cluster->users,
                view->opened ? view->numbers[view->opened] : 0, cluster->chosen_unit);
    text_format(text,
                ",\"complete\":%d,\"ranks\":%d,\"anyUsage\":%d,\"hidesUsers\":%d,\"hidesJobs\":%d,"
                "\"hasBudgets\":%d,\"fades\":%d",
                data_is_complete(view), cluster->algorithm->ranks_users, cluster->any_usage,
                cluster->hides_users, cluster->hides_jobs, !cluster->by_formula,
                cluster->half_life != 0);
    data_add_member(text, "cluster", cluster->name);
    data_add_member(text, "period", cluster->period);
    data_add_member(text, "userWord", cluster->terms->user);
    data_add_member(text, "usersWord", cluster->terms->users);
    data_add_member(text, "partitionWord", cluster->terms->partition);
    text_add(text, ",\n\"units\":[");
    for (size_t i = 0; i < cluster->unit_count; i++)
        data_add_word(text, cluster->units[i].hours);
    data_next_list(text, "rows");
    for (size_t i = 0; i < view->count; i++)
        data_add_row(text, view, i);
    data_add_months(text, view);
    data_add_forecasts(text, view);
    data_add_budgets(text, view);
    data_add_jobs(text, view);
    text_add(text, "]}");
}
