/* SPDX-License-Identifier: MIT */
#include "import/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "results/rows.h"
#include "results/script.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

static const struct import_store_dialect {
    const char *driver, *tables;
} dialects[] = {
    { "mysql", sql_mysql_pbs },
    { "pgsql", sql_pgsql_pbs },
    { "sqlite", sql_sqlite_pbs },
};

static const char *tables_of(const struct db *db)
{
    const struct import_store_dialect *dialect = dialects;
    while (strcmp(dialect->driver, db->driver->name))
        dialect++;
    return dialect->tables;
}

/*
 * MySQL's script creates the index together with the table, so a table from an older release of
 * fairmill lacks the index.
 */
static int add_index(struct db *db, struct error *err)
{
    int64_t count = 1;
    if (strcmp(db->driver->name, "mysql") != 0)
        return 0;
    if (rows_read_integer(db, sql_query_pbs_job_index_mysql, NULL, 0, &count, err) < 0)
        return -1;
    return count ? 0 : db_execute(db, sql_query_pbs_job_add_index, NULL, 0, NULL, err);
}

static int import_store_prepare(struct db *db, char lock[DB_LOCK_NAME], struct error *err)
{
    int slurm = db_has_table(db, "acct_table", err);
    if (slurm > 0)
        return fail(err, ERROR_SETTINGS,
                    "'%s' is slurmdbd's database; use a separate database for OpenPBS", db->name);
    if (slurm < 0 || db_script(db, tables_of(db), err) ||
        script_add_columns(db, tables_of(db), false, err))
        return -1;
    if (db_name_lock(db, "import", lock, err))
        return -1;
    if (!db_lock(db, lock, err))
        return add_index(db, err);
    return err->class == ERROR_LOCKED ? fail(err, ERROR_LOCKED, "another import is running") : -1;
}

int store_open(struct db **db, char lock[DB_LOCK_NAME], const struct settings *settings,
               struct error *err)
{
    if (db_open(db, &settings->source, DB_OWNER, err))
        return -1;
    if (!import_store_prepare(*db, lock, err))
        return 0;
    db_close(*db);
    return -1;
}

void store_close(struct db *db, const char *lock)
{
    db_unlock(db, lock);
    db_close(db);
}

int store_forget(struct db *db, const char *cluster, struct error *err)
{
    static const char *const statements[] = {
        sql_query_pbs_file_forget,    sql_query_pbs_job_forget,  sql_query_pbs_suspension_forget,
        sql_query_pbs_refused_forget, sql_query_pbs_seen_forget, NULL
    };
    struct db_value name = db_text(cluster);
    return rows_execute_all(db, statements, &name, 1, err);
}

static void import_store_enter(struct log_list *list, const struct db_value *row)
{
    char *name = db_value_text(&row[0]);
    for (size_t i = 0; i < list->count; i++) {
        struct log_file *log = &list->files[i];
        if (strcmp(log->name, name) != 0)
            continue;
        char *digest = db_value_text(&row[3]), *stored = db_value_text(&row[4]);
        log->bytes = (uint64_t)db_value_integer(&row[1], 0);
        log->lines = (uint64_t)db_value_integer(&row[2], 0);
        snprintf(log->digest, sizeof log->digest, "%s", digest);
        snprintf(log->stored, sizeof log->stored, "%s", stored);
        free(digest);
        free(stored);
    }
    free(name);
}

int store_read_logs(struct db *db, const char *cluster, struct log_list *list, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_pbs_file_read, &name, 1, "tiitt", err);
    while (db_fetch(rows, &row, err) > 0)
        import_store_enter(list, row);
    return db_finish(rows);
}

int store_write_log(struct db *db, const char *cluster, const struct log_file *log,
                    struct error *err)
{
    const struct row_field fields[] = {
        { "cluster", 't', db_text(cluster) },      { "name", 't', db_text(log->name) },
        { "bytes", 'i', db_unsigned(log->bytes) }, { "rows", 'i', db_unsigned(log->lines) },
        { "digest", 't', db_text(log->digest) },   { "stored", 't', db_text(log->stored) },
    };
    return rows_write_one(db, "pbs_file", 2, fields, COUNT(fields), err);
}

int store_next_key(struct db *db, const char *cluster, uint64_t *key, struct error *err)
{
    int64_t last = 0;
    const struct db_value names[] = { db_text(cluster), db_text(cluster) };
    if (rows_read_integer(db, sql_query_pbs_job_last, names, 2, &last, err) < 0)
        return -1;
    *key = (uint64_t)last + 1;
    return 0;
}

static void add_open(struct runs *runs, const struct db_value *row)
{
    bool is_restarted = reads_as(row[13].text.bytes, row[13].text.length, "restarted");
    struct run run = { .key = (uint64_t)db_value_integer(&row[0], 0),
                       .job_id = db_value_text(&row[1]),
                       .state = is_restarted ? "restarted" : "running",
                       .ctime = (uint64_t)db_value_integer(&row[7], 0),
                       .qtime = (uint64_t)db_value_integer(&row[8], 0),
                       .etime = (uint64_t)db_value_integer(&row[9], 0),
                       .start = (uint64_t)db_value_integer(&row[10], 0),
                       .exit_status = NO_EXIT_STATUS,
                       .requested = db_value_text(&row[11]),
                       .used = memory_text("") };
    for (size_t i = 0; i < RUN_TEXTS; i++)
        run.texts[i] = db_value_text(&row[2 + i]);
    runs_add_stored(runs, &run, (uint64_t)db_value_integer(&row[12], 0));
}

int store_read_open(struct db *db, const char *cluster, struct runs *runs, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_pbs_job_open, &name, 1,
                                    "itttttt"
                                    "iiii"
                                    "tit",
                                    err);
    while (db_fetch(rows, &row, err) > 0)
        add_open(runs, row);
    return db_finish(rows);
}

struct twins {
    uint64_t *removed; /* keys */
    size_t count;
};

/*
 * Adds one of two duplicate job executions to the list of executions to be removed.  If only the
 * later execution has a recorded end, and the end of the earlier was derived from other records,
 * keeps the later.  Otherwise keeps the earlier execution.
 */
static void take_twin(struct twins *twins, const struct db_value *row)
{
    const struct part first = part_of_column(&row[2]), second = part_of_column(&row[3]);
    bool ended = part_is(&second, "ended") || part_is(&second, "rerun");
    bool keeps_second = part_is(&first, "aborted") && ended;
    *memory_append(&twins->removed, &twins->count) =
        (uint64_t)db_value_integer(&row[keeps_second ? 0 : 1], 0);
}

static int remove_twins(struct db *db, const char *cluster, const struct twins *twins,
                        struct runs *runs, struct error *err)
{
    static const char *const statements[] = { sql_query_pbs_suspension_remove,
                                              sql_query_pbs_job_remove, NULL };
    for (size_t i = 0; i < twins->count; i++) {
        const struct db_value arguments[] = { db_text(cluster), db_unsigned(twins->removed[i]) };
        runs_drop(runs, twins->removed[i]);
        if (rows_execute_all(db, statements, arguments, 2, err))
            return -1;
    }
    return 0;
}

int store_remove_twins(struct db *db, const char *cluster, uint64_t key, struct runs *runs,
                       struct error *err)
{
    struct twins twins = { 0 };
    const struct db_value *row, arguments[] = { db_text(cluster), db_unsigned(key) };
    struct db_rows *rows = db_query(db, sql_query_pbs_job_twins, arguments, 2, "iitt", err);
    while (db_fetch(rows, &row, err) > 0)
        take_twin(&twins, row);
    int result = db_finish(rows) || remove_twins(db, cluster, &twins, runs, err) ? -1 : 0;
    free(twins.removed);
    return result;
}

/*
 * Rows that replace stored rows are held back until all new rows are sent, because a session can
 * have only one bulk write at a time.  Only job executions that had not ended at the last import
 * have such rows, so there are few.
 */
struct store_writer {
    struct db *db;
    const char *cluster;
    struct entities *entities;
    struct row_writer added;
    struct run *replaced;
    size_t replaced_count;
    struct suspension_told *suspensions;
    size_t suspension_count;
};

struct store_writer *store_writer_create(struct db *db, const char *cluster,
                                         struct entities *entities)
{
    struct store_writer *writer = memory_zeroed(1, sizeof *writer);
    writer->db = db;
    writer->cluster = cluster;
    writer->entities = entities;
    writer->added = (struct row_writer){ .db = db, .table = "pbs_job" };
    return writer;
}

static int add_run(struct store_writer *writer, struct row_writer *rows, const struct run *run,
                   struct error *err)
{
    const struct row_field fields[] = {
        { "cluster", 't', db_text(writer->cluster) },
        { "job_key", 'i', db_unsigned(run->key) },
        { "job_id", 't', db_text(run->job_id) },
        { "state", 't', db_text(run->state) },
        { "euser", 't', db_text(run->texts[RUN_EUSER]) },
        { "egroup", 't', db_text(run->texts[RUN_EGROUP]) },
        { "account", 't', db_text(run->texts[RUN_ACCOUNT]) },
        { "project", 't', db_text(run->texts[RUN_PROJECT]) },
        { "queue", 't', db_text(run->texts[RUN_QUEUE]) },
        { "ctime", 'i', db_unsigned(run->ctime) },
        { "qtime", 'i', db_unsigned(run->qtime) },
        { "etime", 'i', db_unsigned(run->etime) },
        { "time_start", 'i', db_unsigned(run->start) },
        { "time_end", 'i', db_unsigned(run->end) },
        { "exit_status", 'i',
          run->exit_status == NO_EXIT_STATUS ? db_null() : db_integer(run->exit_status) },
        { "requested", 't', db_text(run->requested) },
        { "used", 't', db_text(run->used) },
    };
    return rows_add(rows, fields, COUNT(fields), err);
}

static struct run import_store_copy_of(const struct run *run)
{
    struct run copy = *run;
    copy.job_id = memory_text(run->job_id);
    copy.requested = memory_text(run->requested);
    copy.used = memory_text(run->used);
    for (size_t i = 0; i < RUN_TEXTS; i++)
        copy.texts[i] = memory_text(run->texts[i]);
    return copy;
}

static int import_store_take_run(void *context, const struct run *run, bool stored,
                                 struct error *err)
{
    struct store_writer *writer = context;
    const struct entity_job job = { run->texts[RUN_EUSER], run->texts[RUN_EGROUP],
                                    run->texts[RUN_ACCOUNT], run->texts[RUN_QUEUE] };
    entities_see_job(writer->entities, &job, (int64_t)(run->qtime ? run->qtime : run->start));
    if (!stored)
        return add_run(writer, &writer->added, run, err);
    *memory_append(&writer->replaced, &writer->replaced_count) = import_store_copy_of(run);
    return 0;
}

static int take_suspension(void *context, const struct suspension_told *suspension,
                           struct error *err)
{
    struct store_writer *writer = context;
    (void)err;
    /* A suspension that began and ended within a log is passed twice; the last version is used. */
    for (size_t i = writer->suspension_count; i-- > 0;) {
        struct suspension_told *told = &writer->suspensions[i];
        if (told->key == suspension->key && told->start == suspension->start) {
            *told = *suspension;
            return 0;
        }
    }
    *memory_append(&writer->suspensions, &writer->suspension_count) = *suspension;
    return 0;
}

struct run_taker store_writer_taker(struct store_writer *writer)
{
    return (struct run_taker){ writer, import_store_take_run, take_suspension };
}

static int send_replaced(struct store_writer *writer, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = writer->db, .table = "pbs_job", .keys = 2 };
    for (size_t i = 0; i < writer->replaced_count && !result; i++)
        result = add_run(writer, &rows, &writer->replaced[i], err);
    return rows_end(&rows, result, err);
}

static int send_suspensions(struct store_writer *writer, struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = writer->db, .table = "pbs_suspension", .keys = 3 };
    for (size_t i = 0; i < writer->suspension_count && !result; i++) {
        const struct suspension_told *told = &writer->suspensions[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(writer->cluster) },
            { "job_key", 'i', db_unsigned(told->key) },
            { "time_start", 'i', db_unsigned(told->start) },
            { "time_end", 'i', db_unsigned(told->end) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

int store_writer_flush(struct store_writer *writer, int result, struct error *err)
{
    result = rows_end(&writer->added, result, err);
    if (!result)
        result = send_replaced(writer, err);
    if (!result)
        result = send_suspensions(writer, err);
    if (!result)
        result = entities_store(writer->entities, err);
    for (size_t i = 0; i < writer->replaced_count; i++)
        run_free(&writer->replaced[i]);
    writer->replaced_count = writer->suspension_count = 0;
    free(writer->replaced);
    free(writer->suspensions);
    writer->replaced = NULL;
    writer->suspensions = NULL;
    writer->added = (struct row_writer){ .db = writer->db, .table = "pbs_job" };
    return result;
}

/* Limits of a list.  A log with more invalid lines is not an accounting log. */
#define MOST_LINES 1000
#define MOST_BYTES (8u * 1024 * 1024)

static void import_store_add(struct refused_list *list, struct refused_line line)
{
    *memory_append(&list->lines, &list->count) = line;
}

void refused_list_add(struct refused_list *list, const char *name, uint64_t row, struct part line)
{
    if (list->count == MOST_LINES || list->bytes + line.length > MOST_BYTES)
        return;
    list->bytes += line.length;
    import_store_add(list, (struct refused_line){ memory_text(name), row,
                                                  utf8_copy(line.bytes, line.length), false });
}

void refused_list_free(struct refused_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->lines[i].name);
        free(list->lines[i].text);
    }
    free(list->lines);
    *list = (struct refused_list){ 0 };
}

int refused_read(struct db *db, const char *cluster, struct refused_list *list, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_pbs_refused_read, &name, 1, "tit", err);
    while (db_fetch(rows, &row, err) > 0)
        import_store_add(list, (struct refused_line){ db_value_text(&row[0]),
                                                      (uint64_t)db_value_integer(&row[1], 0),
                                                      db_value_text(&row[2]), false });
    return db_finish(rows);
}

int refused_store(struct db *db, const char *cluster, const struct refused_list *list,
                  struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = db, .table = "pbs_refused", .keys = 3 };
    for (size_t i = 0; i < list->count && !result; i++) {
        const struct refused_line *line = &list->lines[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(cluster) },
            { "name", 't', db_text(line->name) },
            { "row", 'i', db_unsigned(line->row) },
            { "text", 't', db_text(line->text) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

int refused_remove(struct db *db, const char *cluster, const struct refused_list *list,
                   struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct refused_line *line = &list->lines[i];
        const struct db_value arguments[] = { db_text(cluster), db_text(line->name),
                                              db_unsigned(line->row) };
        if (line->is_read && db_execute(db, sql_query_pbs_refused_remove, arguments, 3, NULL, err))
            return -1;
    }
    return 0;
}
