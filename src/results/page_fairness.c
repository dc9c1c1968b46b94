/* SPDX-License-Identifier: MIT */
#include "results/page_fairness.h"

#include <math.h>

#include "db/db.h"
#include "report/page/cluster.h"
#include "results/page_usage.h"
#include "sql.h"

/* Sets `*unfair` to the last value from `from` until `until`, or to NAN. */
static int page_fairness_read_last(struct db *db, const char *cluster, const int64_t span[2],
                                   double *unfair, struct error *err)
{
    const struct db_value *row,
        arguments[] = { db_text(cluster), db_integer(span[0]), db_integer(span[1]) };
    struct db_rows *rows = db_query(db, sql_query_report_fairness, arguments, 3, "nn", err);
    *unfair = NAN;
    if (db_fetch(rows, &row, err) > 0)
        *unfair = db_value_real(&row[0]) - db_value_real(&row[1]);
    return db_finish(rows);
}

int page_fairness_read(struct db *db, struct page_cluster *page, struct error *err)
{
    struct page_weeks *weeks = &page->unfair_weeks;
    page_usage_set_weeks(weeks, page->as_of);
    for (size_t i = 0; i < weeks->count; i++) {
        int64_t next = i + 1 < weeks->count ? weeks->weeks[i + 1].at : page->as_of + 1;
        const int64_t span[] = { weeks->weeks[i].at, next };
        if (page_fairness_read_last(db, page->name, span, &weeks->weeks[i].value, err))
            return -1;
    }
    page->unfair = weeks->weeks[weeks->count - 1].value;
    return 0;
}
