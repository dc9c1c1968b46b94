/* SPDX-License-Identifier: MIT */
#include "import/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "import/store.h"
#include "results/rows.h"
#include "source/pbs/fields.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"
#include "util/times.h"

/* Maximum number of left-out jobs for which one import prints a message. */
#define NAMED_JOBS 20
/* A longer value cannot be a number, so formulas do not need it. */
#define LONGEST_RESOURCE 1024
#define MOST_RESOURCE_BYTES 20000

struct waiting_job *waiting_add_job(struct waiting *waiting, const char *job_id)
{
    struct waiting_job *job = memory_append(&waiting->jobs, &waiting->job_count);
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

/* Reads a time as ctime() writes it and qstat prints it: `Sun Nov  1 12:00:00 2026`. */
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

static bool waiting_read_time(const char *text, uint64_t *time)
{
    return read_ctime(text, time) ||
           (number_unsigned(text, strlen(text), time) && *time <= LATEST_TIME);
}

static int waiting_refuse(const char *name, const char *value, const char *why, struct error *err)
{
    fail(err, ERROR_DATA, "'%s': '%.60s' is not %s", name, value, why);
    return -1;
}

static int waiting_take_resource(struct waiting_job *job, const char *resource, const char *value,
                                 struct error *err)
{
    const struct part key = { resource, strlen(resource) }, part = { value, strlen(value) };
    size_t before = job->requested.length;
    struct fields fields = { 0 };
    if (part.length > LONGEST_RESOURCE || before + key.length + part.length > MOST_RESOURCE_BYTES)
        return 0;
    text_add_field(&job->requested, key, part);
    const struct part added = { job->requested.bytes + before, job->requested.length - before };
    /* Later reads must find exactly one field in this text. */
    bool good = !fields_read(&fields, added, err) && fields.count == 1 &&
                part_is(&fields.fields[0].key, resource);
    fields_free(&fields);
    return good ? 0
                : fail(err, ERROR_DATA, "'Resource_List.%.60s': '%.60s' is not a valid resource",
                       resource, value);
}

/* Sets an attribute that is a time or a number. */
static int waiting_take_number(struct waiting_job *job, const char *name, const char *value,
                               struct error *err)
{
    const struct {
        const char *name;
        uint64_t *time;
    } times[] = { { "ctime", &job->ctime }, { "qtime", &job->qtime }, { "etime", &job->etime } };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (!strcmp(times[i].name, name))
            return waiting_read_time(value, times[i].time)
                       ? 0
                       : waiting_refuse(name, value, "a time", err);
    }
    if (!strcmp(name, "eligible_time") &&
        (!clock_span_parse(value, strlen(value), &job->eligible_time) ||
         job->eligible_time > LATEST_TIME))
        return waiting_refuse(name, value, "a duration (HH:MM:SS)", err);
    if (!strcmp(name, "Priority") && !number_signed(value, strlen(value), &job->priority))
        return waiting_refuse(name, value, "an integer", err);
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
        return strcmp(name, WAITING_RESOURCES) ? 0
                                               : waiting_take_resource(job, resource, value, err);
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
    if (!strcmp(name, WAITING_ACCRUE_TYPE)) /* formulas use it like a resource */
        return waiting_take_resource(job, name, value, err);
    return waiting_take_number(job, name, value, err);
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
        return fail(err, ERROR_DATA, "job_state is missing");
    if (!waits(job)) {
        free_job(job);
        waiting->job_count--;
        return 0;
    }
    if (!*job->texts[RUN_EUSER])
        return fail(err, ERROR_DATA,
                    "euser is missing; qstat shows it only to managers of the server");
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
               : waiting_refuse("Priority", priority, "an integer", err);
}

int waiting_add_queue(struct waiting *waiting, const char *name, struct error *err)
{
    struct queue_line line = { 0 };
    if (strlen(name) > LONGEST_NAME)
        return fail(err, ERROR_DATA, "the name is too long");
    line.name = memory_text(name);
    *memory_append(&waiting->queues, &waiting->queue_count) = line;
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
    dated_free(waiting->server, SERVER_KEYS);
    free(waiting->jobs);
    free(waiting->queues);
    *waiting = (struct waiting){ 0 };
}

struct known_jobs {
    struct names *names;
    uint64_t *keys; /* keys of the jobs, by index of the name */
    uint64_t next;
};

static int waiting_read_known(struct db *db, const char *cluster, struct known_jobs *known,
                              struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    if (store_next_key(db, cluster, &known->next, err))
        return -1;
    struct db_rows *rows = db_query(db, sql_query_pbs_queued_read, &name, 1, "ti", err);
    while (db_fetch(rows, &row, err) > 0) {
        uint32_t count = names_count(known->names);
        if (names_add(known->names, row[0].text.bytes, row[0].text.length) != count)
            continue;
        known->keys = memory_grown(known->keys, count, sizeof *known->keys);
        known->keys[count] = (uint64_t)db_value_integer(&row[1], 0);
    }
    return db_finish(rows);
}

static uint64_t waiting_key_of(struct known_jobs *known, const char *job_id)
{
    uint32_t at = names_find(known->names, job_id, strlen(job_id));
    return at == INDEX_NONE ? known->next++ : known->keys[at];
}

static int write_jobs(struct db *db, const char *cluster, const struct waiting *waiting,
                      struct known_jobs *known, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = db, .table = "pbs_queued" };
    for (size_t i = 0; i < waiting->job_count && !result; i++) {
        const struct waiting_job *job = &waiting->jobs[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(cluster) },
            { "job_id", 't', db_text(job->job_id) },
            { "job_key", 'i', db_unsigned(waiting_key_of(known, job->job_id)) },
            { "as_of", 'i', db_integer(waiting->as_of) },
            { "state", 't', db_text(job->state) },
            { "euser", 't', db_text(job->texts[RUN_EUSER]) },
            { "egroup", 't', db_text(job->texts[RUN_EGROUP]) },
            { "account", 't', db_text(job->texts[RUN_ACCOUNT]) },
            { "project", 't', db_text(job->texts[RUN_PROJECT]) },
            { "queue", 't', db_text(job->texts[RUN_QUEUE]) },
            { "ctime", 'i', db_unsigned(job->ctime) },
            { "qtime", 'i', db_unsigned(job->qtime) },
            { "etime", 'i', db_unsigned(job->etime) },
            { "eligible_time", 'i', db_unsigned(job->eligible_time) },
            { "job_priority", 'i', db_integer(job->priority) },
            { "requested", 't', db_text(job->requested.bytes) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

static int waiting_write_entities(struct db *db, const char *cluster, const struct waiting *waiting,
                                  struct error *err)
{
    struct entities *entities = entities_read(db, cluster, err);
    if (!entities)
        return -1;
    for (size_t i = 0; i < waiting->job_count; i++) {
        const struct waiting_job *waits = &waiting->jobs[i];
        const struct entity_job job = { waits->texts[RUN_EUSER], waits->texts[RUN_EGROUP],
                                        waits->texts[RUN_ACCOUNT], waits->texts[RUN_QUEUE] };
        entities_see_job(entities, &job, waits->qtime ? (int64_t)waits->qtime : waiting->as_of);
    }
    int result = entities_store(entities, err);
    entities_destroy(entities);
    return result;
}

static int store_jobs(struct db *db, const char *cluster, const struct waiting *waiting,
                      struct error *err)
{
    struct known_jobs known = { .names = names_create() };
    const struct db_value name = db_text(cluster);
    int result = waiting_read_known(db, cluster, &known, err) ||
                         db_execute(db, sql_query_pbs_queued_forget, &name, 1, NULL, err) ||
                         write_jobs(db, cluster, waiting, &known, err) ||
                         waiting_write_entities(db, cluster, waiting, err)
                     ? -1
                     : 0;
    names_destroy(known.names);
    free(known.keys);
    return result;
}

static int store_queues(struct db *db, const char *cluster, const struct waiting *waiting,
                        struct error *err)
{
    const struct db_value name = db_text(cluster);
    struct row_writer rows = { .db = db, .table = "pbs_queue" };
    int result = db_execute(db, sql_query_pbs_queue_forget, &name, 1, NULL, err);
    for (size_t i = 0; i < waiting->queue_count && !result; i++) {
        const struct row_field fields[] = {
            { "cluster", 't', name },
            { "name", 't', db_text(waiting->queues[i].name) },
            { "priority", 'i', db_integer(waiting->queues[i].priority) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

int waiting_store(struct db *db, const char *cluster, const struct waiting *waiting,
                  uint64_t *changed, struct error *err)
{
    /* A source without the scheduler leaves the stored threshold unchanged. */
    size_t threshold = PBS_SORT_THRESHOLD - PBS_SCHED_KEYS;
    bool tells_threshold = waiting->has_scheduler || waiting->server[threshold].value;
    const struct dated_values server = { waiting->server, threshold + tells_threshold };
    int result = db_begin(db, err);
    if (!result && waiting->has_jobs)
        result = store_jobs(db, cluster, waiting, err);
    if (!result && waiting->has_queues)
        result = store_queues(db, cluster, waiting, err);
    if (!result && waiting->has_server)
        result = dated_store(db, cluster, server, waiting->as_of, changed, err);
    return rows_commit(db, result, err);
}
