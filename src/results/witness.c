/* SPDX-License-Identifier: MIT */
#include "results/witness.h"

#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "results/witness_bulk.h"
#include "results/witness_causes.h"
#include "results/witness_parts.h"
#include "sql.h"
#include "util/memory.h"

/* The driver of a session that compares. */

static struct witness *witness_of(struct db *db)
{
    return (struct witness *)db;
}

struct witness_rows {
    struct db_rows base;
    struct db_rows *stored;
};

static struct db_rows *query(struct db *db, const struct db_question *question, struct error *err)
{
    struct db_rows *stored = (question->has_many_rows ? db_stream : db_query)(
        witness_of(db)->stored, question->sql, question->arguments, question->argument_count,
        question->column_types, err);
    if (!stored)
        return NULL;
    struct witness_rows *rows = memory_zeroed(1, sizeof *rows);
    *rows = (struct witness_rows){ { .db = db }, stored };
    return &rows->base;
}

static int fetch(struct db_rows *rows, const struct db_value **row, struct error *err)
{
    return db_fetch(((struct witness_rows *)rows)->stored, row, err);
}

static void finish(struct db_rows *rows)
{
    db_finish(((struct witness_rows *)rows)->stored);
    free(rows);
}

static int do_nothing(struct db *db, struct error *err)
{
    (void)db;
    (void)err;
    return 0;
}

static void forget(struct db *db)
{
    (void)db;
}

static int keep_lock_wait(struct db *db, unsigned seconds, struct error *err)
{
    (void)seconds;
    return do_nothing(db, err);
}

static int clear(struct witness *witness, const struct witness_shape *shape,
                 const struct db_value *arguments, struct error *err)
{
    struct witnessed_table *table = witnessed(witness, shape);
    int64_t day = shape->kind == BY_DAY ? arguments[1].integer : 0;
    int result = table->cleared_day == day ? 0 : witness_compare_with_none(witness, shape, err);
    table->is_cleared = true;
    table->cleared_day = day;
    return result;
}

/* The ids stand behind the cluster, and the day where the rows come by day. */
static void remove_some(struct witness *witness, const struct witness_shape *shape,
                        const struct db_value *arguments, size_t count)
{
    size_t before = shape->kind == BY_DAY ? 2 : 1;
    for (size_t i = before; i < count; i++) {
        const struct db_value keys[] = { before == 2 ? arguments[1] : arguments[i], arguments[i] };
        witness_differ_whole(witness, shape, keys, true);
    }
}

static int execute(struct db *db, const char *sql, const struct db_value *arguments, size_t count,
                   int64_t *changed, struct error *err)
{
    struct witness *witness = witness_of(db);
    if (changed)
        *changed = 1;
    if (!strcmp(sql, sql_query_kept_remove))
        witness_add_part(witness, &arguments[1],
                         (struct kept_part){ .part = arguments[2].integer });
    for (size_t i = 0; i < witness_shape_count; i++) {
        const struct witness_shape *shape = &witness_shapes[i];
        if (shape->clear && !strcmp(sql, shape->clear))
            return clear(witness, shape, arguments, err);
        if (shape->remove && !strncmp(sql, shape->remove, strlen(shape->remove)))
            remove_some(witness, shape, arguments, count);
    }
    return 0;
}

static const struct db_driver witness_driver = {
    .name = "witness",
    .scan_hint = "",
    .begin = do_nothing,
    .commit = do_nothing,
    .rollback = forget,
    .query = query,
    .fetch = fetch,
    .finish = finish,
    .execute = execute,
    .set_lock_wait = keep_lock_wait,
    .bulk_begin = witness_bulk_begin,
    .bulk_row = witness_bulk_row,
    .bulk_send = witness_bulk_send,
    .bulk_free = witness_bulk_free,
};

struct db *witness_open(struct db *stored, const char *cluster)
{
    struct witness *witness = memory_zeroed(1, sizeof *witness);
    witness->base = *stored;
    witness->base.driver = &witness_driver;
    witness->base.rows = NULL;
    witness->base.writing = false;
    witness->stored = stored;
    witness->cluster = cluster;
    witness->tables = memory_zeroed(witness_shape_count, sizeof *witness->tables);
    return &witness->base;
}

int witness_end(struct db *db, bool seal_damaged, struct row_differences *differences,
                struct error *err)
{
    struct witness *witness = witness_of(db);
    for (size_t i = 0; i < witness_shape_count; i++)
        if (witness_compare_with_none(witness, &witness_shapes[i], err))
            return -1;
    if (witness_explain(witness, seal_damaged, err))
        return -1;
    *differences = witness->differences;
    witness->differences = (struct row_differences){ 0 };
    return 0;
}

void witness_close(struct db *db)
{
    struct witness *witness = witness_of(db);
    if (!witness)
        return;
    for (size_t i = 0; i < witness->part_count; i++)
        free(witness->parts[i].table);
    free(witness->parts);
    free(witness->tables);
    row_differences_free(&witness->differences);
    free(witness);
}
