/* SPDX-License-Identifier: MIT */
#include "results/usage_days.h"

#include <math.h>

#include "core/insight/statement.h"
#include "results/rows.h"
#include "results/tres_days.h"
#include "sql.h"
#include "util/calendar.h"

static int usage_days_first(const struct usage_days *days, int64_t *day, struct error *err)
{
    const struct db_value name = db_text(days->cluster);
    if (days->of_tres)
        return tres_days_first_day(days->results, days->cluster, days->number, day, err);
    int found = rows_read_integer(days->results, sql_query_usage_day_oldest, &name, 1, day, err);
    if (!found)
        *day = INT64_MAX;
    return found < 0 ? -1 : 0;
}

int usage_days_reach(const struct usage_days *days, int64_t *until, int64_t *oldest,
                     struct error *err)
{
    const struct db_value *row, name = db_text(days->cluster);
    if (usage_days_first(days, oldest, err))
        return -1;
    struct db_rows *rows = db_query(days->results, sql_query_usage_span_read, &name, 1, "iii", err);
    *until = 0;
    if (db_fetch(rows, &row, err) > 0)
        *until = row[0].integer;
    return db_finish(rows);
}

static struct db_rows *usage_days_query(const struct usage_days *days, int64_t from, int64_t until,
                                        struct error *err)
{
    const struct db_value arguments[] = { db_text(days->cluster), db_integer(from),
                                          db_integer(until - 1) };
    if (days->of_tres)
        return tres_days_query(days->results, days->cluster, days->number, from, until - 1, err);
    return db_query(days->results, sql_query_usage_day_span, arguments, COUNT(arguments), "iin",
                    err);
}

int usage_days_add(struct statement *statement, const struct usage_days *days, int64_t from,
                   int64_t until, struct error *err)
{
    const struct db_value *row;
    int64_t day = INT64_MIN, end = 0;
    int result = 0;
    struct db_rows *rows = usage_days_query(days, from, until, err);
    while (!result && db_fetch(rows, &row, err) > 0) {
        double used = db_value_real(&row[2]);
        if (row[0].integer != day) {
            day = row[0].integer;
            end = calendar_end_of_day(day);
            end = end < until ? end : until;
        }
        if (isfinite(used))
            result = statement_add(statement, (uint64_t)row[1].integer, day, end, used, err);
    }
    return db_finish(rows) || result ? -1 : 0;
}
