/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_H
#define FAIRMILL_REPORT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* What `fairmill report` writes: one HTML file with everything in it, styles, scripts, a charting
 * library and the data.  The files in src/report/page/ are what surrounds the data; page.pl makes
 * one text of them, in which the data is missing. */
extern const char page_before[], page_after[];

/* An association; parents come before children.  NAN is NULL. */
struct page_row {
    int64_t id;
    uint32_t parent; /* the row; the root's is its own */
    const char *account, *user, *partition;
    int64_t shares; /* -1: `parent` */
    double share, usage, used, factor, level_fs;
    uint32_t order; /* 1 + how many associations are ahead; 0: none */
};

/* Values of an instant, or of a day, for each of the rows that have series. */
struct page_point {
    int64_t at;
    double *usage, *factor, *level_fs; /* of a day only usage: what was used on it */
};
struct page_points {
    struct page_point *points;
    size_t count;
};

/* What a priority is a sum of, in the order of sql_query_report_jobs. */
#define PAGE_PARTS 6
struct page_job {
    int64_t id;
    const char *user, *account, *partition, *qos;
    int64_t priority, site, nice;
    double parts[PAGE_PARTS];
    const char *tres; /* weighted, as sprio prints it */
    /* Of OpenPBS's jobs: */
    const char *job_id, *why, *terms; /* as in prio_row */
    double value;                     /* NAN: none */
    bool has_priority;
};

struct words;

struct page_cluster {
    const char *name, *algorithm, *time_zone;
    const char *problems; /* what is wrong, in words; "": nothing */
    const struct words *words;
    const char *unit; /* of usage; NULL: TRES-seconds */
    bool of_pbs;      /* a formula makes the priorities of its jobs, which have ids of their own */
    int64_t as_of, half_life;
    struct page_row *rows;
    size_t row_count;
    uint32_t *series; /* rows that have them */
    size_t series_count;
    struct page_points days, instants;
    struct page_job *jobs; /* those that come first */
    size_t job_count, job_total;
};

/* The data: clusters between a beginning and an end.  What others wrote stands in it as
 * text_add_printable() has it, and nothing in it can end the script element that it is in.
 * `accounts_only` says that there are no users in it, and no jobs. */
void page_begin(struct text *text, uint64_t days, bool accounts_only);
void page_add_cluster(struct text *text, const struct page_cluster *cluster, bool first);
void page_end(struct text *text);

#endif
