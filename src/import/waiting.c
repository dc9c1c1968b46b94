/* SPDX-License-Identifier: MIT */
#include "import/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "source/pbs/fields.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* At most this many jobs that are left out are named in one call. */
#define NAMED_JOBS 20
/* Formulas need numbers, and a longer value cannot be one. */
#define LONGEST_RESOURCE 1024
#define MOST_RESOURCE_BYTES 20000

struct waiting_job *waiting_add_job(struct waiting *waiting, const char *job_id)
{
    waiting->jobs = memory_grown(waiting->jobs, waiting->job_count, sizeof *waiting->jobs);
    struct waiting_job *job = &waiting->jobs[waiting->job_count++];
    *job = (struct waiting_job){ .job_id = memory_text(job_id) };
    text_add(&job->requested, "");
    for (size_t i = 0; i < RUN_TEXTS; i++)
        job->texts[i] = memory_text("");
    return job;
}

static void free_job(struct waiting_job *job)
{
    for (size_t i = 0; i < RUN_TEXTS; i++)
        free(job->texts[i]);
    free(job->job_id);
    text_free(&job->requested);
}

/* `Sun Nov  1 12:00:00 2026`, as ctime() writes it and qstat prints it. */
static bool read_ctime(const char *text, uint64_t *instant)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm time = { .tm_isdst = -1 };
    char day[4], month[4], more;
    if (strlen(text) > 30 ||
        sscanf(text, "%3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d%c", day, month, &time.tm_mday,
               &time.tm_hour, &time.tm_min, &time.tm_sec, &time.tm_year, &more) != 7)
        return false;
    const char *at = strlen(month) == 3 ? strstr(months, month) : NULL;
    if (!at || (at - months) % 3 || time.tm_mday < 1 || time.tm_mday > 31 || time.tm_hour > 23 ||
        time.tm_min > 59 || time.tm_sec > 60 || time.tm_year < 1970)
        return false;
    time.tm_mon = (int)(at - months) / 3;
    time.tm_year -= 1900;
    time_t epoch = mktime(&time);
    *instant = (uint64_t)epoch;
    return epoch >= 0;
}

static bool read_time(const char *text, uint64_t *instant)
{
    return read_ctime(text, instant) ||
           (number_unsigned(text, strlen(text), instant) && *instant <= LATEST_INSTANT);
}

static int refuse(const char *name, const char *value, const char *why, struct error *err)
{
    fail(err, ERROR_DATA, "'%s', '%.60s', is no %s", name, value, why);
    return -1;
}

static int take_resource(struct waiting_job *job, const char *resource, const char *value,
                         struct error *err)
{
    const struct part key = { resource, strlen(resource) }, part = { value, strlen(value) };
    size_t before = job->requested.length;
    struct fields fields = { 0 };
    if (part.length > LONGEST_RESOURCE || before + key.length + part.length > MOST_RESOURCE_BYTES)
        return 0;
    text_add_field(&job->requested, key, part);
    const struct part added = { job->requested.bytes + before, job->requested.length - before };
    /* Whether it will be read as one. */
    bool good = !fields_read(&fields, added, err) && fields.count == 1 &&
                part_is(&fields.fields[0].key, resource);
    fields_free(&fields);
    return good ? 0
                : fail(err, ERROR_DATA, "'Resource_List.%.60s', '%.60s', is no resource", resource,
                       value);
}

/* Times and numbers. */
static int take_number(struct waiting_job *job, const char *name, const char *value,
                       struct error *err)
{
    const struct {
        const char *name;
        uint64_t *time;
    } times[] = { { "ctime", &job->ctime }, { "qtime", &job->qtime }, { "etime", &job->etime } };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (!strcmp(times[i].name, name))
            return read_time(value, times[i].time) ? 0 : refuse(name, value, "time", err);
    }
    if (!strcmp(name, "eligible_time") &&
        (!clock_span_parse(value, strlen(value), &job->eligible_time) ||
         job->eligible_time > LATEST_INSTANT))
        return refuse(name, value, "span of time", err);
    if (!strcmp(name, "Priority") && !number_signed(value, strlen(value), &job->priority))
        return refuse(name, value, "integer", err);
    return 0;
}

static const char *const text_names[RUN_TEXTS] = { "euser", "egroup", "Account_Name", "project",
                                                   "queue" };

bool waiting_wants(const char *name)
{
    static const char *const others[] = {
        "job_state", "array_indices_remaining", "ctime",          "qtime", "etime", "eligible_time",
        "Priority",  WAITING_ACCRUE_TYPE,       WAITING_RESOURCES
    };
    bool wanted = false;
    for (size_t i = 0; i < RUN_TEXTS; i++)
        wanted |= !strcmp(text_names[i], name);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        wanted |= !strcmp(others[i], name);
    return wanted;
}

int waiting_tell(struct waiting_job *job, const char *name, const char *resource, const char *value,
                 struct error *err)
{
    if (resource)
        return strcmp(name, WAITING_RESOURCES) ? 0 : take_resource(job, resource, value, err);
    for (size_t i = 0; i < RUN_TEXTS; i++) {
        if (strcmp(text_names[i], name) != 0)
            continue;
        free(job->texts[i]);
        job->texts[i] = memory_text(value);
        if (i == RUN_ACCOUNT || i == RUN_PROJECT)
            run_text_cut(job->texts[i]);
    }
    if (!strcmp(name, "job_state"))
        *job->state = *value;
    if (!strcmp(name, "array_indices_remaining"))
        job->has_rest = *value && strcmp(value, "-") != 0;
    if (!strcmp(name, WAITING_ACCRUE_TYPE)) /* formulas read it as they do a resource */
        return take_resource(job, name, value, err);
    return take_number(job, name, value, err);
}

static bool waits(const struct waiting_job *job)
{
    return *job->state == 'B' ? job->has_rest : *job->state && strchr("QHWT", *job->state);
}

int waiting_end_job(struct waiting *waiting, struct error *err)
{
    struct waiting_job *job = &waiting->jobs[waiting->job_count - 1];
    bool fits = strlen(job->job_id) <= LONGEST_NAME && job->requested.length <= LONGEST_TEXT &&
                strlen(job->texts[RUN_EGROUP]) + strlen(job->texts[RUN_EUSER]) < LONGEST_NAME;
    for (size_t i = 0; i < RUN_TEXTS; i++)
        fits &= strlen(job->texts[i]) <= LONGEST_NAME;
    if (!*job->state)
        return fail(err, ERROR_DATA, "it has no job_state");
    if (!waits(job)) {
        free_job(job);
        waiting->job_count--;
        return 0;
    }
    if (!*job->texts[RUN_EUSER])
        return fail(err, ERROR_DATA,
                    "it has no euser, which qstat shows to managers of the server only");
    return fits ? 0 : fail(err, ERROR_DATA, "a name or its resources are too long");
}

void waiting_skip_job(struct waiting *waiting, struct error *reason)
{
    struct waiting_job *job = &waiting->jobs[--waiting->job_count];
    fail_in(reason, "job '%s'", job->job_id);
    free_job(job);
    waiting->skipped++;
    if (waiting->complain && waiting->skipped <= NAMED_JOBS)
        waiting->complain(reason);
}

void waiting_remove_jobs(struct waiting *waiting,
                         bool (*is_removed)(const void *context, const struct waiting_job *job),
                         const void *context)
{
    size_t left = 0;
    for (size_t i = 0; i < waiting->job_count; i++) {
        if (is_removed(context, &waiting->jobs[i]))
            free_job(&waiting->jobs[i]);
        else
            waiting->jobs[left++] = waiting->jobs[i];
    }
    waiting->job_count = left;
}

int waiting_end(const struct waiting *waiting, struct error *err)
{
    if (!waiting->skipped || waiting->job_count)
        return 0;
    return fail(err, ERROR_DATA, "none of %zu waiting jobs can be read", waiting->skipped);
}

int waiting_set_priority(struct waiting *waiting, const char *priority, struct error *err)
{
    int64_t *number = &waiting->queues[waiting->queue_count - 1].priority;
    return !*priority || number_signed(priority, strlen(priority), number)
               ? 0
               : refuse("Priority", priority, "integer", err);
}

int waiting_add_queue(struct waiting *waiting, const char *name, struct error *err)
{
    struct queue_line line = { 0 };
    if (strlen(name) > LONGEST_NAME)
        return fail(err, ERROR_DATA, "its name is too long");
    waiting->queues = memory_grown(waiting->queues, waiting->queue_count, sizeof *waiting->queues);
    line.name = memory_text(name);
    waiting->queues[waiting->queue_count++] = line;
    return 0;
}

void waiting_tell_server(struct waiting *waiting, const char *name, const char *value)
{
    waiting->has_server = true;
    for (size_t i = 0; i < SERVER_KEYS; i++) {
        const char *known = pbs_defaults[PBS_SCHED_KEYS + i].name;
        waiting->server[i].name = known;
        if (strcmp(known, name) != 0)
            continue;
        free(waiting->server[i].value);
        waiting->server[i].value = memory_text(value);
    }
}

void waiting_free(struct waiting *waiting)
{
    for (size_t i = 0; i < waiting->job_count; i++)
        free_job(&waiting->jobs[i]);
    for (size_t i = 0; i < waiting->queue_count; i++)
        free(waiting->queues[i].name);
    for (size_t i = 0; i < SERVER_KEYS; i++)
        free(waiting->server[i].value);
    free(waiting->jobs);
    free(waiting->queues);
    *waiting = (struct waiting){ 0 };
}
