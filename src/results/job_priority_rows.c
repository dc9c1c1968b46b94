/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/priority/formula_jobs.h"
#include "core/priority/job_ids.h"
#include "core/priority/queue.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The TRES texts of a row.  Most jobs share them with other jobs, so they are built once. */
struct tres_texts {
    const char *factors, *weighted;
};

/* The names in a row. */
enum { USER, ACCOUNT, PARTITION, QOS, POOL, DETAIL, NAMES };

struct job_priority_writer {
    const struct publisher *publisher;
    const struct queue *queue;
    int64_t as_of;
    struct row_writer rows;
    struct row_writer terms;
    struct row_hash stored, kept_terms;
    struct text names[NAMES];
    struct text id, detail;
    struct arena *arena; /* allocates the TRES texts */
    struct id_index *tres_places;
    struct tres_texts *tres;
    uint32_t tres_count;
};

static const char *job_priority_tres_text(struct job_priority_writer *writer,
                                          const struct queue_row *row, bool weighted)
{
    struct text text = { 0 };
    text_add(&text, "");
    priority_add_tres(&text, &writer->queue->options, row->counts, row->partition, weighted);
    const char *copy = arena_copy(writer->arena, text.bytes, text.length);
    text_free(&text);
    return copy;
}

static const struct tres_texts *tres_texts(struct job_priority_writer *writer,
                                           const struct queue_row *row)
{
    uint32_t known = id_index_add(writer->tres_places, row->tres, writer->tres_count);
    if (known != INDEX_NONE)
        return &writer->tres[known];
    struct tres_texts *texts = memory_append(&writer->tres, &writer->tres_count);
    texts->factors = job_priority_tres_text(writer, row, false);
    texts->weighted = job_priority_tres_text(writer, row, true);
    return texts;
}

static struct db_value job_priority_id(struct job_priority_writer *writer,
                                       const struct priority_job *job)
{
    text_free(&writer->id);
    job_id_add(&writer->id, job, names_text(writer->queue->names, job->array_tasks));
    return db_text(writer->id.bytes);
}

static struct db_value job_priority_detail(struct job_priority_writer *writer,
                                           const struct queue_row *row)
{
    text_free(&writer->detail);
    if (*row->reason)
        queue_row_add_detail(writer->queue, row, &writer->detail);
    return writer->detail.length ? rows_text(writer->detail.bytes, &writer->names[DETAIL])
                                 : db_null();
}

static struct db_value job_priority_number(uint32_t number, uint32_t none)
{
    return number == none ? db_null() : db_integer(number);
}

static struct db_value job_priority_fact(int64_t fact)
{
    return fact == JOB_FACT_UNKNOWN ? db_null() : db_integer(fact);
}

static int write_row(void *context, const struct queue_row *row, struct error *err)
{
    struct job_priority_writer *writer = context;
    const struct names *names = writer->queue->names;
    const struct priority *priority = &row->priority;
    const struct priority_parts *factor = &priority->factor, *weighted = &priority->weighted;
    const struct tres_texts *tres = tres_texts(writer, row);
    const struct priority_job *job = row->job;
    struct job_facts facts = queue_job_facts(writer->queue, job);
    bool lost = job->lost;
    struct row_field fields[] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "job_db_inx", 'i', db_unsigned(job->key) },
        { "partition_name", 't', rows_text(row->partition->name, &writer->names[PARTITION]) },
        { "qos", 't', rows_text(row->qos->name, &writer->names[QOS]) },
        { "id_job", 'i', db_integer(job->id_job) },
        { "user_name", 't', rows_text(names_text(names, job->user), &writer->names[USER]) },
        { "account", 't', rows_text(names_text(names, job->account), &writer->names[ACCOUNT]) },
        { "best", 'i', db_integer(row->best) },
        { "age_factor", 'r', db_real(factor->age) },
        { "fairshare_factor", 'r', db_real(factor->fairshare) },
        { "job_size_factor", 'r', db_real(factor->job_size) },
        { "partition_factor", 'r', db_real(factor->partition) },
        { "qos_factor", 'r', db_real(factor->qos) },
        { "assoc_factor", 'r', db_real(factor->association) },
        { "age_weighted", 'r', db_real(weighted->age) },
        { "fairshare_weighted", 'r', db_real(weighted->fairshare) },
        { "job_size_weighted", 'r', db_real(weighted->job_size) },
        { "partition_weighted", 'r', db_real(weighted->partition) },
        { "qos_weighted", 'r', db_real(weighted->qos) },
        { "assoc_weighted", 'r', db_real(weighted->association) },
        { "tres_factors", 't', db_text(tres->factors) },
        { "tres_weighted", 't', db_text(tres->weighted) },
        { "site", 'i', db_null() }, /* no accounting database stores site and nice */
        { "nice", 'i', db_null() },
        { "priority", 'i', lost ? db_null() : db_integer(priority->value) },
        { "priority_norm", 'r', lost ? db_null() : db_real(priority->norm) },
        { "run_id", 'i', db_integer(writer->publisher->run_id) },
        { "computed_at", 'i', db_integer(writer->as_of) },
        { "job_id", 't', job_priority_id(writer, job) },
        { "formula_value", 'r', db_null() },
        { "why", 't', db_null() },
        { "priority_tier", 'i',
          row->partition->tier < 0 ? db_null() : db_integer(row->partition->tier) },
        { "pool", 't', rows_text(row->partition->pool, &writer->names[POOL]) },
        { "place", 'i', job_priority_number(row->place, 0) },
        { "reason", 't', db_text(row->reason) },
        { "reason_detail", 't', job_priority_detail(writer, row) },
        { "id_array_job", 'i', job_priority_number(job->id_array, 0) },
        { "id_array_task", 'i', job_priority_number(job->array_task, PRIORITY_NO_NUMBER) },
        { "id_het_job", 'i', job_priority_number(job->id_het, 0) },
        { "het_job_offset", 'i', job_priority_number(job->het_offset, PRIORITY_NO_NUMBER) },
        { "cpus", 'i', job_priority_fact(facts.cpus) },
        { "gpus", 'i', job_priority_fact(facts.gpus) },
        { "limit_seconds", 'i', job_priority_fact(facts.limit_s) },
        { "eligible_at", 'i', job_priority_fact(facts.eligible_at) },
    };
    row_hash_add_fields(&writer->stored, fields + 1, COUNT(fields) - 1);
    return rows_add(&writer->rows, fields, COUNT(fields), err);
}

/* ---- jobs that a formula orders ---- */

static int write_terms(struct job_priority_writer *writer, const struct formula_jobs *jobs,
                       size_t number, struct error *err)
{
    const struct formula_value *values = formula_jobs_values(jobs, number);
    int result = 0;
    for (size_t i = 0; !result && i < formula_jobs_name_count(jobs); i++) {
        struct row_field fields[] = {
            { "cluster", 't', db_text(writer->publisher->cluster) },
            { "job_db_inx", 'i', db_unsigned(jobs->jobs[number].key) },
            { "name", 't', db_text(formula_name(jobs->formula, i)) },
            { "value", 'r', db_real(values[i].number) },
        };
        row_hash_add_fields(&writer->kept_terms, fields + 1, COUNT(fields) - 1);
        result = rows_add(&writer->terms, fields, COUNT(fields), err);
    }
    return result;
}

/* Only reasons that Slurm's jobs also have; `why` has all. */
static const char *job_priority_reason(const struct formula_job *job)
{
    if (!job->stopped)
        return "";
    return strcmp(job->stopped, FORMULA_JOB_HELD) ? PRIORITY_JOB_BEGIN : PRIORITY_JOB_HELD;
}

/* Writes NULL into the columns that only Slurm's jobs have. */
static int write_formula_job(struct job_priority_writer *writer, const struct formula_jobs *jobs,
                             const struct names *names, size_t number, struct error *err)
{
    const struct formula_job *job = &jobs->jobs[number];
    const char *account = job->account == INDEX_NONE ? "" : names_text(names, job->account);
    struct text id = { 0 };
    struct row_field fields[] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "job_db_inx", 'i', db_unsigned(job->key) },
        { "partition_name", 't', rows_text(job->queue, &writer->names[PARTITION]) },
        { "qos", 't', db_text("") },
        { "id_job", 'i', db_integer(formula_job_number(job->job_id)) },
        { "user_name", 't', rows_text(job->user, &writer->names[USER]) },
        { "account", 't', rows_text(account, &writer->names[ACCOUNT]) },
        { "best", 'i', db_integer(1) },
        { "age_factor", 'r', db_null() },
        { "fairshare_factor", 'r', rows_real(job->factor) },
        { "job_size_factor", 'r', db_null() },
        { "partition_factor", 'r', db_null() },
        { "qos_factor", 'r', db_null() },
        { "assoc_factor", 'r', db_null() },
        { "age_weighted", 'r', db_null() },
        { "fairshare_weighted", 'r', db_null() },
        { "job_size_weighted", 'r', db_null() },
        { "partition_weighted", 'r', db_null() },
        { "qos_weighted", 'r', db_null() },
        { "assoc_weighted", 'r', db_null() },
        { "tres_factors", 't', db_null() },
        { "tres_weighted", 't', db_null() },
        { "site", 'i', db_null() },
        { "nice", 'i', db_null() },
        { "priority", 'i', job->priority ? db_unsigned(job->priority) : db_null() },
        { "priority_norm", 'r', db_null() },
        { "run_id", 'i', db_integer(writer->publisher->run_id) },
        { "computed_at", 'i', db_integer(writer->as_of) },
        { "job_id", 't', rows_text(job->job_id, &id) },
        { "formula_value", 'r', rows_real(job->value) },
        { "why", 't', job->why ? db_text(job->why) : db_null() },
        { "priority_tier", 'i', db_null() },
        { "pool", 't', db_text("") },
        { "place", 'i', job->place && jobs->formula ? db_unsigned(job->place) : db_null() },
        { "reason", 't', db_text(job_priority_reason(job)) },
        { "reason_detail", 't', db_null() },
        { "id_array_job", 'i', db_null() },
        { "id_array_task", 'i', db_null() },
        { "id_het_job", 'i', db_null() },
        { "het_job_offset", 'i', db_null() },
        { "cpus", 'i', job_priority_fact(job->facts.cpus) },
        { "gpus", 'i', job_priority_fact(job->facts.gpus) },
        { "limit_seconds", 'i', job_priority_fact(job->facts.limit_s) },
        { "eligible_at", 'i', job_priority_fact(job->facts.eligible_at) },
    };
    row_hash_add_fields(&writer->stored, fields + 1, COUNT(fields) - 1);
    int result = rows_add(&writer->rows, fields, COUNT(fields), err);
    text_free(&id);
    return result;
}

static int write_formula_jobs(struct job_priority_writer *writer,
                              const struct publication *publication, struct error *err)
{
    const struct formula_jobs *jobs = publication->formula_jobs;
    int result = 0;
    for (size_t i = 0; jobs && !result && i < jobs->count; i++)
        result = write_formula_job(writer, jobs, publication->names, i, err);
    return result;
}

static int write_all_terms(struct job_priority_writer *writer, const struct formula_jobs *jobs,
                           struct error *err)
{
    int result = 0;
    for (size_t i = 0; jobs && !result && i < jobs->count; i++)
        result = write_terms(writer, jobs, i, err);
    return rows_end(&writer->terms, result, err);
}

static int write_stored(const struct job_priority_writer *writer, struct error *err)
{
    struct db *db = writer->publisher->db;
    const char *cluster = writer->publisher->cluster;
    const struct hash_segment rows = { 0, writer->stored }, terms = { 0, writer->kept_terms };
    return stored_write(db, cluster, writer->rows.table, &rows, err) ||
                   stored_write(db, cluster, writer->terms.table, &terms, err)
               ? -1
               : 0;
}

int job_priority_rows_write(const struct publisher *publisher,
                            const struct publication *publication, int64_t as_of, struct error *err)
{
    static const char *const clears[] = { sql_query_job_priority_clear, sql_query_job_term_clear,
                                          NULL };
    const struct queue *queue = publication->queue;
    struct db_value cluster = db_text(publisher->cluster);
    if (rows_execute_all(publisher->db, clears, &cluster, 1, err))
        return -1;
    struct job_priority_writer writer = {
        .publisher = publisher,
        .queue = queue,
        .as_of = as_of,
        .rows = { .db = publisher->db, .table = "fairmill_job_priority" },
        .terms = { .db = publisher->db, .table = "fairmill_job_term" },
        .arena = arena_create(),
        .tres_places = id_index_create(),
    };
    int result = queue ? queue_each(queue, write_row, &writer, err) : 0;
    if (!result)
        result = write_formula_jobs(&writer, publication, err);
    for (size_t i = 0; i < NAMES; i++)
        text_free(&writer.names[i]);
    text_free(&writer.id);
    text_free(&writer.detail);
    id_index_destroy(writer.tres_places);
    arena_destroy(writer.arena);
    free(writer.tres);
    if (rows_end(&writer.rows, result, err) ||
        write_all_terms(&writer, publication->formula_jobs, err))
        return -1;
    return write_stored(&writer, err);
}
