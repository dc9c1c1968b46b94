/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "results/forget.h"

#include "db/db.h"
#include "results/history.h"
#include "results/publication.h"
#include "results/settings_rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/text.h"

/* Every table with rows of a cluster that history_forget() leaves, the fence last.  The ledger
 * stays: nobody but its owner may take from it. */
static const char *const tables[] = {
    "fairmill_fairshare",   "fairmill_job_priority", "fairmill_finding",
    "fairmill_seal",        "fairmill_seal_usage",   "fairmill_seal_open",
    "fairmill_seal_odd",    "fairmill_usage_open",   "fairmill_usage_span",
    "fairmill_usage_hash",  "fairmill_association",  "fairmill_share_change",
    "fairmill_share_state", "fairmill_run",          "fairmill_lock",
};
#define TABLES (sizeof tables / sizeof *tables)

int forget_check(struct db *db, const char *cluster, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_fence_source, &name, 1, "t", err);
    if (!rows)
        return -1;
    int got = *cluster ? db_fetch(rows, &row, err) : 0;
    if (got == 0)
        fail(err, ERROR_USAGE, "there are no results of a cluster '%s'", cluster);
    else if (got > 0 && row[0].type == DB_TEXT && row[0].text.length)
        fail(err, ERROR_USAGE,
             "cluster '%s' is not retired: a run retires what the accounting database has no more",
             cluster);
    else if (got > 0)
        got = 2;
    db_finish(rows);
    return got == 2 ? 0 : -1;
}

static int remove_rows(struct db *db, const struct db_value *cluster, struct error *err)
{
    for (size_t i = 0; i < TABLES; i++) {
        struct text sql = { 0 };
        text_format(&sql,
                    "DELETE /*! \"%s\" */ FROM \"%s\" /*! FORCE INDEX (PRIMARY) */ "
                    "WHERE \"cluster\" = ?",
                    tables[i], tables[i]);
        int result = db_execute(db, sql.bytes, cluster, 1, NULL, err);
        text_free(&sql);
        if (result)
            return -1;
    }
    return 0;
}

static int forget_rows(const struct publisher *publisher, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    if (db_begin(publisher->db, err))
        return -1;
    if (remove_rows(publisher->db, &cluster, err) || db_commit(publisher->db, err)) {
        db_rollback(publisher->db);
        return -1;
    }
    return 0;
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
