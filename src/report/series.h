/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SERIES_H
#define FAIRMILL_REPORT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* An association over time, and the forms that `fairmill history` prints it in. */

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
};

struct series_form {
    void (*begin)(struct text *text, bool days);
    void (*add)(struct text *text, const struct series *series, bool first);
    void (*end)(struct text *text);
};
extern const struct series_form series_table, series_csv, series_json;

#endif
