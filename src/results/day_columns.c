/* SPDX-License-Identifier: MIT */
#include "results/day_columns.h"

#include <string.h>

const char *const day_columns_names[KEPT_TRES_LIMIT + 1] = {
    NULL,     "tres_1",  "tres_2",  "tres_3",  "tres_4",  "tres_5",  "tres_6",  "tres_7",  "tres_8",
    "tres_9", "tres_10", "tres_11", "tres_12", "tres_13", "tres_14", "tres_15", "tres_16",
};

const struct day_columns day_columns_all = {
    KEPT_TRES_LIMIT, { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 }, KEPT_TRES_LIMIT
};

/* Adds all other columns as one. */
static void day_columns_add_others(const struct day_columns *columns, struct text *sql)
{
    /* SQLite needs two arguments of COALESCE. */
    bool several = columns->count + 1 < columns->highest;
    const char *separator = several ? ", COALESCE(" : ", ";
    size_t next = 0;
    for (unsigned number = 1; number <= columns->highest; number++) {
        if (next < columns->count && columns->numbers[next] == number) {
            next++;
            continue;
        }
        text_add(sql, separator);
        text_add_identifier(sql, day_columns_names[number]);
        separator = ", ";
    }
    text_add(sql, several ? ")" : "");
}

struct day_query day_columns_query(const char *table, bool has_usage,
                                   const struct day_columns *columns)
{
    struct day_query query = { .first = DAY_TRES_SECONDS + has_usage,
                               .has_others = columns->count < columns->highest };
    struct text *sql = &query.sql;
    memset(query.types, 'i', query.first + columns->count + query.has_others);
    text_add(sql, "SELECT \"id_assoc\", \"sum_2\", \"sum_1\", \"sum_0\"");
    if (has_usage) {
        query.types[DAY_TRES_SECONDS] = 'r';
        text_add(sql, ", \"tres_seconds\"");
    }
    for (size_t i = 0; i < columns->count; i++) {
        text_add(sql, ", ");
        text_add_identifier(sql, day_columns_names[columns->numbers[i]]);
    }
    if (query.has_others)
        day_columns_add_others(columns, sql);
    text_add(sql, " FROM ");
    text_add_identifier(sql, table);
    text_add(sql, " WHERE \"cluster\" = ? AND \"day\" = ?");
    return query;
}
