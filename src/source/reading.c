/* SPDX-License-Identifier: MIT */
#include "source/reading.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

static struct db_rows *run_query(struct db *db, const struct query *query, struct error *err)
{
    return (query->has_many ? db_stream : db_query)(db, query->sql, query->arguments,
                                                    query->argument_count, query->types, err);
}

int reading_each(struct db *db, const struct query *query, row_taker take, void *context,
                 struct error *err)
{
    struct db_rows *rows = run_query(db, query, err);
    const struct db_value *row;
    int result = rows ? 0 : -1, got;
    while (!result && (got = db_fetch(rows, &row, err)) != 0)
        result = got > 0 ? take(context, row, err) : -1;
    db_finish(rows);
    return result;
}

int reading_run(struct reading *reading, const struct query *query, struct error *err)
{
    reading->rows = run_query(reading->source.db, query, err);
    return reading->rows ? 1 : reading->explain(reading, err);
}

static int next_row(struct reading *reading, const struct db_value **values, struct error *err)
{
    for (;;) {
        int got = reading->rows ? db_fetch(reading->rows, values, err) : 0;
        if (got)
            return got > 0 ? 1 : reading->explain(reading, err);
        db_finish(reading->rows);
        reading->rows = NULL;
        text_free(&reading->sql);
        got = reading->ask(reading, err);
        if (got <= 0)
            return got;
    }
}

static void reading_end(struct reading *reading)
{
    if (!reading)
        return;
    db_finish(reading->rows);
    if (reading->end)
        reading->end(reading);
    text_free(&reading->sql);
    free(reading);
}

int job_reading_next(struct job_reading *reading, struct job_row *row, struct error *err)
{
    const struct db_value *values;
    int got;
    while ((got = next_row(&reading->base, &values, err)) > 0 &&
           !reading->make(reading, values, row))
        ;
    return got;
}

int rollup_reading_next(struct rollup_reading *reading, struct rollup_row *row, struct error *err)
{
    const struct db_value *values;
    int got = next_row(&reading->base, &values, err);
    if (got > 0)
        reading->make(reading, values, row);
    return got;
}

int queue_reading_next(struct queue_reading *reading, struct queued_job *job, struct error *err)
{
    const struct db_value *values;
    int got = next_row(&reading->base, &values, err);
    if (got > 0)
        reading->make(reading, values, job);
    return got;
}

void job_reading_end(struct job_reading *reading)
{
    reading_end(reading ? &reading->base : NULL);
}

void rollup_reading_end(struct rollup_reading *reading)
{
    reading_end(reading ? &reading->base : NULL);
}

void queue_reading_end(struct queue_reading *reading)
{
    reading_end(reading ? &reading->base : NULL);
}

/* maximum length of a name in characters, which is the size of the columns in the results */
#define LONGEST_CLUSTER 255

uint64_t reading_number(const struct db_value *value)
{
    if (value->type == DB_UNSIGNED)
        return value->unsigned_integer;
    return value->type == DB_INTEGER && value->integer > 0 ? (uint64_t)value->integer : 0;
}

uint32_t reading_name(struct accounting *accounting, const struct db_value *value)
{
    if (value->type != DB_TEXT)
        return accounting->empty_name;
    return names_add(accounting->names, value->text.bytes, value->text.length);
}

int reading_association(struct accounting *accounting, const struct db_value *row,
                        struct association **added, struct error *err)
{
    uint64_t id = reading_number(&row[READ_ID]), parent = reading_number(&row[READ_PARENT_ID]);
    if (id == 0 || id > UINT32_MAX || parent > UINT32_MAX)
        return fail(err, ERROR_DATA,
                    "association %" PRIu64 " (parent %" PRIu64 ") has an id out of range", id,
                    parent);
    int64_t shares = db_value_integer(&row[READ_SHARES], 1);
    if (shares > INT32_MAX || shares < INT32_MIN || row[READ_SHARES].type == DB_UNSIGNED)
        return fail(err, ERROR_DATA, "association %" PRIu64 " has shares out of range: %" PRId64,
                    id, shares);
    *added = memory_append(&accounting->rows, &accounting->count);
    **added = (struct association){
        .id = (uint32_t)id,
        .parent_id = (uint32_t)parent,
        .account = reading_name(accounting, &row[READ_ACCOUNT]),
        .user = reading_name(accounting, &row[READ_USER]),
        .partition = reading_name(accounting, &row[READ_PARTITION]),
        .parent_account = accounting->empty_name,
        .shares = (int32_t)shares,
        .deleted = reading_number(&row[READ_DELETED]) != 0,
    };
    return 0;
}

int reading_cluster(void *cluster_list, const struct db_value *row, struct error *err)
{
    struct cluster_list *list = cluster_list;
    (void)err;
    if (row[0].type != DB_TEXT || !row[0].text.length)
        return 0;
    struct text name = { 0 };
    text_add_as_utf8(&name, row[0].text.bytes, row[0].text.length);
    const char *flaw = strlen(name.bytes) < name.length            ? "contains a NUL byte"
                       : utf8_length(name.bytes) > LONGEST_CLUSTER ? "has more than 255 characters"
                                                                   : NULL;
    *memory_append(&list->clusters, &list->count) =
        (struct cluster){ name.bytes, reading_number(&row[1]) != 0, flaw };
    return 0;
}

static int reading_by_name(const void *a, const void *b)
{
    const struct cluster *one = a, *other = b;
    return strcmp(one->name, other->name);
}

/*
 * Merges `next` into `kept` if they have the same name, which a database may contain in two
 * encodings.  Returns false if the names differ or cannot be published.
 */
static bool merge(struct cluster *kept, const struct cluster *next)
{
    if (strcmp(kept->name, next->name) || kept->flaw || next->flaw)
        return false;
    kept->deleted &= next->deleted;
    free(next->name);
    return true;
}

void reading_sort_clusters(struct cluster_list *list)
{
    if (!list->count)
        return;
    qsort(list->clusters, list->count, sizeof *list->clusters, reading_by_name);
    size_t kept = 0;
    for (size_t i = 1; i < list->count; i++)
        if (!merge(&list->clusters[kept], &list->clusters[i]))
            list->clusters[++kept] = list->clusters[i];
    list->count = kept + 1;
}
