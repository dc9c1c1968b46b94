/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SERIES_H
#define FAIRMILL_REPORT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct table_layout;

/* An association over time, and the columns that `fairmill history` prints. */

struct series_point {
    int64_t at; /* the instant, or where the day begins */
    /* NAN is NULL.  With `days` only usage, of the day; else it is decayed. */
    double fairshare, usage, level_fs;
    const char *algorithm; /* of the fairshare; with `days` NULL */
};

struct series {
    const char *cluster, *account, *user, *partition; /* UTF-8 */
    int64_t id;
    bool days;
    struct series_point *points;
    size_t count;
    const struct terminology *terms; /* for its title */
};

/* Answer with a row for each point, of one of these layouts.  For people the rows have bars, and of
 * many points only the last one of each day is shown. */
extern const struct table_layout series_of_points, series_of_days;
void series_answer(const struct series *series, struct answer *answer);

#endif
