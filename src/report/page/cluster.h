/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_CLUSTER_H
#define FAIRMILL_REPORT_PAGE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct algorithm;
struct page_backtest;
struct terminology;

/* An association; parents come before children, and children stand together.  NAN is NULL. */
struct page_row {
    int64_t id;
    uint32_t parent;                /* the row; the root's is its own */
    uint32_t first_child, children; /* rows */
    const char *account, *user, *partition;
    int64_t shares;                 /* -1: `parent` */
    double level_share, level_used; /* of its level */
    double whole;                   /* the share of the whole */
    double share, used;             /* as the algorithm has them */
    double usage, factor, level_fs;
    double spent;   /* undecayed, in the days of the page, all below included */
    uint32_t place; /* among all users of the cluster, 1 is next; 0: none */
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

/* Settings that were others from an instant on. */
struct page_change {
    int64_t at;
    char *words;
};

/* What a priority is a sum of, in the order of sql_query_report_jobs. */
#define PAGE_PARTS 6
struct page_job {
    int64_t id;
    uint32_t row; /* of its account; the root's where that is not there */
    const char *user, *account, *partition, *qos;
    int64_t priority, site, nice;
    double parts[PAGE_PARTS];
    const char *tres; /* weighted, as sprio prints it */
    /* Of jobs that a formula orders: */
    const char *job_id, *why, *terms; /* as in prio_row */
    double value;                     /* NAN: none */
    bool has_priority;
};

/* How fair use was at an instant (core/insight/fairness.h); NAN is NULL. */
struct page_fairness {
    int64_t at;
    double accounts, users; /* Jain's index */
    double too_much;        /* the part of all use that accounts had beyond what is due to them */
};

/* What jobs of a partition, or with a QOS, have used. */
struct page_use {
    char *name;
    double usage; /* decayed */
};
struct page_uses {
    struct page_use *list; /* the largest first */
    size_t count;
};

/* All that pages of a cluster show. */
struct page_cluster {
    const char *name, *time_zone;
    const struct algorithm *algorithm;
    const char *problems; /* what is wrong, in words; "": nothing */
    const struct terminology *terms;
    const char *unit;   /* of usage; NULL: TRES-seconds */
    bool by_formula;    /* a formula orders its jobs, which have ids of their own */
    bool accounts_only; /* there are no users in it, and no jobs */
    int64_t as_of, half_life;
    int64_t from, to; /* the span of curves and days */
    double capacity;  /* how much a day can give, in the unit of usage; NAN: unknown */
    struct page_row *rows;
    size_t row_count;
    uint32_t users;   /* who have a place */
    uint32_t *series; /* rows that have them, who used most first */
    size_t series_count;
    struct page_points days, times;
    unsigned days_each; /* a point of `days` is of so many days: 1, or 7 */
    int64_t days_since; /* the first day whose use is kept; 0: none is */
    struct page_change *changes;
    size_t change_count;
    struct page_job *jobs; /* those that come first, first */
    size_t job_count;
    struct page_fairness *fairness; /* at some of the instants */
    size_t fairness_count;
    struct page_uses by_partition, by_qos; /* of all; none where nobody asked for them */
    const struct page_backtest *backtest;  /* NULL: nobody asked for it */
};

#endif
