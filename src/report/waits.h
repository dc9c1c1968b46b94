/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_WAITS_H
#define FAIRMILL_REPORT_WAITS_H

#include <stdbool.h>

#include "core/insight/waits.h"

struct answer;
struct table_layout;
struct terminology;
struct text;

/* The output of `fairmill waits` for a cluster. */

/* The names by which jobs are grouped: a mask.  0 means that all jobs are one group. */
enum {
    WAITS_BY_ACCOUNT = 1 << 0,
    WAITS_BY_USER = 1 << 1,
    WAITS_BY_PARTITION = 1 << 2,
    WAITS_BY_QOS = 1 << 3,
};

/* A group of jobs that started in a period. */
struct waits_row {
    int64_t from, to; /* epoch seconds */
    /* UTF-8; NULL if the jobs are not grouped by this name */
    const char *account, *user, *partition, *qos;
    struct wait_counts counts;
    double correlation; /* wait_correlation() of the fairshare factors of the jobs' associations */
};
struct waits_list {
    struct waits_row *rows; /* in ascending order of period and names */
    size_t count;
    struct waits_row total; /* all jobs of all periods */
    struct names *names;    /* owns the texts */
};
/* Frees the rows.  Accepts a zeroed list. */
void waits_list_free(struct waits_list *list);

struct waits_view {
    const char *cluster;
    const char *by;  /* as given, such as `account` */
    const char *per; /* `month`, `week` or `day`; NULL: one period */
    const struct waits_list *list;
    const struct terminology *terms;
};

extern const struct table_layout waits_layout;
void waits_add_answer(const struct waits_view *view, struct answer *answer);

/* Adds a time from wait_quantile() for people: `<1 min`, `25 min` or `>7 d`. */
void waits_add_time(struct text *text, double seconds);
/*
 * Adds a sentence that says whether jobs with a higher fairshare factor waited less, without a line
 * end.  Adds nothing if the correlation is NAN.
 */
void waits_add_relation(struct text *text, double correlation);

#endif
