/* SPDX-License-Identifier: MIT */
#include "results/verify_session.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "results/verify_bulk.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

static void add_hash(struct text *text, const struct row_hash *stored)
{
    text_format(text, "%" PRIu64 " rows, %016" PRIx64, stored->rows, stored->hash);
}

/* Records that the hash of a segment does not match. */
static void verify_report_hash(struct verify_session *session, const char *table, const char *key,
                               int64_t part, const struct row_hash hashes[2])
{
    struct text stored = { 0 }, wanted = { 0 };
    add_hash(&stored, &hashes[0]);
    add_hash(&wanted, &hashes[1]);
    row_differences_add(&session->differences,
                        &(struct row_difference){ table, (char *)key, NULL, stored.bytes,
                                                  wanted.bytes, part, CAUSE_ROWS });
    text_free(&stored);
    text_free(&wanted);
}

/* Records a hash that does not match correct rows, or rows that cannot be recomputed. */
static void report_hash(struct verify_session *session, const struct verified_table *table,
                        const struct computed_part *computed, const struct row_hash *known)
{
    const struct hash_segment *part = &computed->part;
    struct text key = { 0 };
    if (computed->is_found) {
        text_add(&key, "day ");
        time_add_day(&key, part->part);
        verify_report_hash(session, table->name, key.bytes, part->part,
                           (struct row_hash[]){ part->stored, *known });
    } else {
        text_format(&key, "table_name %s, part %" PRId64, computed->table, part->part);
        verify_report_hash(session, STORED_TABLE_NAME, key.bytes, part->part,
                           (struct row_hash[]){ *known, part->stored });
    }
    text_free(&key);
}

/*
 * Determines the cause of differences in a segment from three hashes: the stored hash, the hash of
 * the stored rows, and the hash of the computed rows.
 */
static void explain_part(struct verify_session *session, const struct verified_table *table,
                         const struct computed_part *computed, const struct row_hash *known)
{
    const struct row_hash *found = &witnessed(session, table)->found;
    bool as_computed = row_hash_same(known, &computed->part.stored);
    bool changed = table->in_order ? !row_hash_same(known, found) : as_computed;
    row_differences_set_cause(&session->differences, table->name, computed->part.part,
                              changed ? CAUSE_ROWS : CAUSE_SOURCE);
    if (!as_computed &&
        !row_differences_have(&session->differences, table->name, computed->part.part))
        report_hash(session, table, computed, known);
}

static void explain_table(struct verify_session *session, const struct verified_table *table,
                          const struct hash_segments *known)
{
    /*
     * A run writes a hash only if the hash changes.  So the hash of any segment that was not
     * written is correct, and the rows were changed.
     */
    for (size_t i = 0; i < known->count; i++)
        row_differences_set_cause(&session->differences, table->name, known->parts[i].part,
                                  CAUSE_ROWS);
    for (size_t i = 0; i < session->part_count; i++) {
        struct row_hash there = hash_segments_find(known, session->parts[i].part.part);
        if (!strcmp(session->parts[i].table, table->name))
            explain_part(session, table, &session->parts[i], &there);
    }
}

/*
 * Does nothing if the cluster has no hashes.  If it has any, each table without a hash has lost its
 * hash.
 */
static int explain_tables(struct verify_session *session, struct error *err)
{
    struct hash_segments *known = memory_zeroed(verified_table_count, sizeof *known);
    bool any = false;
    int result = 0;
    for (size_t i = 0; !result && i < verified_table_count; i++) {
        result =
            stored_read(session->stored, session->cluster, verified_tables[i].name, &known[i], err);
        any |= known[i].count != 0;
    }
    for (size_t i = 0; i < verified_table_count; i++) {
        if (!result && any)
            explain_table(session, &verified_tables[i], &known[i]);
        hash_segments_free(&known[i]);
    }
    free(known);
    return result;
}

/* The checkpoint's row has the hashes of its sums and keys. */
static void explain_checkpoint(struct verify_session *session, bool damaged)
{
    bool any = false;
    for (size_t i = 0; i < session->differences.count; i++) {
        struct table_differences *of = &session->differences.tables[i];
        const struct verified_table *table = verified_table_named(of->table);
        bool of_sums = !strcmp(of->table, "fairmill_seal_usage"),
             of_open = !strcmp(of->table, "fairmill_seal_open");
        any |= table && table->kind == OF_CHECKPOINT;
        damaged |= table == verified_checkpoint_table && !of->list[0].stored;
        for (size_t k = 0; table && table->kind == OF_CHECKPOINT && k < of->listed; k++)
            if (damaged || (of_sums && !session->sums_differ) || (of_open && !session->open_differ))
                of->list[k].cause = CAUSE_ROWS;
            else if (of_sums || of_open || table == verified_checkpoint_table)
                of->list[k].cause = CAUSE_SOURCE;
    }
    if (damaged && !any)
        row_differences_add(
            &session->differences,
            &(struct row_difference){ .table = verified_checkpoint_table->name,
                                      .key = (char[]){ "" },
                                      .stored = (char[]){ "does not match its hash" },
                                      .cause = CAUSE_ROWS });
}

/* Rows that cannot be recomputed are verified by their hash only. */
static void report_record(struct verify_session *session, const struct kept_loss *loss)
{
    struct text key = { 0 };
    text_add(&key, "");
    if (loss->table != &stored_share_state)
        time_add(&key, loss->part);
    verify_report_hash(session, loss->table->name, key.bytes, loss->part,
                       (struct row_hash[]){ loss->found, loss->known });
    text_free(&key);
}

/*
 * Determines the causes of the differences from the stored hashes, and records hashes that do not
 * match.  Call after all rows were compared.
 */
static int verify_explain(struct verify_session *session, bool checkpoint_damaged,
                          struct error *err)
{
    if (explain_tables(session, err))
        return -1;
    explain_checkpoint(session, checkpoint_damaged);
    struct kept_losses losses = { 0 };
    int result = 0;
    for (size_t i = 0; !result && stored_records[i]; i++)
        result = stored_compare(session->stored, session->cluster, stored_records[i], &losses, err);
    /*
     * stored_share_state cannot be recomputed either, because it depends on modification times in
     * the accounting database, which have changed since.
     */
    if (!result)
        result =
            stored_compare(session->stored, session->cluster, &stored_share_state, &losses, err);
    for (size_t i = 0; i < losses.count; i++)
        report_record(session, &losses.list[i]);
    free(losses.list);
    return result;
}

/* The verifier's driver. */

static struct verify_session *verify_session_of(struct db *db)
{
    return (struct verify_session *)db;
}

struct verify_rows {
    struct db_rows base;
    struct db_rows *stored;
};

static struct db_rows *query(struct db *db, const struct db_question *question, struct error *err)
{
    struct db_rows *stored = (question->has_many_rows ? db_stream : db_query)(
        verify_session_of(db)->stored, question->sql, question->arguments, question->argument_count,
        question->column_types, err);
    if (!stored)
        return NULL;
    struct verify_rows *rows = memory_zeroed(1, sizeof *rows);
    *rows = (struct verify_rows){ { .db = db }, stored };
    return &rows->base;
}

static int fetch(struct db_rows *rows, const struct db_value **row, struct error *err)
{
    return db_fetch(((struct verify_rows *)rows)->stored, row, err);
}

static void verify_session_finish(struct db_rows *rows)
{
    db_finish(((struct verify_rows *)rows)->stored);
    free(rows);
}

static int do_nothing(struct db *db, struct error *err)
{
    (void)db;
    (void)err;
    return 0;
}

static void verify_session_forget(struct db *db)
{
    (void)db;
}

static int keep_lock_wait(struct db *db, unsigned seconds, struct error *err)
{
    (void)seconds;
    return do_nothing(db, err);
}

static int verify_session_clear(struct verify_session *session, const struct verified_table *shape,
                                const struct db_value *arguments, struct error *err)
{
    struct witnessed_table *table = witnessed(session, shape);
    int64_t day = shape->kind == BY_DAY ? arguments[1].integer : 0;
    int result = table->cleared_day == day ? 0 : verify_compare_with_none(session, shape, err);
    table->is_cleared = true;
    table->cleared_day = day;
    return result;
}

/* The arguments are the cluster, the day if the table is compared by day, and the ids. */
static void remove_some(struct verify_session *session, const struct verified_table *table,
                        const struct db_value *arguments, size_t count)
{
    size_t before = table->kind == BY_DAY ? 2 : 1;
    for (size_t i = before; i < count; i++) {
        const struct db_value keys[] = { before == 2 ? arguments[1] : arguments[i], arguments[i] };
        verify_differ_whole(session, table, keys, true);
    }
}

static int execute(struct db *db, const char *sql, const struct db_value *arguments, size_t count,
                   int64_t *changed, struct error *err)
{
    struct verify_session *session = verify_session_of(db);
    if (changed)
        *changed = 1;
    if (!strcmp(sql, sql_query_kept_remove))
        verify_add_segment(session, &arguments[1],
                           (struct hash_segment){ .part = arguments[2].integer });
    for (size_t i = 0; i < verified_table_count; i++) {
        const struct verified_table *table = &verified_tables[i];
        if (table->clear && !strcmp(sql, table->clear))
            return verify_session_clear(session, table, arguments, err);
        if (table->remove && !strncmp(sql, table->remove, strlen(table->remove)))
            remove_some(session, table, arguments, count);
    }
    return 0;
}

static const struct db_functions verify_functions = {
    .begin = do_nothing,
    .commit = do_nothing,
    .rollback = verify_session_forget,
    .query = query,
    .fetch = fetch,
    .finish = verify_session_finish,
    .execute = execute,
    .set_lock_wait = keep_lock_wait,
    .bulk_begin = verify_bulk_begin,
    .bulk_row = verify_bulk_row,
    .bulk_send = verify_bulk_send,
    .bulk_free = verify_bulk_free,
};

static const struct db_driver verify_driver = {
    .name = "witness",
    .functions = &verify_functions,
    .scan_hint = "",
};

struct db *verify_session_open(struct db *stored, const char *cluster)
{
    struct verify_session *session = memory_zeroed(1, sizeof *session);
    session->base = *stored;
    session->base.driver = &verify_driver;
    session->base.functions = &verify_functions;
    session->base.rows = NULL;
    session->base.writing = false;
    session->stored = stored;
    session->cluster = cluster;
    session->tables = memory_zeroed(verified_table_count, sizeof *session->tables);
    return &session->base;
}

int verify_session_end(struct db *db, bool checkpoint_damaged, struct row_differences *differences,
                       struct error *err)
{
    struct verify_session *session = verify_session_of(db);
    for (size_t i = 0; i < verified_table_count; i++)
        if (verify_compare_with_none(session, &verified_tables[i], err))
            return -1;
    if (verify_explain(session, checkpoint_damaged, err))
        return -1;
    *differences = session->differences;
    session->differences = (struct row_differences){ 0 };
    return 0;
}

void verify_session_close(struct db *db)
{
    struct verify_session *session = verify_session_of(db);
    if (!session)
        return;
    for (size_t i = 0; i < session->part_count; i++)
        free(session->parts[i].table);
    free(session->parts);
    free(session->tables);
    row_differences_free(&session->differences);
    free(session);
}
