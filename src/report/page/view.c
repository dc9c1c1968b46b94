/* SPDX-License-Identifier: MIT */
#include "report/page/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/backtest.h"
#include "util/index.h"
#include "util/memory.h"

/*
 * The rows of a page are chosen in three steps.  First, page_view_find_below() collects the top and
 * all rows below it, level by level.  Second, page_view_choose_rows() sorts them: accounts before
 * users, then in descending order of decayed usage.  It keeps as many rows as fit, each with its
 * ancestors.  The kept rows are numbered in their original order, so parents come before children.
 * Third, page_view_add_rest() computes, for each kept row, sums over its children that were not
 * kept.
 */

/* Limits that keep a page small.  A row has about fifty bytes, and a number of a series about
 * five. */
#define ROWS_AT_MOST 16000u
#define NUMBERS_AT_MOST 60000u
#define JOBS_AT_MOST 500u
#define QUEUES_AT_MOST 12u
#define TRIALS_AT_MOST 1000u

size_t page_series_room(size_t numbers)
{
    return 1 + NUMBERS_AT_MOST / (numbers ? numbers : 1);
}

/* Collects the top and all rows below it, level by level. */
static void page_view_find_below(struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    view->rows = memory_zeroed(cluster->row_count, sizeof *view->rows);
    view->numbers = memory_zeroed(cluster->row_count, sizeof *view->numbers);
    memset(view->numbers, 0xff, cluster->row_count * sizeof *view->numbers);
    view->rows[view->count++] = view->top;
    for (size_t i = 0; i < view->count; i++) {
        const struct page_row *row = &cluster->rows[view->rows[i]];
        view->numbers[view->rows[i]] = PAGE_LEFT_OUT;
        for (uint32_t child = 0; child < row->children; child++)
            view->rows[view->count++] = row->first_child + child;
    }
    view->below = view->count;
}

static int page_view_by_weight(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    if (!*one->user != !*other->user)
        return *one->user ? 1 : -1;
    if (one->usage != other->usage)
        return one->usage > other->usage ? -1 : 1;
    if (one->whole != other->whole)
        return one->whole > other->whole ? -1 : 1;
    return (one > other) - (one < other); /* parents before children */
}

/*
 * Adds a row and its ancestors to the page, and subtracts their number from `*room`.  Returns
 * false, and adds nothing, if they do not fit.
 */
static bool page_view_take_row(struct page_view *view, uint32_t row, size_t *room)
{
    const struct page_row *rows = view->cluster->rows;
    size_t needed = 0;
    for (uint32_t at = row; view->numbers[at] == PAGE_LEFT_OUT; at = rows[at].parent) {
        needed++;
        if (at == view->top)
            break;
    }
    if (needed > *room)
        return false;
    *room -= needed;
    for (uint32_t at = row; view->numbers[at] == PAGE_LEFT_OUT; at = rows[at].parent)
        view->numbers[at] = 0;
    return true;
}

static void page_view_choose_rows(struct page_view *view)
{
    uint32_t *order = memory_zeroed(view->count, sizeof *order);
    size_t room = ROWS_AT_MOST, kept = 0;
    memcpy(order, view->rows, view->count * sizeof *order);
    qsort_r(order, view->count, sizeof *order, page_view_by_weight, view->cluster->rows);
    for (size_t i = 0; i < view->count && room; i++)
        if (!page_view_take_row(view, order[i], &room))
            break;
    free(order);
    for (size_t i = 0; i < view->count; i++)
        if (view->numbers[view->rows[i]] != PAGE_LEFT_OUT) {
            view->numbers[view->rows[i]] = (uint32_t)kept;
            view->rows[kept++] = view->rows[i];
        }
    view->count = kept;
}

static void page_view_add_rest(struct page_view *view, uint32_t number)
{
    const struct page_row *row = page_view_row(view, number);
    struct page_rest rest = { .number = number };
    for (uint32_t i = row->first_child; i < row->first_child + row->children; i++) {
        const struct page_row *child = &view->cluster->rows[i];
        if (view->numbers[i] != PAGE_LEFT_OUT)
            continue;
        rest.children++;
        rest.shares += child->shares < 0 ? 1 : (double)child->shares;
        rest.share += isnan(child->whole) ? 0 : child->whole;
        rest.usage += isnan(child->usage) ? 0 : child->usage;
    }
    if (!rest.children)
        return;
    *memory_append(&view->rests, &view->rest_count) = rest;
}

static void page_view_choose_series(struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    size_t room = page_series_room(cluster->days.count + 3 * cluster->times.count);
    view->series = memory_zeroed(room, sizeof *view->series);
    for (size_t i = 0; i < cluster->series_count && view->series_count < room; i++)
        if (view->numbers[cluster->series[i]] < PAGE_LEFT_OUT)
            view->series[view->series_count++] = i;
}

const size_t *page_view_top_series(const struct page_view *view)
{
    for (size_t i = 0; i < view->series_count; i++)
        if (view->cluster->series[view->series[i]] == view->top)
            return &view->series[i];
    return NULL;
}

bool page_has_tres(const struct page_cluster *cluster, size_t series, size_t tres)
{
    for (size_t i = 0; i < cluster->days.count; i++)
        if (page_tres_hours(cluster, i, series, tres) > 0)
            return true;
    return false;
}

static int by_length(const void *a, const void *b)
{
    const struct page_queue *one = a, *other = b;
    if (one->jobs != other->jobs)
        return one->jobs > other->jobs ? -1 : 1;
    return strcmp(one->name, other->name);
}

/* Adds 1 to the number of jobs in the partition, or with the QOS, of this name. */
static void count_job(struct page_queues *queues, struct names *names, const char *name)
{
    uint32_t number = names_add(names, name, strlen(name));
    if (number == queues->count)
        *memory_append(&queues->queues, &queues->count) = (struct page_queue){ .name = name };
    queues->queues[number].jobs++;
}

static void sort_queues(struct page_queues *queues)
{
    if (queues->count)
        qsort(queues->queues, queues->count, sizeof *queues->queues, by_length);
    for (size_t i = QUEUES_AT_MOST; i < queues->count; i++)
        queues->queues[QUEUES_AT_MOST - 1].jobs += queues->queues[i].jobs;
    if (queues->count > QUEUES_AT_MOST) {
        queues->queues[QUEUES_AT_MOST - 1].name = NULL;
        queues->count = QUEUES_AT_MOST;
    }
}

static void choose_jobs(struct page_view *view)
{
    const struct page_cluster *cluster = view->cluster;
    struct names *partitions = names_create(), *qos = names_create();
    view->jobs = memory_zeroed(JOBS_AT_MOST, sizeof *view->jobs);
    for (size_t i = 0; i < cluster->job_count; i++) {
        const struct page_job *job = &cluster->jobs[i];
        if (view->numbers[job->row] == PAGE_NOT_BELOW)
            continue;
        view->job_total++;
        if (cluster->accounts_only)
            continue;
        if (view->job_count < JOBS_AT_MOST)
            view->jobs[view->job_count++] = i;
        count_job(&view->partitions, partitions, job->partition);
        count_job(&view->qos, qos, job->qos);
    }
    names_destroy(partitions);
    names_destroy(qos);
    sort_queues(&view->partitions);
    sort_queues(&view->qos);
}

static int by_turned(const void *a, const void *b, void *of)
{
    const struct page_trial *one = a, *other = b;
    const struct page_view *view = of;
    bool one_is_user = *page_view_row(view, one->number)->user;
    if (one_is_user != (*page_view_row(view, other->number)->user != '\0'))
        return one_is_user ? 1 : -1;
    if (one->turned < other->turned || one->turned > other->turned)
        return one->turned > other->turned ? -1 : 1;
    return (one->number > other->number) - (one->number < other->number);
}

/* The root is omitted: with any settings it has all of the entitlement and all of the usage. */
static void choose_trials(struct page_view *view)
{
    const struct page_backtest *backtest = view->cluster->backtest;
    if (!backtest)
        return;
    view->trials = memory_zeroed(view->count + 1, sizeof *view->trials);
    for (uint32_t i = view->top ? 0 : 1; i < view->count; i++) {
        const struct page_backtest_row *row =
            page_backtest_row(backtest, page_view_row(view, i)->id);
        if (row)
            view->trials[view->trial_total++] =
                (struct page_trial){ i, page_backtest_turned(backtest, row), row };
    }
    qsort_r(view->trials, view->trial_total, sizeof *view->trials, by_turned, view);
    view->trial_count = view->trial_total < TRIALS_AT_MOST ? view->trial_total : TRIALS_AT_MOST;
}

void page_view_make(struct page_view *view, const struct page_cluster *cluster, uint32_t top)
{
    *view = (struct page_view){ .cluster = cluster, .top = top };
    page_view_find_below(view);
    page_view_choose_rows(view);
    for (uint32_t i = 0; view->count < view->below && i < view->count; i++)
        page_view_add_rest(view, i);
    page_view_choose_series(view);
    choose_jobs(view);
    choose_trials(view);
}

void page_view_free(struct page_view *view)
{
    free(view->rows);
    free(view->numbers);
    free(view->series);
    free(view->rests);
    free(view->jobs);
    free(view->partitions.queues);
    free(view->qos.queues);
    free(view->trials);
}
