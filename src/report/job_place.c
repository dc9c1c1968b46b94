/* SPDX-License-Identifier: MIT */
#include "report/job_place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/priority/formula_jobs.h"
#include "core/priority/priority.h"
#include "report/priorities.h"
#include "report/terminal.h"
#include "settings/scheduler.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

/* Longer lists of partitions are cut. */
#define PARTITIONS_AT_MOST 6

struct job_reason {
    const char *name, *label;
    /* The clause: `before`, `reason_detail` and `after`, or without a detail `clause`. */
    const char *before, *after, *clause;
    /* A sentence that says how to change it, in which `%s` is the number of the job. */
    const char *remedy;
};

#define ELSEWHERE "hoose another partition with `scontrol update JobId=%s Partition=NAME`"

static const struct job_reason job_reasons[] = {
    { PRIORITY_JOB_HELD, "held", "it is ", "", "it is held",
      "`scontrol release %s` releases it, unless an administrator holds it." },
    { PRIORITY_JOB_BEGIN, "begin time", "it ", "", "its begin time has not come",
      "To start it earlier, use `scontrol update JobId=%s StartTime=now`." },
    { PRIORITY_JOB_DEPENDENCY, "dependency", "it ", "", "it waits for another job",
      "`scontrol show job %s` shows the dependency. If it can never be met, cancel the job." },
    { PRIORITY_JOB_TOO_LARGE, "too large", "it ", "",
      "it asks for more than its partition has or allows", "Ask for less, or c" ELSEWHERE "." },
    { PRIORITY_JOB_PARTITION_UNKNOWN, "no partition", "", "", "slurm.conf lacks its partition",
      "C" ELSEWHERE ", or ask the administrators." },
    { PRIORITY_JOB_PARTITION_DOWN, "partition down", "", "", "its partition is down",
      "C" ELSEWHERE ", or wait until the administrators open this one." },
    { PRIORITY_JOB_ARRAY_LIMIT, "array limit", "", ", and so many run",
      "as many tasks of its array run as the array allows",
      "`scontrol update JobId=%s ArrayTaskThrottle=NUMBER` changes this limit." },
    { PRIORITY_JOB_LOST, "lost", "it has been ", ", longer than any limit allows",
      "it has been pending for longer than any limit allows",
      "slurmctld probably lost it: if `squeue -j %s` does not list it, ask the administrators to "
      "remove it with `sacctmgr show runawayjobs`." },
};

static const struct job_reason *job_reason_named(const char *name)
{
    for (size_t i = 0; i < sizeof job_reasons / sizeof *job_reasons; i++)
        if (!strcmp(job_reasons[i].name, name))
            return &job_reasons[i];
    return NULL;
}

const char *job_reason_label(const struct prio_row *job)
{
    const struct job_reason *reason = job_reason_named(job->reason);
    return reason ? reason->label : job->reason;
}

struct text job_reason_text(const struct prio_row *job)
{
    struct text text = { 0 };
    const struct job_reason *reason = job_reason_named(job->reason);
    text_add(&text, "");
    if (!job->place && job->why)
        text_add_printable(&text, prio_why(job->why));
    else if (reason && *job->detail)
        text_format_printable(&text, "%s%s%s", reason->before, job->detail, reason->after);
    else if (*job->reason)
        text_add_printable(&text, reason ? reason->clause : job->reason);
    return text;
}

static bool job_is_in_pool(const struct prio_row *row, const char *pool)
{
    return row->place && !strcmp(row->pool, pool);
}

static int job_by_place(const void *a, const void *b)
{
    const struct prio_row *one = *(const struct prio_row *const *)a,
                          *other = *(const struct prio_row *const *)b;
    if (one->key != other->key)
        return one->key > other->key ? 1 : -1;
    return (one->place > other->place) - (one->place < other->place);
}

/* A job with several rows in the pool counts once, with its first place. */
struct job_pool job_pool_of(const struct prio_list *list, const struct prio_row *job)
{
    struct job_pool pool = { 0, 0 };
    const struct prio_row **rows = memory_zeroed(list->count + 1, sizeof *rows);
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (job_is_in_pool(&list->rows[i], job->pool))
            rows[count++] = &list->rows[i];
    if (count)
        qsort(rows, count, sizeof *rows, job_by_place);
    for (size_t i = 0; i < count; i++) {
        if (i && rows[i]->key == rows[i - 1]->key)
            continue;
        pool.jobs++;
        pool.tied += rows[i]->key != job->key && rows[i]->place == job->place;
    }
    free(rows);
    return pool;
}

int job_order(const struct prio_row *one, const struct prio_row *other)
{
    if (one->tier != other->tier)
        return one->tier > other->tier ? 1 : -1;
    return (one->priority > other->priority) - (one->priority < other->priority);
}

int job_queue_order(const void *a, const void *b)
{
    const struct prio_row *one = a, *other = b;
    if (!one->place != !other->place)
        return one->place ? -1 : 1;
    int pools = strcmp(one->pool, other->pool);
    if (pools)
        return pools;
    if (one->place != other->place)
        return one->place < other->place ? -1 : 1;
    int order = job_order(one, other);
    if (order)
        return -order;
    return (one->id_job > other->id_job) - (one->id_job < other->id_job);
}

bool jobs_compete(const struct prio_row *one, const struct prio_row *other)
{
    return one->place && other->place && !strcmp(one->pool, other->pool);
}

/* Returns the best row in the pool for the job of `job`, or NULL if it cannot start there. */
static const struct prio_row *job_row_in_pool(const struct prio_list *list,
                                              const struct prio_row *job, const char *pool)
{
    const struct prio_row *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row->key == job->key && job_is_in_pool(row, pool) &&
            (!found || job_order(row, found) > 0))
            found = row;
    }
    return found;
}

void jobs_find_shared_pool(const struct prio_list *list, const struct prio_row **one,
                           const struct prio_row **other)
{
    const struct prio_row *first = *one, *second = NULL;
    if (!first->place || !(*other)->place || jobs_compete(first, *other))
        return;
    second = job_row_in_pool(list, *other, first->pool);
    for (size_t i = 0; !second && i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row->key == (*one)->key && row->place &&
            (second = job_row_in_pool(list, *other, row->pool)))
            first = job_row_in_pool(list, *one, row->pool);
    }
    if (second) {
        *one = first;
        *other = second;
    }
}

/* ---- Sentences ---- */

/* Adds the pool and, if its pending jobs are in several partitions, the names of these. */
static void job_place_add_pool(struct text *line, const struct prio_list *list, const char *pool)
{
    struct names *partitions = names_create();
    if (!*pool)
        return names_destroy(partitions);
    for (size_t i = 0; i < list->count; i++)
        if (job_is_in_pool(&list->rows[i], pool))
            names_add(partitions, list->rows[i].partition, strlen(list->rows[i].partition));
    uint32_t count = names_count(partitions);
    text_format_printable(line, " in pool '%s'", pool);
    for (uint32_t i = 0; count > 1 && i < count && i < PARTITIONS_AT_MOST; i++)
        text_format_printable(line, "%s'%s'", i ? ", " : " (partitions ",
                              names_text(partitions, i));
    if (count > PARTITIONS_AT_MOST)
        text_format(line, " and %" PRIu32 " more", count - PARTITIONS_AT_MOST);
    text_add(line, count > 1 ? ")" : "");
    names_destroy(partitions);
}

/* Returns the highest PriorityTier of the pool's other rows, or that of `job` if all are equal. */
static int64_t job_place_other_tier(const struct prio_list *list, const struct prio_row *job)
{
    int64_t tier = job->tier;
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (job_is_in_pool(row, job->pool) && row->tier != job->tier &&
            (tier == job->tier || row->tier > tier))
            tier = row->tier;
    }
    return tier;
}

static void job_place_add_place(struct text *line, const struct prio_list *list,
                                const struct prio_row *job)
{
    struct job_pool pool = job_pool_of(list, job);
    text_format(line, " is at place %" PRId64 " of %zu", job->place, pool.jobs);
    job_place_add_pool(line, list, job->pool);
    if (pool.tied)
        text_format(line, ", shared with %zu other job%s", pool.tied, pool.tied == 1 ? "" : "s");
    text_add(line, ".");
}

/* Adds the effect of the place and of the tiers. */
static void job_place_add_effect(struct text *line, const struct prio_list *list,
                                 const struct prio_row *job)
{
    int64_t tier = job_place_other_tier(list, job);
    if (job->place == 1 && !job->of_formula)
        text_add(line, " Slurm considers it next: it starts as soon as its resources are free and "
                       "no limit stops it. Backfill may start later jobs before it.");
    if (tier > job->tier)
        text_format_printable(line,
                              " Jobs in partitions with a higher PriorityTier (up to %" PRId64
                              "; '%s' has %" PRId64 ") come first, whatever their priority.",
                              tier, job->partition, job->tier);
    else if (tier < job->tier)
        text_format_printable(
            line, " Partition '%s' has PriorityTier %" PRId64 ", which counts before the priority.",
            job->partition, job->tier);
}

/* Returns true if the job may start although its place is unknown, because OpenPBS's formula has no
 * value. */
static bool job_lacks_value(const struct prio_row *job)
{
    return job->why && (!strcmp(job->why, FORMULA_JOB_NO_FORMULA) ||
                        !strncmp(job->why, FORMULA_JOB_ERROR, strlen(FORMULA_JOB_ERROR)));
}

/* Adds the clauses of all rows of the job, each clause once. */
static void job_place_add_reasons(struct text *line, const struct prio_list *list,
                                  const struct prio_row *job)
{
    struct name_list said = { 0 };
    const char *first = job_lacks_value(job) ? " has no place: " : " cannot start: ";
    for (size_t i = 0; i <= list->count; i++) {
        const struct prio_row *row = i ? &list->rows[i - 1] : job;
        if (row->key != job->key)
            continue;
        struct text clause = job_reason_text(row);
        if (*clause.bytes && (!said.count || !name_list_wants(&said, clause.bytes))) {
            text_format(line, "%s%s", said.count ? "; " : first, clause.bytes);
            name_list_add(&said, clause.bytes, clause.length);
        }
        text_free(&clause);
    }
    text_add(line, said.count
                       ? "."
                       : " has no place: it runs, or its place is known after the next run.");
    name_list_free(&said);
}

static void job_place_add_remedy(struct text *line, const struct prio_row *job)
{
    const struct job_reason *reason = job_reason_named(job->reason);
    const char *remedy = reason && !job->of_formula ? reason->remedy : NULL;
    const char *at = remedy ? strstr(remedy, "%s") : NULL;
    if (!at)
        return;
    text_add(line, " ");
    text_add_bytes(line, remedy, (size_t)(at - remedy));
    if (strchr(job->job_id, '[')) /* a list of tasks, which a shell would expand */
        text_format(line, "%" PRId64, job->array_job ? job->array_job : job->id_job);
    else
        text_add_printable(line, job->job_id);
    text_add(line, at + strlen("%s"));
}

/* Adds the other partitions and QOS in which the job is pending. */
static void job_place_add_others(struct text *line, const struct prio_list *list,
                                 const struct prio_row *job, const struct terminology *terms)
{
    const char *before = " It is also pending in";
    for (size_t i = 0; i < list->count; i++) {
        const struct prio_row *row = &list->rows[i];
        if (row == job || row->key != job->key)
            continue;
        text_format_printable(line, "%s %s '%s'", before, terms->partition, row->partition);
        if (*row->qos)
            text_format_printable(line, ", QOS '%s'", row->qos);
        struct text clause = job_reason_text(row);
        if (*clause.bytes)
            text_format(line, " (%s)", clause.bytes);
        else if (row->place && strcmp(row->pool, job->pool) != 0)
            text_format_printable(line, " (place %" PRId64 " in pool '%s')", row->place, row->pool);
        else
            text_format(line, " (priority %" PRId64 ")", row->priority);
        text_free(&clause);
        before = ",";
    }
    if (*before == ',')
        text_add(line, ".");
}

void job_place_say(struct text *text, const struct job_explanation *explanation,
                   const struct prio_row *job)
{
    const struct prio_list *list = explanation->list;
    struct text line = { 0 };
    text_format_printable(&line, "Job '%s' of '%s'", job->job_id, job->user);
    if (job->place) {
        job_place_add_place(&line, list, job);
        if (!explanation->other)
            job_place_add_effect(&line, list, job);
        job_place_add_others(&line, list, job, explanation->terms);
    } else {
        job_place_add_reasons(&line, list, job);
        job_place_add_remedy(&line, job);
    }
    terminal_add_wrapped(text, line.bytes, 0);
    text_free(&line);
}
