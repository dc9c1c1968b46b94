/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_OUTLOOK_H
#define FAIRMILL_REPORT_OUTLOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/forecast.h"

struct text;

/* What `fairmill forecast` tells of an entity. */

#define OUTLOOK_COLUMNS 64

struct outlook {
    const char *cluster, *account, *user, *partition; /* UTF-8 */
    const struct algorithm *algorithm;
    uint32_t users;   /* the best rank */
    double rate[2];   /* TRES of the entity and of all, a second, in the last days */
    bool by_level_fs; /* where it has no factor */
    bool with_job;
    double job_tres;
    uint64_t job_s;
    size_t count;                           /* of instants */
    struct forecast_point *points[COURSES]; /* NULL: not asked for */
    struct forecast_point *curves[COURSES]; /* the same, OUTLOOK_COLUMNS of them; NULL: no curves */
    bool has_limit;
    double limit;
    uint64_t crossing[COURSES]; /* 0: none */
};

/* The curves, where there are any, come behind the table; with `utf8` in more than ASCII. */
void outlook_add_table(struct text *text, const struct outlook *outlook, bool utf8);
void outlook_add_csv(struct text *text, const struct outlook *outlook);
void outlook_add_json(struct text *text, const struct outlook *outlook);

/* Curves of values over time; in outlook_plot.c. */
void outlook_add_plot(struct text *text, const struct outlook *outlook, bool utf8);

#endif
