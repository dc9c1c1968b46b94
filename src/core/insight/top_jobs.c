/* SPDX-License-Identifier: MIT */
#include "core/insight/top_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "core/usage/usage.h"
#include "util/calendar.h"
#include "util/index.h"
#include "util/memory.h"

/* The suspended time of a record, as usage to subtract. */
struct top_jobs_suspended {
    uint64_t id_job, start;
    struct wide used, left;
    uint32_t next; /* index of the next record of the same job, or INDEX_NONE */
};

struct suspended_jobs {
    struct id_index *first; /* maps a job id to the index of its first record */
    struct top_jobs_suspended *records;
    uint32_t count;
};

static struct top_jobs_suspended *top_jobs_find(struct suspended_jobs *all, uint64_t id_job,
                                                uint64_t start)
{
    for (uint32_t i = id_index_find(all->first, id_job); i != INDEX_NONE; i = all->records[i].next)
        if (all->records[i].start == start)
            return &all->records[i];
    return NULL;
}

static struct top_jobs_suspended *top_jobs_insert(struct suspended_jobs *all, uint64_t id_job,
                                                  uint64_t start)
{
    uint32_t before = id_index_add(all->first, id_job, all->count), next = INDEX_NONE;
    all->records = memory_grown(all->records, all->count, sizeof *all->records);
    if (before != INDEX_NONE) {
        next = all->records[before].next;
        all->records[before].next = all->count;
    }
    all->records[all->count] =
        (struct top_jobs_suspended){ .id_job = id_job, .start = start, .next = next };
    return &all->records[all->count++];
}

bool top_jobs_suspend(struct top_jobs *top_jobs, uint64_t id_job, uint64_t start,
                      const struct charge_term *taken_back, uint128 seconds)
{
    if (!top_jobs->suspensions) {
        top_jobs->suspensions = memory_zeroed(1, sizeof *top_jobs->suspensions);
        top_jobs->suspensions->first = id_index_create();
    }
    struct top_jobs_suspended *suspended = top_jobs_find(top_jobs->suspensions, id_job, start);
    if (!suspended)
        suspended = top_jobs_insert(top_jobs->suspensions, id_job, start);
    return wide_add_product(&suspended->used, taken_back->units, seconds, false) &&
           wide_add_product(&suspended->left, taken_back->units, taken_back->weight, false);
}

static bool is_heavier(const struct top_job *one, const struct top_job *other)
{
    struct natural first = natural_of_wide(&one->left), second = natural_of_wide(&other->left);
    int order = natural_compare(&first, &second);
    if (order)
        return order > 0;
    return one->id_job != other->id_job ? one->id_job < other->id_job : one->start < other->start;
}

static void top_jobs_keep(struct top_jobs *top_jobs, const struct top_job *record)
{
    size_t at = top_jobs->count < TOP_JOBS_KEPT ? top_jobs->count++ : TOP_JOBS_KEPT - 1;
    if (top_jobs->seen > TOP_JOBS_KEPT && !is_heavier(record, &top_jobs->kept[at]))
        return;
    for (; at > 0 && is_heavier(record, &top_jobs->kept[at - 1]); at--)
        top_jobs->kept[at] = top_jobs->kept[at - 1];
    top_jobs->kept[at] = *record;
}

bool top_jobs_end(struct top_jobs *top_jobs)
{
    struct top_job record = top_jobs->open;
    if (!top_jobs->number)
        return true;
    top_jobs->number = 0;
    const struct top_jobs_suspended *suspended =
        top_jobs->suspensions ? top_jobs_find(top_jobs->suspensions, record.id_job, record.start)
                              : NULL;
    if (suspended && (!wide_subtract(&record.used, &suspended->used) ||
                      !wide_subtract(&record.left, &suspended->left)))
        return false;
    top_jobs->seen++;
    if (!wide_add(&top_jobs->left, &record.left))
        return false;
    top_jobs_keep(top_jobs, &record);
    return true;
}

bool top_jobs_add(struct top_jobs *top_jobs, const struct decay_table *plain,
                  const struct charge_term *term, uint64_t number, struct top_job record)
{
    struct top_job *open = &top_jobs->open;
    if (number != top_jobs->number) {
        if (!top_jobs_end(top_jobs))
            return false;
        *open = record;
        open->used = open->left = (struct wide){ { 0 } };
        top_jobs->number = number;
    }
    return wide_add_product(&open->used, term->units,
                            decay_table_weight(plain, term->start, term->end), false) &&
           wide_add_product(&open->left, term->units, term->weight, false);
}

void top_jobs_free(struct top_jobs *top_jobs)
{
    if (!top_jobs->suspensions)
        return;
    id_index_destroy(top_jobs->suspensions->first);
    free(top_jobs->suspensions->records);
    free(top_jobs->suspensions);
}

/* ---- daily usage ---- */

/* Returns the number of days that begin at or before `time`. */
static size_t begun(const struct daily_usage *days, uint64_t time)
{
    size_t low = 0, high = days->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (days->days[middle].first <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the day that contains `time`.  The calendar is slow, so it is used only once for each
 * day. */
static struct usage_day *day_of(struct daily_usage *days, uint64_t time)
{
    size_t at = begun(days, time);
    if (at && time < days->days[at - 1].next)
        return &days->days[at - 1];
    days->days = memory_grown(days->days, days->count, sizeof *days->days);
    memmove(days->days + at + 1, days->days + at, (days->count - at) * sizeof *days->days);
    days->count++;
    days->days[at] =
        (struct usage_day){ .first = calendar_day(time), .next = calendar_next_day(time) };
    return &days->days[at];
}

bool daily_usage_add(struct daily_usage *days, const struct decay_table *plain,
                     const struct decay_table *decay, const struct charge_term *term, bool negative)
{
    for (uint64_t from = term->start; from < term->end;) {
        struct usage_day *day = day_of(days, from);
        uint64_t to = term->end < day->next ? term->end : day->next;
        if (!wide_add_product(&day->used, term->units, decay_table_weight(plain, from, to),
                              negative) ||
            !wide_add_product(&day->left, term->units, decay_table_weight(decay, from, to),
                              negative))
            return false;
        from = to;
    }
    return true;
}

static int by_left(const void *a, const void *b)
{
    const struct usage_day *one = a, *other = b;
    struct natural first = natural_of_wide(&one->left), second = natural_of_wide(&other->left);
    int order = natural_compare(&second, &first);
    return order ? order : (one->first < other->first) - (one->first > other->first);
}

void daily_usage_rank(struct daily_usage *days)
{
    if (days->count)
        qsort(days->days, days->count, sizeof *days->days, by_left);
}

void daily_usage_free(struct daily_usage *days)
{
    free(days->days);
}
