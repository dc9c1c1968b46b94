/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_FORECAST_H
#define FAIRMILL_REPORT_FORECAST_H

#include "core/insight/forecast.h"

struct answer;
struct table_layout;
struct terminology;
struct usage_unit;

/* The output of `fairmill forecast` for an entity. */

#define PLOT_COLUMNS 64

struct forecast_report {
    const char *cluster, *account, *user, *partition; /* UTF-8 */
    const struct terminology *terms;
    const char *unit;               /* unit of usage of OpenPBS; NULL: of Slurm */
    const struct usage_unit *usage; /* terms for usage of Slurm */
    const struct algorithm *algorithm;
    bool published_only; /* computed from published values and published daily usage only */
    bool rounded;        /* usage that the requesting user may not see was rounded */
    uint32_t users;      /* number of users of the cluster; also the best rank */
    double rate[2];      /* mean TRES of the entity and of the cluster in the last week */
    double job_tres;     /* TRES of an additional job; 0: no job */
    uint64_t job_s;      /* duration of the additional job, seconds */
    size_t count;        /* number of times */
    struct forecast_point *points[PROJECTIONS]; /* NULL: projection not requested */
    struct forecast_point *curves[PROJECTIONS]; /* PLOT_COLUMNS points; NULL: no curves */
    double limit;                               /* limit of the value; NAN: none */
    /* when the value crosses the limit, epoch seconds; 0: never */
    uint64_t crossing[PROJECTIONS];
};

/*
 * Adds a row for each projection and time.  The page has a line for each time, the curves, and the
 * times at which the limit is reached.
 */
extern const struct table_layout forecast_layout;
void forecast_report_answer(const struct forecast_report *report, struct answer *answer);

#endif
