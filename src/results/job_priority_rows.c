/* SPDX-License-Identifier: MIT */
#include "results/job_priority_rows.h"

#include <stdlib.h>

#include "core/priority/queue.h"
#include "results/publication.h"
#include "results/rows.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct db_column columns[] = {
    { "cluster", 't' },
    { "job_db_inx", 'i' },
    { "partition_name", 't' },
    { "qos", 't' },
    { "id_job", 'i' },
    { "user_name", 't' },
    { "account", 't' },
    { "best", 'i' },
    { "age_factor", 'r' },
    { "fairshare_factor", 'r' },
    { "job_size_factor", 'r' },
    { "partition_factor", 'r' },
    { "qos_factor", 'r' },
    { "assoc_factor", 'r' },
    { "age_weighted", 'r' },
    { "fairshare_weighted", 'r' },
    { "job_size_weighted", 'r' },
    { "partition_weighted", 'r' },
    { "qos_weighted", 'r' },
    { "assoc_weighted", 'r' },
    { "tres_factors", 't' },
    { "tres_weighted", 't' },
    { "site", 'i' },
    { "nice", 'i' },
    { "priority", 'i' },
    { "priority_norm", 'r' },
    { "run_id", 'i' },
    { "computed_at", 'i' },
};
static const struct row_table table = { "fairmill_job_priority", columns, COUNT(columns) };

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
    struct db_bulk *bulk;
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
    struct db_value filled[] = {
        db_text(writer->publisher->cluster),
        db_unsigned(row->job->key),
        rows_text(row->partition->name, &writer->names[PARTITION]),
        rows_text(row->qos->name, &writer->names[QOS]),
        db_integer(row->job->id_job),
        rows_text(names_text(names, row->job->user), &writer->names[USER]),
        rows_text(names_text(names, row->job->account), &writer->names[ACCOUNT]),
        db_integer(row->best),
        db_real(factor->age),
        db_real(factor->fairshare),
        db_real(factor->job_size),
        db_real(factor->partition),
        db_real(factor->qos),
        db_real(factor->association),
        db_real(weighted->age),
        db_real(weighted->fairshare),
        db_real(weighted->job_size),
        db_real(weighted->partition),
        db_real(weighted->qos),
        db_real(weighted->association),
        db_text(tres->factors),
        db_text(tres->weighted),
        db_null(), /* site and nice are in no accounting database */
        db_null(),
        db_integer(priority->value),
        db_real(priority->norm),
        db_integer(writer->publisher->run_id),
        db_integer(writer->as_of),
    };
    _Static_assert(COUNT(filled) == COUNT(columns), "a value for each column");
    return db_bulk_row(writer->bulk, filled, err);
}

int job_priority_rows_clear(const struct publisher *publisher, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    return db_execute(publisher->db, sql_query_job_priority_clear, &cluster, 1, NULL, err);
}

int job_priority_rows_write(const struct publisher *publisher, const struct queue *queue,
                            int64_t as_of, struct error *err)
{
    struct writer writer = { .publisher = publisher, .queue = queue, .as_of = as_of };
    if (job_priority_rows_clear(publisher, err))
        return -1;
    if (!queue || !queue->count)
        return 0;
    writer.bulk = rows_begin(publisher->db, &table, 0, err);
    if (!writer.bulk)
        return -1;
    writer.arena = arena_create();
    writer.tres_places = id_index_create();
    int result = queue_each(queue, write_row, &writer, err);
    for (size_t i = 0; i < NAMES; i++)
        text_free(&writer.names[i]);
    id_index_destroy(writer.tres_places);
    arena_destroy(writer.arena);
    free(writer.tres);
    if (result) {
        db_bulk_abandon(writer.bulk);
        return -1;
    }
    return db_bulk_end(writer.bulk, err);
}
