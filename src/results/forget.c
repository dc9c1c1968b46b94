/* SPDX-License-Identifier: MIT */
#include "results/forget.h"

#include <stdbool.h>

#include "results/history.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/settings_rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/name_list.h"

/* All rows of a cluster that history_forget() leaves; its row of fairmill_lock is the last.  The
 * ledger stays: nobody but its owner may remove from it. */
static const char *const removals[] = {
    sql_query_fairshare_clear,    sql_query_job_priority_clear,
    sql_query_finding_clear,      sql_query_seal_clear,
    sql_query_seal_usage_clear,   sql_query_seal_open_clear,
    sql_query_seal_odd_clear,     sql_query_forget_open,
    sql_query_forget_span,        sql_query_forget_hashes,
    sql_query_forget_names,       sql_query_forget_changes,
    sql_query_forget_share_state, sql_query_forget_runs,
    sql_query_forget_lock,        NULL,
};

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
    if (!retired)
        return fail(err, ERROR_USAGE,
                    "cluster '%s' is not retired: a run retires what the accounting database has "
                    "no more",
                    cluster);
    return 0;
}

static int forget_rows(const struct publisher *publisher, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    if (db_begin(publisher->db, err))
        return -1;
    return rows_commit(publisher->db, rows_execute_all(publisher->db, removals, &cluster, 1, err),
                       err);
}

int forget_cluster(const struct publisher *publisher, struct error *err)
{
    struct settings_digests digests;
    if (history_forget(publisher, err) || settings_rows_read(publisher, &digests, err))
        return -1;
    int result = forget_rows(publisher, err);
    if (!result)
        result = settings_rows_prune(publisher, &digests, err);
    settings_digests_free(&digests);
    return result;
}
