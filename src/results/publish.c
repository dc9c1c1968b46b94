/* SPDX-License-Identifier: MIT */
#include "results/publish.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/finding.h"
#include "results/association_times.h"
#include "results/checkpoint_rows.h"
#include "results/days.h"
#include "results/factor_rows.h"
#include "results/history.h"
#include "results/history_rows.h"
#include "results/ledger_rows.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/settings_rows.h"
#include "results/share_rows.h"
#include "results/stored_state.h"
#include "results/tres_names.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

static const char *os_user(void)
{
    const struct passwd *entry = getpwuid(geteuid());
    return entry ? entry->pw_name : "";
}

/* Writes the run's row of fairmill_run.  `status` is "done" or "failed". */
static int run_rows_write(const struct publisher *publisher, const struct run_record *record,
                          const char *status, struct error *err)
{
    const struct settings *settings = publisher->settings;
    struct text converted = { 0 };
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    struct row_field row[] = {
        { "cluster", 't', db_text(publisher->cluster) },
        { "run_id", 'i', db_integer(publisher->run_id) },
        { "as_of", 'i', db_integer(record->as_of) },
        { "started_at", 'i', db_integer(record->started_at) },
        { "duration_ms", 'i', db_integer(record->duration_ms) },
        { "kind", 't', db_text(record->kind) },
        { "why", 't', db_text(record->why) },
        { "status", 't', db_text(status) },
        { "algorithm", 't', db_text(settings->algorithm->name) },
        { "conformance", 't', db_text(conformance_name(settings->conformance)) },
        { "slurm_version", 't',
          record->slurm_version ? db_text(record->slurm_version) : db_null() },
        { "usage_unit", 't', db_text(record->usage_unit ? record->usage_unit : USAGE_UNIT) },
        { "half_life", 'i', db_integer((int64_t)record->half_life_s) },
        { "time_zone", 't', db_text(settings->time_zone) },
        { "associations", 'i', rows_integer(record->associations) },
        { "users", 'i', rows_integer(record->users) },
        { "jobs_read", 'i', rows_integer(record->jobs_read) },
        { "unattributed_usage", 'r', rows_real(record->unattributed_usage) },
        { "truncation_bound", 'r', rows_real(record->truncation_bound) },
        { "source_newest", 'i', rows_integer(record->source_newest) },
        { "source_lag", 'i',
          record->source_newest < 0 ? db_null() : db_integer(record->source_lag) },
        { "drift_max", 'r', rows_real(record->drift_max) },
        { "drifted_associations", 'i', rows_integer(record->drifted) },
        { "settings_digest", 't', db_text(settings->digest) },
        { "version", 't', db_text(PACKAGE_VERSION) },
        { "host", 't', db_text(host) },
        { "os_user", 't', db_text(os_user()) },
        { "message", 't', rows_text(record->message, &converted) },
    };
    /*
     * A failed run never replaces an existing row.  The run may have been published, if only the
     * response to COMMIT was lost.
     */
    size_t keys = strcmp(status, "failed") ? 2 : 0;
    int result = rows_write_one(publisher->db, "fairmill_run", keys, row, COUNT(row), err);
    text_free(&converted);
    return result;
}

/*
 * Maximum number of attempts to take a run_id.  An attempt fails if another run takes the same
 * run_id first.
 */
#define COUNTER_TRIES 100

static int take_lock(struct publisher *publisher, struct error *err)
{
    if (db_name_lock(publisher->db, publisher->cluster, publisher->lock, err))
        return -1;
    if (db_lock(publisher->db, publisher->lock, err)) {
        if (err->class == ERROR_LOCKED)
            fail(err, ERROR_LOCKED, "another run of this cluster is in progress");
        return -1;
    }
    publisher->locked = true;
    return 0;
}

/*
 * Takes the next run_id.  The counter's row is locked only for one statement, so a run that hangs
 * does not block other clusters.
 */
static int take_run_id(struct publisher *publisher, struct error *err)
{
    struct db_value counter = db_text("");
    for (int i = 0; i < COUNTER_TRIES; i++) {
        int64_t last = 0, hit = 0;
        int found = rows_read_integer(publisher->db, sql_query_fence_read, &counter, 1, &last, err);
        if (found < 0)
            return -1;
        if (!found)
            return fail(err, ERROR_MISSING,
                        "fairmill_lock lacks the row that counts runs; run `fairmill init`");
        struct db_value seen = db_integer(last);
        if (db_execute(publisher->db, sql_query_counter_step, &seen, 1, &hit, err))
            return -1;
        if (hit == 1) {
            publisher->run_id = last + 1;
            return 0;
        }
    }
    return fail(err, ERROR_RETRY,
                "cannot take a number for this run: other runs took it first, %d times",
                COUNTER_TRIES);
}

/*
 * Reads which run published the cluster last, and its time.  Creates the cluster's row before its
 * first run.
 */
static int publish_read_last(struct publisher *publisher, struct error *err)
{
    struct db *db = publisher->db;
    struct db_value cluster[] = { db_text(publisher->cluster), db_text(publisher->cluster) };
    int found = rows_read_integer(db, sql_query_fence_read, cluster, 1, &publisher->seen_run, err);
    if (found < 0 || (!found && db_execute(db, sql_query_fence_make, cluster, 2, NULL, err)))
        return -1;
    found =
        rows_read_integer(db, sql_query_published, cluster, 1, &publisher->published_as_of, err);
    publisher->has_published = found > 0;
    return found < 0 ? -1 : 0;
}

int publisher_start(struct publisher *publisher, struct db *db, const struct settings *settings,
                    const char *cluster, struct error *err)
{
    *publisher = (struct publisher){ .db = db, .settings = settings, .cluster = cluster };
    if (take_lock(publisher, err) || take_run_id(publisher, err) ||
        publish_read_last(publisher, err)) {
        publisher_end(publisher);
        return -1;
    }
    return 0;
}

int publisher_lock(struct publisher *publisher, struct db *db, const struct settings *settings,
                   const char *cluster, struct error *err)
{
    *publisher = (struct publisher){ .db = db, .settings = settings, .cluster = cluster };
    return take_lock(publisher, err);
}

/* Sets `*published` to whether this run's transaction was committed. */
static int find_run(const struct publisher *publisher, bool *published, struct error *err)
{
    int64_t run;
    struct db_value key[] = { db_text(publisher->cluster), db_integer(publisher->run_id) };
    int found = rows_read_integer(publisher->db, sql_query_run_find, key, 2, &run, err);
    *published = found > 0;
    return found < 0 ? -1 : 0;
}

int publisher_resume(struct publisher *publisher, struct db *db, bool *published, struct error *err)
{
    publisher_abandon(publisher);
    publisher->db = db;
    publisher->locked = false;
    if (find_run(publisher, published, err))
        return -1;
    if (*published)
        return 0;
    /* Query again: the COMMIT may have succeeded while the broken session still held the lock. */
    return take_lock(publisher, err) ? -1 : find_run(publisher, published, err);
}

static int step_fence(struct publisher *publisher, const char *source, struct error *err)
{
    struct db_value arguments[] = { db_integer(publisher->run_id), db_text(source),
                                    db_text(publisher->cluster), db_integer(publisher->seen_run) };
    int64_t hit = 0;
    if (db_execute(publisher->db, sql_query_fence_step, arguments, 4, &hit, err))
        return -1;
    if (hit != 1)
        return fail(err, ERROR_LOCKED, "another run published this cluster in the meantime");
    return 0;
}

/* Separates the next clause from the record's message. */
static void begin_clause(struct text *message, const struct run_record *record)
{
    if (!message->length)
        text_add(message, record->message);
    if (message->length)
        text_add(message, "; ");
}

/* Reports problems with the daily usage in findings and in the run's row. */
static void add_repairs(const struct days *days, struct findings *findings,
                        struct run_record *record, struct text *message)
{
    const struct day_repairs *repairs = &days->repairs;
    if (days->behind)
        findings_add(findings, FINDING_DAYS_INCOMPLETE, 0,
                     "last stored by a run before the previous one");
    if (repairs->lost) {
        struct text day = { 0 };
        time_add_day(&day, (int64_t)repairs->first_lost);
        findings_add(findings, FINDING_DAYS_LOST, 0, "%" PRIu64 " %s, the first %s", repairs->lost,
                     repairs->lost == 1 ? "day" : "days", day.bytes);
        text_free(&day);
    }
    if (days->border) {
        begin_clause(message, record);
        text_add(message, "the time zone changed: usage of days before ");
        time_add(message, (int64_t)days->border);
        text_add(message, " does not change");
        record->message = message->bytes;
    }
    if (repairs->waits)
        findings_add(findings, FINDING_KEPT_CHANGED, 1, "jobs by waiting time on %" PRIu64 " %s",
                     repairs->waits, repairs->waits == 1 ? "day" : "days");
    if (!repairs->days && !repairs->rows)
        return;
    findings_add(findings, FINDING_KEPT_CHANGED, 0,
                 "usage of %" PRIu64 " %s, in which %" PRIu64 " %s differed", repairs->days,
                 repairs->days == 1 ? "day" : "days", repairs->rows,
                 repairs->rows == 1 ? "row" : "rows");
    begin_clause(message, record);
    text_format(message,
                "recomputed the usage of %" PRIu64 " %s, in which %" PRIu64 " %s had been changed",
                repairs->days, repairs->days == 1 ? "day" : "days", repairs->rows,
                repairs->rows == 1 ? "row" : "rows");
    record->message = message->bytes;
    if (!(record->drift_max >= repairs->drift))
        record->drift_max = repairs->drift;
}

/* Finds damaged rows that cannot be recomputed. */
static int find_losses(struct publisher *publisher, struct error *err)
{
    for (size_t i = 0; stored_records[i]; i++)
        if (stored_compare(publisher->db, publisher->cluster, stored_records[i], publisher->losses,
                           err))
            return -1;
    return 0;
}

/* Begins the transaction and steps the fence.  Call publisher_close() afterwards, even on failure.
 */
static int publisher_open(struct publisher *publisher, const char *source, bool looks_through,
                          struct error *err)
{
    publisher->losses = memory_zeroed(1, sizeof *publisher->losses);
    if (settings_rows_write(publisher, err) || (looks_through && find_losses(publisher, err)) ||
        db_begin(publisher->db, err))
        return -1;
    publisher->begun = true;
    return step_fence(publisher, source, err);
}

/* Commits or, if `result` is not 0, rolls back.  Returns -1 unless the transaction was committed.
 */
static int publisher_close(struct publisher *publisher, int result, struct error *err)
{
    if (publisher->begun)
        result = rows_commit(publisher->db, result, err);
    if (publisher->losses)
        free(publisher->losses->list);
    free(publisher->losses);
    publisher->losses = NULL;
    publisher->begun = publisher->clears_values = false;
    return result;
}

void publisher_abandon(struct publisher *publisher)
{
    publisher_close(publisher, -1, NULL);
}

void publisher_begin(struct publisher *publisher, const char *source, bool looks_through)
{
    struct error ignored;
    struct db_value cluster = db_text(publisher->cluster);
    /* A database that updates in place keeps the rows. */
    if (!publisher->locked || publisher->db->driver->updates_in_place)
        return;
    if (publisher_open(publisher, source, looks_through, &ignored))
        publisher_abandon(publisher);
    else
        publisher->clears_values =
            !db_start(publisher->db, sql_query_value_clear, &cluster, 1, &ignored);
}

/*
 * Reports each loss, and stores the hash of the rows as they are, so that later runs do not report
 * the loss again.  For damaged records of associations and factors, which are
 * evidence for past states, no hash is stored.  The run removes these records, and records all
 * associations and factors again.
 */
static int settle_losses(const struct publisher *publisher, const struct kept_losses *losses,
                         struct findings *findings, struct error *err)
{
    int result = 0;
    for (size_t i = 0; !result && i < losses->count; i++) {
        const struct kept_loss *loss = &losses->list[i];
        struct text where = { 0 };
        text_add(&where, loss->table->name);
        if (!loss->table->is_one_part) {
            text_add(&where, " of ");
            time_add(&where, loss->part);
        }
        findings_add(findings, FINDING_RECORDS_CHANGED, (uint64_t)loss->part, "%s", where.bytes);
        text_free(&where);
        if (loss->table != &stored_changes && loss->table != &stored_factors &&
            loss->table != &stored_share_past)
            result = stored_write(publisher->db, publisher->cluster, loss->table->name,
                                  &(struct hash_segment){ loss->part, loss->found }, err);
    }
    return result;
}

static int forget_changed_shares(const struct publisher *publisher,
                                 const struct kept_losses *losses, struct error *err)
{
    bool changes = false, past = false;
    for (size_t i = 0; i < losses->count; i++) {
        changes |= losses->list[i].table == &stored_changes;
        past |= losses->list[i].table == &stored_share_past;
    }
    return (changes && share_rows_forget(publisher, err)) ||
                   (past && association_times_forget(publisher, err))
               ? -1
               : 0;
}

static int publish_write_days(const struct publisher *publisher,
                              const struct publication *publication,
                              const struct kept_losses *losses, struct run_record *record,
                              struct text *message, struct error *err)
{
    struct findings *findings = findings_create();
    findings_merge(findings, publication->findings);
    int result = publication->days ? day_rows_write(publisher, publication->days, err) : 0;
    if (!result && publication->days)
        add_repairs(publication->days, findings, record, message);
    if (!result)
        result = settle_losses(publisher, losses, findings, err);
    if (!result)
        result = finding_rows_write(publisher, findings, record->as_of, err);
    findings_destroy(findings);
    return result;
}

/* Records the current factors and associations, as evidence for later runs. */
static int publish_note_seen(const struct publisher *publisher,
                             const struct publication *publication, struct error *err)
{
    const struct factor_history *factors = publication->factors;
    if (factors && factor_rows_write(publisher, factors, publication->seen_at, err))
        return -1;
    return share_rows_write(publisher, publication, err);
}

static int write_all(const struct publisher *publisher, const struct publication *publication,
                     struct run_record record, struct error *err)
{
    const struct kept_losses *losses = publisher->losses;
    struct text message = { 0 };
    int result =
        (publication->looks_through &&
         stored_remove_strays(publisher->db, publisher->cluster, err)) ||
                (publication->numbers && tres_names_write(publisher, publication->numbers, err)) ||
                fairshare_rows_write(publisher, publication, err) ||
                job_priority_rows_write(publisher, publication, record.as_of, err) ||
                privilege_rows_write(publisher, publication, err) ||
                (publication->checkpoint &&
                 checkpoint_write(publisher, publication->checkpoint, err)) ||
                publish_write_days(publisher, publication, losses, &record, &message, err) ||
                budget_rows_write(publisher, publication, record.as_of, err) ||
                (publication->replaces &&
                 history_remove_future(publisher, publication, record.as_of, err)) ||
                forget_changed_shares(publisher, losses, err) ||
                (publication->times &&
                 association_times_write(publisher, publication->times, err)) ||
                (publication->seen_at >= 0 && publish_note_seen(publisher, publication, err)) ||
                ledger_counted_write(publisher->db, publication->ledger, publisher->cluster, err) ||
                history_write(publisher, publication, record.as_of, err) ||
                fairness_rows_write(publisher, publication->tree, publication->values, record.as_of,
                                    err) ||
                run_rows_write(publisher, &record, "done", err)
            ? -1
            : 0;
    text_free(&message);
    return result;
}

int publisher_publish(struct publisher *publisher, const struct publication *publication,
                      const struct run_record *record, struct error *err)
{
    int result = publisher->begun ? 0
                                  : publisher_open(publisher, publication->source,
                                                   publication->looks_through, err);
    if (!result)
        result = write_all(publisher, publication, *record, err);
    return publisher_close(publisher, result, err);
}

int publisher_record_failure(struct publisher *publisher, const struct run_record *record,
                             const struct findings *findings, struct error *err)
{
    if (settings_rows_write(publisher, err) || db_begin(publisher->db, err))
        return -1;
    int result = findings ? finding_rows_write(publisher, findings, record->as_of, err) : 0;
    return rows_commit(publisher->db,
                       result ? result : run_rows_write(publisher, record, "failed", err), err);
}

static const char *const current_clears[] = {
    sql_query_tree_clear,
    sql_query_value_clear,
    sql_query_job_priority_clear,
    sql_query_job_term_clear,
    sql_query_budget_clear,
    sql_query_privilege_clear,
    NULL,
};

int publisher_retire(struct publisher *publisher, struct error *err)
{
    if (db_begin(publisher->db, err))
        return -1;
    struct db_value cluster = db_text(publisher->cluster);
    int result = step_fence(publisher, "", err) ||
                 rows_execute_all(publisher->db, current_clears, &cluster, 1, err) ||
                 rows_execute_all(publisher->db, checkpoint_clears, &cluster, 1, err);
    return rows_commit(publisher->db, result, err);
}

void publisher_end(struct publisher *publisher)
{
    if (publisher->locked && publisher->db)
        db_unlock(publisher->db, publisher->lock);
    publisher->locked = false;
}

/* Calls `take` for each row of a query: a cluster and its source. */
static int publish_hand_out(struct db *db, const char *sql,
                            int (*take)(void *context, const char *cluster, const char *source),
                            void *context, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql, NULL, 0, "tt", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        char *cluster = db_value_text(&row[0]), *source = db_value_text(&row[1]);
        result = take(context, cluster, source);
        free(cluster);
        free(source);
    }
    return db_finish(rows);
}

int failed_clusters(struct db *db,
                    int (*take)(void *context, const char *cluster, const char *source),
                    void *context, struct error *err)
{
    return publish_hand_out(db, sql_query_fence_failed, take, context, err);
}

int published_sources(struct db *db,
                      int (*take)(void *context, const char *cluster, const char *source),
                      void *context, struct error *err)
{
    return publish_hand_out(db, sql_query_fence_sources, take, context, err);
}
