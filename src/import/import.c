/* SPDX-License-Identifier: MIT */
#include "import/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/priority/formula_jobs.h"
#include "import/groups.h"
#include "import/logs.h"
#include "import/qstat.h"
#include "import/sched_config.h"
#include "import/server_database.h"
#include "import/store.h"
#include "import/usage_file.h"
#include "import/waiting.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/log.h"

/*
 * A log passes through three stages.  log_read() reads its lines, and a line queue joins the lines
 * of one record.  runs_take() derives job executions (import/record.h) from the records.  The store
 * writer collects the rows of the executions.  At the end of the log, store_runs() writes these
 * rows and the open executions, and removes executions that are recorded twice.
 */

/* Maximum number of invalid lines for which one import prints a message. */
#define NAMED_LINES 20
/*
 * date_changes() dates a change by less than this many seconds after the current time.  If the last
 * change is further in the future, dated_check() rejects the new change.
 */
#define MOST_CHANGES 60

struct importer {
    struct import *import;
    void (*complain)(const struct error *err);
    struct db *db;
    char lock[DB_LOCK_NAME];
    struct store_writer *writer;
    struct runs *runs;
    struct record record;
    struct line_queue *queue;                  /* lines of the current log */
    struct refused_list refused;               /* lines of the current log that cannot be read */
    struct dated_value scheduler[SERVER_KEYS]; /* attributes of the scheduler */
    bool has_server;                           /* the server's attributes were imported */
};

static void complain_of(struct importer *importer, const struct log_file *log, uint64_t number,
                        struct part line, struct error *err)
{
    refused_list_add(&importer->refused, log->name, number, line);
    if (importer->import->bad_lines++ >= NAMED_LINES)
        return;
    fail_in(err, "'%s', line %" PRIu64, log->path, number);
    importer->complain(err);
}

static int import_take_record(void *context, const struct log_file *log, uint64_t number,
                              struct part line, struct error *err)
{
    struct importer *importer = context;
    int refused = record_read(&importer->record, line, err) ? 1 : 0;
    if (!refused)
        refused = runs_take(importer->runs, &importer->record, err);
    if (refused > 0)
        complain_of(importer, log, number, line, err);
    return refused < 0 ? -1 : 0;
}

static int import_take_line(void *context, const struct log_file *log, uint64_t number,
                            struct part line, struct error *err)
{
    struct importer *importer = context;
    if (!number) {
        record_pass(&importer->record, line);
        return 0;
    }
    importer->import->lines++;
    log_progress(importer->import->cluster, importer->import->lines, "lines");
    return line_queue_add(importer->queue, log, number, line, err);
}

/*
 * Stores the new job executions, which have keys from `key` up, and the open executions that
 * changed.
 */
static int store_runs(struct importer *importer, uint64_t key, int result, struct error *err)
{
    if (!result)
        result = runs_store_open(importer->runs, err);
    result = store_writer_flush(importer->writer, result, err);
    return result || store_remove_twins(importer->db, importer->import->cluster, key,
                                        importer->runs, err)
               ? -1
               : 0;
}

/* Tries to read a line again that an earlier import could not read. */
static int retry_line(struct importer *importer, struct refused_line *line, struct error *err)
{
    struct record record = { 0 };
    struct error reason;
    int refused = record_read(&record, (struct part){ line->text, strlen(line->text) }, &reason)
                      ? 1
                      : runs_take(importer->runs, &record, &reason);
    record_free(&record);
    line->is_read = !refused;
    if (refused < 0)
        *err = reason;
    return refused < 0 ? -1 : 0;
}

static int retry_lines(struct importer *importer, const struct refused_list *list,
                       struct error *err)
{
    uint64_t key = runs_next_key(importer->runs);
    int result = 0;
    for (size_t i = 0; i < list->count && !result; i++)
        result = retry_line(importer, &list->lines[i], err);
    result = store_runs(importer, key, result, err);
    return result || refused_remove(importer->db, importer->import->cluster, list, err) ? -1 : 0;
}

static int retry(struct importer *importer, struct error *err)
{
    struct refused_list list = { 0 };
    bool alone = !importer->import->anew;
    int result = refused_read(importer->db, importer->import->cluster, &list, err);
    if (!result && list.count && alone)
        result = db_begin(importer->db, err);
    if (!result && list.count) {
        result = retry_lines(importer, &list, err);
        result = alone ? rows_commit(importer->db, result, err) : result;
    }
    refused_list_free(&list);
    return result;
}

static int import_lines(struct importer *importer, struct log_file *log, struct error *err)
{
    uint64_t key = runs_next_key(importer->runs);
    importer->queue = line_queue_create(import_take_record, importer);
    int result = log_read(log, import_take_line, importer, err);
    if (!result)
        result = line_queue_flush(importer->queue, log, err);
    line_queue_destroy(importer->queue);
    result = store_runs(importer, key, result, err);
    if (!result)
        result = refused_store(importer->db, importer->import->cluster, &importer->refused, err);
    refused_list_free(&importer->refused);
    return result;
}

static int import_log(struct importer *importer, struct log_file *log, struct error *err)
{
    char stored[sizeof log->stored];
    if (log_stored(log, stored, err))
        return -1;
    if (!strcmp(stored, log->stored))
        return 0;
    bool alone = !importer->import->anew;
    if (alone && db_begin(importer->db, err))
        return -1;
    int result = import_lines(importer, log, err);
    if (!result)
        result = store_write_log(importer->db, importer->import->cluster, log, err);
    importer->import->logs++;
    return alone ? rows_commit(importer->db, result, err) : result;
}

static int import_new(struct importer *importer, struct log_list *list, struct error *err)
{
    const char *cluster = importer->import->cluster;
    int result = store_read_open(importer->db, cluster, importer->runs, err);
    if (!result)
        result = retry(importer, err);
    for (size_t i = 0; i < list->count && !result; i++)
        result = import_log(importer, &list->files[i], err);
    log_progress_done();
    return result;
}

static int import_all(struct importer *importer, struct log_list *list, struct error *err)
{
    uint64_t next;
    const char *cluster = importer->import->cluster;
    if (store_read_logs(importer->db, cluster, list, err) ||
        store_next_key(importer->db, cluster, &next, err))
        return -1;
    struct entities *entities = entities_read(importer->db, cluster, err);
    if (!entities)
        return -1;
    importer->writer = store_writer_create(importer->db, cluster, entities);
    const struct run_taker taker = store_writer_taker(importer->writer);
    importer->runs = runs_create(next, &taker);
    int result = import_new(importer, list, err);
    runs_destroy(importer->runs);
    free(importer->writer);
    entities_destroy(entities);
    record_free(&importer->record);
    return result;
}

/* Uses one transaction, so that a concurrent `fairmill run` sees the old jobs until the import
 * ends. */
static int import_anew(struct importer *importer, struct log_list *list, struct error *err)
{
    if (db_begin(importer->db, err))
        return -1;
    int result = store_forget(importer->db, importer->import->cluster, err);
    if (!result)
        result = import_all(importer, list, err);
    return rows_commit(importer->db, result, err);
}

static int import_logs(struct importer *importer, struct error *err)
{
    struct log_list list;
    if (log_list_read(&list, importer->import->accounting, err))
        return -1;
    int result = importer->import->anew ? import_anew(importer, &list, err)
                                        : import_all(importer, &list, err);
    log_list_free(&list);
    return result;
}

/*
 * If the changes are to be dated at the time of this call, dates them after the last stored change.
 * That change may have been made in the same second.
 */
static int date_changes(struct importer *importer, struct error *err)
{
    struct import *import = importer->import;
    const struct db_value names[] = { db_text(import->cluster), db_text(import->cluster) };
    int64_t last = 0;
    if (!import->is_now)
        return 0;
    if (rows_read_integer(importer->db, sql_query_pbs_change_last, names, 2, &last, err) < 0)
        return -1;
    if (last >= import->time && last - import->time < MOST_CHANGES)
        import->time = last + 1;
    return 0;
}

/* Stores values of OpenPBS's settings. */
static int store_values(struct importer *importer, struct dated_values values, struct error *err)
{
    struct import *import = importer->import;
    int result = db_begin(importer->db, err);
    if (!result)
        result = dated_store(importer->db, import->cluster, values, import->time,
                             &import->changed_values, err);
    return rows_commit(importer->db, result, err);
}

static int import_config(struct importer *importer, struct error *err)
{
    struct dated_value values[PBS_SCHED_KEYS];
    if (sched_config_read(values, importer->import->config, err))
        return -1;
    int result = store_values(importer, (struct dated_values){ values, PBS_SCHED_KEYS }, err);
    dated_free(values, PBS_SCHED_KEYS);
    return result;
}

/* Records the reason if runs cannot evaluate a new formula. */
static void check_formula(struct import *import, const struct dated_value *server)
{
    const char *text = server[PBS_SORT_FORMULA - PBS_SCHED_KEYS].value;
    const char *threshold = server[PBS_SORT_THRESHOLD - PBS_SCHED_KEYS].value;
    if (!text || !import->changed_values)
        return;
    struct formula_jobs *jobs = formula_jobs_create(text, threshold ? threshold : "");
    import->has_formula_flaw = jobs->flaw != NULL;
    if (jobs->flaw)
        fail(&import->formula_flaw, ERROR_SETTINGS, "%s", jobs->flaw);
    formula_jobs_destroy(jobs);
}

/*
 * The formula is an attribute of the server.  OpenPBS uses the scheduler's formula only if the
 * server's formula is not set.
 */
static void import_add_formula(struct importer *importer, struct waiting *waiting)
{
    const size_t formula = PBS_SORT_FORMULA - PBS_SCHED_KEYS;
    char **from = &importer->scheduler[formula].value;
    importer->has_server = waiting->has_server;
    if (!waiting->has_server || waiting->server[formula].value)
        return;
    waiting->server[formula].value = *from;
    *from = NULL;
}

static int store_scheduler(struct importer *importer, struct error *err)
{
    struct dated_value *values = importer->scheduler;
    bool has_formula =
        !importer->has_server && values[PBS_SORT_FORMULA - PBS_SCHED_KEYS].value != NULL;
    const struct dated_values stored = { has_formula ? values : values + 1,
                                         has_formula ? SERVER_KEYS : SERVER_KEYS - 1 };
    int result = store_values(importer, stored, err);
    if (!result && has_formula)
        check_formula(importer->import, values);
    return result;
}

/* Imports the queue from the output of qstat or from the server's own database. */
static int import_waiting(struct importer *importer, struct error *err)
{
    struct import *import = importer->import;
    struct waiting waiting = { .complain = importer->complain };
    if (import->queue ? qstat_read(&waiting, import->queue, err)
                      : server_database_read(&waiting, import->server,
                                             importer->db->settings->deadline_s, err))
        return -1;
    import->waiting = waiting.job_count;
    import->bad_jobs = waiting.skipped;
    import_add_formula(importer, &waiting);
    int result =
        waiting_store(importer->db, import->cluster, &waiting, &import->changed_values, err);
    if (!result)
        check_formula(import, waiting.server);
    waiting_free(&waiting);
    return result;
}

int import_run(struct import *import, const struct settings *settings,
               void (*take_error)(const struct error *err), struct error *err)
{
    struct importer importer = { .import = import, .complain = take_error };
    if (import->scheduler && scheduler_print_read(importer.scheduler, import->scheduler, err))
        return -1;
    if (store_open(&importer.db, importer.lock, settings, err)) {
        dated_free(importer.scheduler, SERVER_KEYS);
        return -1;
    }
    int result = date_changes(&importer, err);
    if (!result && import->groups)
        result = groups_import(importer.db, import->cluster, import->groups, import->time,
                               &import->changed_groups, err);
    if (!result && import->config)
        result = import_config(&importer, err);
    if (!result && import->usage)
        result = usage_import(importer.db, import->cluster, import->usage, &import->usages, err);
    if (!result && import->accounting)
        result = import_logs(&importer, err);
    if (!result && (import->queue || import->server))
        result = import_waiting(&importer, err);
    if (!result && import->scheduler)
        result = store_scheduler(&importer, err);
    dated_free(importer.scheduler, SERVER_KEYS);
    store_close(importer.db, importer.lock);
    return result;
}
