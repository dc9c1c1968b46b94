/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SERIES_H
#define FAIRMILL_REPORT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer;
struct table_layout;

/* The values of an association over time, and their columns in `fairmill history`. */

struct series_point {
    int64_t at; /* time of the point or start of the day, epoch seconds */
    /* NAN if the value is NULL in the results.  For a day, only `usage` is set, without decay;
     * otherwise it is decayed. */
    double fairshare, usage, level_fs;
    const char *algorithm; /* the algorithm of `fairshare`; NULL for a day */
};

struct series {
    const char *cluster, *account, *user, *partition; /* UTF-8 */
    int64_t id;
    bool days; /* the points are days */
    /* If not NULL, the points are days with the usage of this TRES instead of the charged usage. */
    const char *tres;
    int64_t known_from; /* first day with usage of `tres`, epoch seconds; INT64_MAX: none */
    int64_t from;       /* start of the requested period, epoch seconds */
    struct series_point *points;
    size_t count;
    const struct terminology *terms; /* terminology of the title */
};

/*
 * Adds a row for each point, in one of these layouts.  Rows of text output have bars.  If there are
 * many points, text output shows only the last one of each day.
 */
extern const struct table_layout series_of_points, series_of_days, series_of_tres_days;
void series_answer(const struct series *series, struct answer *answer);

#endif
