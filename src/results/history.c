/* SPDX-License-Identifier: MIT */
#include "results/history.h"

#include <limits.h>

#include "core/finding.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/settings_rows.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/name_list.h"

/*
 * Each transaction removes one point or one day.  A run removes at most this number of points and
 * this number of days.
 */
#define STEPS_PER_RUN 48

static const char *const future_clears[] = {
    sql_query_future_values,
    sql_query_future_points,
    sql_query_future_fairness,
    sql_query_future_names,
    sql_query_future_changes,
    sql_query_future_factors,
    sql_query_future_share_state,
    sql_query_future_findings,
    sql_query_future_kept,
    sql_query_future_backfill,
    NULL,
};

int history_remove_future(const struct publisher *publisher, const struct publication *publication,
                          int64_t as_of, struct error *err)
{
    int64_t clock = clock_now(), newest = publication->newest_end;
    struct db_value arguments[] = { db_text(publisher->cluster),
                                    db_integer(newest > clock ? newest : clock) };
    return as_of > clock ? 0 : rows_execute_all(publisher->db, future_clears, arguments, 2, err);
}

static const char *const remove_point[] = { sql_query_history_remove,
                                            sql_query_history_point_remove,
                                            sql_query_history_backfill_remove,
                                            sql_query_kept_point_remove, NULL };
static const char *const remove_fairness[] = { sql_query_fairness_remove,
                                               sql_query_kept_fairness_remove, NULL };
static const char *const remove_day[] = { sql_query_usage_day_clear, sql_query_kept_day_remove,
                                          NULL };

static const char *const remove_waits[] = { sql_query_wait_final_clear, sql_query_kept_waits_remove,
                                            NULL };

/* Runs a NULL-terminated list of statements in a transaction. */
static int execute_alone(struct db *db, const char *const *sql, const struct db_value *arguments,
                         size_t count, struct error *err)
{
    if (db_begin(db, err))
        return -1;
    return rows_commit(db, rows_execute_all(db, sql, arguments, count, err), err);
}

/* Removes points or days before a time, the oldest first. */
static int prune_oldest(const struct publisher *publisher, const char *find,
                        const char *const *remove, int64_t before, int steps, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    for (int step = 0; step < steps; step++) {
        int64_t oldest = 0;
        int found = rows_read_integer(publisher->db, find, &cluster, 1, &oldest, err);
        if (found < 0)
            return -1;
        if (!found || oldest >= before)
            return 0;
        struct db_value arguments[] = { cluster, db_integer(oldest) };
        if (execute_alone(publisher->db, remove, arguments, 2, err))
            return -1;
    }
    return 0;
}

/* Removes rows of runs, then the settings that no remaining run uses. */
static int remove_runs(const struct publisher *publisher, struct row_ids runs, struct error *err)
{
    struct db *db = publisher->db;
    struct db_value cluster = db_text(publisher->cluster);
    struct settings_digests digests;
    if (settings_rows_read(publisher, &digests, err))
        return -1;
    int result = db_begin(db, err);
    if (!result)
        result = rows_commit(db, rows_execute_for(db, sql_query_run_remove, &cluster, 1, runs, err),
                             err);
    if (!result)
        result = settings_rows_prune(publisher, &digests, err);
    settings_digests_free(&digests);
    return result;
}

int history_newest(const struct publisher *publisher, int64_t *newest, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    *newest = INT64_MAX;
    return rows_read_integer(publisher->db, sql_query_run_newest, &cluster, 1, newest, err) < 0 ? -1
                                                                                                : 0;
}

int history_prune_runs(const struct publisher *publisher, int64_t newest, struct error *err)
{
    int64_t clock = clock_now(), now = newest < clock ? newest : clock;
    int64_t before = now - (int64_t)publisher->settings->run_days * 86400;
    struct db_value cluster = db_text(publisher->cluster);
    struct db_value arguments[] = { cluster, db_integer(clock), cluster };
    const struct db_value *row;
    uint64_t runs[ROW_IDS_AT_ONCE];
    size_t count = 0;
    if (!publisher->settings->run_days)
        return 0;
    struct db_rows *rows = db_query(publisher->db, sql_query_run_old, arguments, 3, "ii", err);
    while (count < ROW_IDS_AT_ONCE && db_fetch(rows, &row, err) > 0 && row[1].integer < before)
        runs[count++] = rows_bits_of(&row[0]);
    if (db_finish(rows))
        return -1;
    return count ? remove_runs(publisher, (struct row_ids){ runs, count }, err) : 0;
}

static int prune_findings(const struct publisher *publisher, int64_t before, struct error *err)
{
    struct db_value arguments[] = { db_text(publisher->cluster), db_integer(before) };
    return execute_alone(publisher->db, (const char *const[]){ sql_query_finding_prune, NULL },
                         arguments, 2, err);
}

int history_prune(const struct publisher *publisher, int64_t as_of, int64_t newest,
                  struct error *err)
{
    const struct settings *settings = publisher->settings;
    /*
     * If the run's time is in the future, use the clock; otherwise too many rows would be removed.
     */
    int64_t clock = clock_now(), now = as_of < clock ? as_of : clock;
    if (newest < now)
        now = newest;
    int64_t history = now - (int64_t)settings->history_days * 86400;
    if (prune_oldest(publisher, sql_query_history_oldest, remove_point, history, STEPS_PER_RUN,
                     err) ||
        prune_oldest(publisher, sql_query_fairness_oldest, remove_fairness, history, STEPS_PER_RUN,
                     err) ||
        prune_oldest(publisher, sql_query_usage_day_oldest, remove_day, history, STEPS_PER_RUN,
                     err) ||
        prune_oldest(publisher, sql_query_wait_final_oldest, remove_waits, history, STEPS_PER_RUN,
                     err))
        return -1;
    if (!settings->run_days)
        return 0;
    return history_prune_runs(publisher, newest, err) ||
                   prune_findings(publisher, now - (int64_t)settings->run_days * 86400, err)
               ? -1
               : 0;
}

/* Removes all points and days of a cluster, one in each transaction. */
static int remove_past(const struct publisher *publisher, struct error *err)
{
    if (prune_oldest(publisher, sql_query_history_oldest, remove_point, INT64_MAX, INT_MAX, err) ||
        prune_oldest(publisher, sql_query_fairness_oldest, remove_fairness, INT64_MAX, INT_MAX,
                     err) ||
        prune_oldest(publisher, sql_query_usage_day_oldest, remove_day, INT64_MAX, INT_MAX, err) ||
        prune_oldest(publisher, sql_query_wait_final_oldest, remove_waits, INT64_MAX, INT_MAX, err))
        return -1;
    return 0;
}

/*
 * The statements for all other rows of a cluster; its row of fairmill_lock is last.  The ledger is
 * kept, because only the owner of its tables may remove entries.
 */
static const char *const removals[] = {
    sql_query_tree_clear,
    sql_query_value_clear,
    sql_query_job_priority_clear,
    sql_query_job_term_clear,
    sql_query_privilege_clear,
    sql_query_finding_clear,
    sql_query_seal_clear,
    sql_query_seal_usage_clear,
    sql_query_seal_open_clear,
    sql_query_seal_slice_clear,
    sql_query_seal_odd_clear,
    sql_query_forget_open,
    sql_query_forget_wait_open,
    sql_query_forget_span,
    sql_query_kept_clear,
    sql_query_forget_names,
    sql_query_forget_changes,
    sql_query_forget_share_past,
    sql_query_forget_share_state,
    sql_query_forget_factors,
    sql_query_tres_name_clear,
    sql_query_budget_clear,
    sql_query_notice_clear,
    sql_query_forget_runs,
    sql_query_forget_lock,
    NULL,
};

/* Returns 1 if the cluster has the finding that it is missing, else 0; returns -1 on error. */
static int has_vanished(struct db *db, const struct db_value *cluster, struct error *err)
{
    int64_t one;
    struct db_value arguments[] = { *cluster, db_text(finding_name(FINDING_CLUSTER_VANISHED)) };
    return rows_read_integer(db, sql_query_finding_find, arguments, 2, &one, err);
}

int forget_check(struct db *db, const char *cluster, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_fence_source, &name, 1, "t", err);
    bool found = db_fetch(rows, &row, err) > 0 && *cluster;
    bool retired = found && (row[0].type != DB_TEXT || !row[0].text.length);
    if (db_finish(rows))
        return -1;
    if (!found)
        return name_unknown("cluster", cluster, err);
    int may_go = retired ? 1 : has_vanished(db, &name, err);
    if (may_go)
        return may_go > 0 ? 0 : -1;
    return fail(err, ERROR_USAGE,
                "cluster '%s' is not retired: delete it from the accounting database, then run "
                "`fairmill run` before you forget it",
                cluster);
}

int forget_cluster(const struct publisher *publisher, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    struct settings_digests digests;
    if (remove_past(publisher, err) || settings_rows_read(publisher, &digests, err))
        return -1;
    int result = execute_alone(publisher->db, removals, &cluster, 1, err);
    if (!result)
        result = settings_rows_prune(publisher, &digests, err);
    settings_digests_free(&digests);
    return result;
}
