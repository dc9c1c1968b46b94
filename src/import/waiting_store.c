/* SPDX-License-Identifier: MIT */
#include "import/waiting_store.h"

#include <stdlib.h>
#include <string.h>

#include "import/store.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

struct known_jobs {
    struct names *names;
    uint64_t *keys; /* by name */
    uint64_t next;
};

static int read_known(struct db *db, const char *cluster, struct known_jobs *known,
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

static uint64_t key_of(struct known_jobs *known, const char *job_id)
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
            { "job_key", 'i', db_unsigned(key_of(known, job->job_id)) },
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

static int write_entities(struct db *db, const char *cluster, const struct waiting *waiting,
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
    int result = read_known(db, cluster, &known, err) ||
                         db_execute(db, sql_query_pbs_queued_forget, &name, 1, NULL, err) ||
                         write_jobs(db, cluster, waiting, &known, err) ||
                         write_entities(db, cluster, waiting, err)
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
    /* What says nothing of the scheduler leaves its threshold as it is. */
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
