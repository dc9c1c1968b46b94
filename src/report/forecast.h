/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_OUTLOOK_H
#define FAIRMILL_REPORT_OUTLOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/insight/forecast.h"

struct text;

/* What `fairmill forecast` tells of an entity. */

#define FORECAST_COLUMNS 64

struct forecast_report {
    const char *cluster, *account, *user, *partition; /* UTF-8 */
    const struct algorithm *algorithm;
    uint32_t users;   /* the best rank */
    double rate[2];   /* TRES of the entity and of all, a second, in the last days */
    bool by_level_fs; /* where it has no factor */
    bool with_job;
    double job_tres;
    uint64_t job_s;
    size_t count;                               /* of instants */
    struct forecast_point *points[PROJECTIONS]; /* NULL: not asked for */
    struct forecast_point
        *curves[PROJECTIONS]; /* the same, FORECAST_COLUMNS of them; NULL: no curves */
    bool has_limit;
    double limit;
    uint64_t crossing[PROJECTIONS]; /* 0: none */
};

/* The curves, where there are any, come behind the table; with `utf8` in more than ASCII. */
void forecast_report_add_table(struct text *text, const struct forecast_report *report, bool utf8);
void forecast_report_add_csv(struct text *text, const struct forecast_report *report);
void forecast_report_add_json(struct text *text, const struct forecast_report *report);

/* Curves of values over time; in forecast_report_plot.c. */
void forecast_report_add_plot(struct text *text, const struct forecast_report *report, bool utf8);

#endif
