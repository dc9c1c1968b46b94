/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_FORECAST_H
#define FAIRMILL_REPORT_FORECAST_H

#include "core/insight/forecast.h"

struct answer;
struct table_layout;
struct terminology;

/* What `fairmill forecast` prints of an entity. */

#define PLOT_COLUMNS 64

struct forecast_report {
    const char *cluster, *account, *user, *partition; /* UTF-8 */
    const struct terminology *terms;
    const char *unit; /* of usage, where jobs are charged no TRES; else NULL */
    const struct algorithm *algorithm;
    bool published_only; /* it is made from published values and the usage of days */
    bool rounded;        /* so is the usage of users whom the viewer may not see */
    uint32_t users;      /* the best rank */
    double rate[2];      /* mean TRES of the entity and of all in the last days */
    double job_tres;     /* 0: there is no job */
    uint64_t job_s;
    size_t count;                               /* of instants */
    struct forecast_point *points[PROJECTIONS]; /* NULL: not wanted */
    struct forecast_point *curves[PROJECTIONS]; /* PLOT_COLUMNS of them; NULL: no curves */
    double limit;                               /* NAN: none */
    uint64_t crossing[PROJECTIONS];             /* 0: none */
};

/* Answer with a row for each projection and time; on the page with a line for each time, curves,
 * and when the limit is reached. */
extern const struct table_layout forecast_layout;
void forecast_report_answer(const struct forecast_report *report, struct answer *answer);

#endif
