/* SPDX-License-Identifier: MIT */
#include "results/publication.h"

#include <stdlib.h>

#include "core/priority/queue.h"
#include "results/kept.h"
#include "results/rows.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* What a row says of TRES.  Few jobs ask for what no other asks for. */
struct tres_texts {
    const char *factors, *weighted;
};

/* The names that a row points at. */
enum { USER, ACCOUNT, PARTITION, QOS, NAMES };

struct writer {
    const struct publisher *publisher;
    const struct queue *queue;
    int64_t as_of;
    struct row_writer rows;
    struct kept_rows kept;
    struct text names[NAMES];
    struct arena *arena; /* of texts about TRES */
    struct id_index *tres_places;
    struct tres_texts *tres;
    uint32_t tres_count;
};

static const char *tres_text(struct writer *writer, const struct queue_row *row, bool weighted)
{
    struct text text = { 0 };
    text_add(&text, "");
    priority_add_tres(&text, &writer->queue->options, row->counts, row->partition, weighted);
    const char *copy = arena_copy(writer->arena, text.bytes, text.length);
    text_free(&text);
    return copy;
}

static const struct tres_texts *tres_texts(struct writer *writer, const struct queue_row *row)
{
    uint32_t known = id_index_add(writer->tres_places, row->tres, writer->tres_count);
    if (known != INDEX_NONE)
        return &writer->tres[known];
    writer->tres = memory_grown(writer->tres, writer->tres_count, sizeof *writer->tres);
    struct tres_texts *texts = &writer->tres[writer->tres_count++];
    texts->factors = tres_text(writer, row, false);
    texts->weighted = tres_text(writer, row, true);
    return texts;
}

static int write_row(void *context, const struct queue_row *row, struct error *err)
{
    struct writer *writer = context;
    const struct names *names = writer->queue->names;
    const struct priority *priority = &row->priority;
    const struct priority_parts *factor = &priority->factor, *weighted = &priority->weighted;
    const struct tres_texts *tres = tres_texts(writer, row);
    struct row_field fields[] = {
        { "cluster", 't', db_text(writer->publisher->cluster) },
        { "job_db_inx", 'i', db_unsigned(row->job->key) },
        { "partition_name", 't', rows_text(row->partition->name, &writer->names[PARTITION]) },
        { "qos", 't', rows_text(row->qos->name, &writer->names[QOS]) },
        { "id_job", 'i', db_integer(row->job->id_job) },
        { "user_name", 't', rows_text(names_text(names, row->job->user), &writer->names[USER]) },
        { "account", 't',
          rows_text(names_text(names, row->job->account), &writer->names[ACCOUNT]) },
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
        { "site", 'i', db_null() }, /* site and nice are in no accounting database */
        { "nice", 'i', db_null() },
        { "priority", 'i', db_integer(priority->value) },
        { "priority_norm", 'r', db_real(priority->norm) },
        { "run_id", 'i', db_integer(writer->publisher->run_id) },
        { "computed_at", 'i', db_integer(writer->as_of) },
    };
    kept_add_fields(&writer->kept, fields + 1, COUNT(fields) - 1);
    return rows_add(&writer->rows, fields, COUNT(fields), err);
}

int job_priority_rows_write(const struct publisher *publisher, const struct queue *queue,
                            int64_t as_of, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    if (db_execute(publisher->db, sql_query_job_priority_clear, &cluster, 1, NULL, err))
        return -1;
    struct writer writer = {
        .publisher = publisher,
        .queue = queue,
        .as_of = as_of,
        .rows = { .db = publisher->db, .table = "fairmill_job_priority" },
        .arena = arena_create(),
        .tres_places = id_index_create(),
    };
    int result = queue ? queue_each(queue, write_row, &writer, err) : 0;
    for (size_t i = 0; i < NAMES; i++)
        text_free(&writer.names[i]);
    id_index_destroy(writer.tres_places);
    arena_destroy(writer.arena);
    free(writer.tres);
    if (rows_end(&writer.rows, result, err))
        return -1;
    return kept_write(publisher->db, publisher->cluster, writer.rows.table,
                      &(struct kept_part){ 0, writer.kept }, err);
}
