/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAY_COLUMNS_H
#define FAIRMILL_RESULTS_DAY_COLUMNS_H

#include <stdbool.h>

#include "core/usage/kept_tres.h"
#include "util/text.h"

/* The columns of fairmill_usage_day and fairmill_usage_open. */

/* The names of the columns with the amounts of TRES, by number; 0 is not used. */
extern const char *const day_columns_names[KEPT_TRES_LIMIT + 1];

/* The columns of amounts that are read. */
struct day_columns {
    size_t count;
    unsigned numbers[KEPT_TRES_LIMIT]; /* of the TRES, in ascending order */
    unsigned highest;                  /* columns of higher numbers are not read */
};
extern const struct day_columns day_columns_all;

/* The first columns that a query returns.  DAY_TRES_SECONDS is only in fairmill_usage_day. */
enum { DAY_ID, DAY_SUM, DAY_TRES_SECONDS = DAY_SUM + 3 };

/*
 * A query for the rows of a cluster on a day.  The caller frees `sql`.  Each column that is read
 * takes time, and most rows have few amounts.  So the columns up to `highest` that are not in
 * `numbers` are read as one, which is NULL if the row has none of these amounts.
 */
struct day_query {
    struct text sql;
    char types[DAY_TRES_SECONDS + 1 + KEPT_TRES_LIMIT + 1];
    size_t first;    /* the first column with an amount */
    bool has_others; /* the last column is for the amounts of all other TRES */
};
struct day_query day_columns_query(const char *table, bool has_usage,
                                   const struct day_columns *columns);

#endif
