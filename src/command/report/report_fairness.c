/* SPDX-License-Identifier: MIT */
#include "command/report/report_fairness.h"

#include <math.h>

#include "db/db.h"
#include "report/page/cluster.h"
#include "sql.h"
#include "util/memory.h"
#include "util/text.h"

static bool is_drawn(const struct page_cluster *cluster, int64_t at, size_t *point)
{
    while (*point < cluster->instants.count && cluster->instants.points[*point].at < at)
        ++*point;
    return *point < cluster->instants.count && cluster->instants.points[*point].at == at;
}

/* Rows come by instant; one is there for each scope. */
static void add_row(struct page_cluster *cluster, const struct db_value *row)
{
    int64_t at = row[0].integer;
    struct page_fairness *last =
        cluster->fairness_count ? &cluster->fairness[cluster->fairness_count - 1] : NULL;
    if (!last || last->at != at) {
        cluster->fairness =
            memory_grown(cluster->fairness, cluster->fairness_count, sizeof *cluster->fairness);
        last = &cluster->fairness[cluster->fairness_count++];
        *last = (struct page_fairness){ at, NAN, NAN, NAN };
    }
    bool of_accounts =
        row[1].type == DB_TEXT && reads_as(row[1].text.bytes, row[1].text.length, "accounts");
    *(of_accounts ? &last->accounts : &last->users) = db_value_real(&row[2]);
    if (of_accounts)
        last->too_much = db_value_real(&row[3]) - db_value_real(&row[4]);
}

int report_fairness_read(struct db *db, struct page_cluster *cluster, struct error *err)
{
    struct db_value span[] = { db_text(cluster->name), db_integer(cluster->from),
                               db_integer(cluster->to) };
    const struct db_value *row;
    size_t point = 0;
    struct db_rows *rows = db_query(db, sql_query_report_fairness, span, 3, "itnnn", err);
    while (db_fetch(rows, &row, err) > 0)
        if (is_drawn(cluster, row[0].integer, &point))
            add_row(cluster, row);
    return db_finish(rows);
}
