/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_CLUSTER_H
#define FAIRMILL_REPORT_PAGE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct algorithm;
struct page_backtest;
struct page_waits;
struct terminology;

/* An association.  Parents come before their children, and siblings are adjacent.  A value that is
 * NULL in the results is NAN. */
struct page_row {
    int64_t id;
    uint32_t parent;                /* row of the parent; the root is its own parent */
    uint32_t first_child, children; /* row of the first child; number of children */
    const char *account, *user, *partition;
    int64_t shares;                 /* -1 if the shares are `parent` */
    double level_share, level_used; /* share of level shares and of level usage */
    double whole;                   /* share of the cluster */
    double share, used;             /* share and effective usage by the algorithm's definition */
    double usage, factor, level_fs; /* usage is decayed */
    double spent;   /* undecayed usage in the page's days, including all rows below */
    uint32_t place; /* place among all users of the cluster; 1 is next; 0: none */
};

/* The values of a time or a day, for each row that has a series. */
struct page_point {
    int64_t at;                        /* epoch seconds */
    double *usage, *factor, *level_fs; /* a day has only `usage`, which is undecayed */
    float *tres; /* of a day: undecayed hours by TRES; see page_tres_hours() */
};
struct page_points {
    struct page_point *points;
    size_t count;
};

/* A change of settings. */
struct page_change {
    int64_t at;
    char *words;
};

/* The parts of a priority, in the order of sql_query_report_jobs. */
#define PAGE_PARTS 6
struct page_job {
    int64_t id;
    uint32_t row; /* row of its account; the root's if the account is missing */
    const char *user, *account, *partition, *qos;
    int64_t priority, site, nice;
    double parts[PAGE_PARTS];
    const char *tres;   /* weighted TRES, as sprio prints them */
    int64_t place;      /* in its pool; 1 is next; 0: cannot start, or unknown */
    const char *pool;   /* as in prio_row */
    const char *reason; /* one or two words why it cannot start, or "" */
    const char *detail; /* the reason as a clause, or "" */
    /* `value` is NAN and `terms` is "" unless a formula orders the jobs. */
    const char *job_id, *why, *terms; /* as in prio_row */
    double value;                     /* NAN: none */
    bool has_priority;
};

/* The fairness of usage at a time (core/insight/fairness.h).  A value that is NULL in the results
 * is NAN. */
struct page_fairness {
    int64_t at;
    double accounts, users; /* Jain's index */
    double too_much;        /* fraction of all usage that exceeded the entitlement of accounts */
};

/* The usage of the jobs in a partition or with a QOS. */
struct page_use {
    char *name;
    double usage; /* decayed */
};
struct page_uses {
    struct page_use *list; /* in descending order */
    size_t count;
};

/* A TRES whose usage is kept apart from the billed usage. */
struct page_tres {
    unsigned number; /* of its column in fairmill_usage_day */
    char *name;
    char *unit; /* such as `GPU-hours` */
};

/* All data for the pages of a cluster. */
struct page_cluster {
    const char *name, *time_zone;
    const struct algorithm *algorithm;
    const char *problems; /* description of problems, or "" */
    const struct terminology *terms;
    const char *unit;   /* unit of usage; NULL: TRES-seconds */
    bool by_formula;    /* a formula orders the jobs, which have ids in the scheduler's form */
    bool accounts_only; /* the page shows no users and no jobs */
    int64_t as_of, half_life;
    int64_t from, to; /* period of curves and days, epoch seconds */
    double capacity;  /* capacity of a day, in the unit of usage; NAN: unknown */
    struct page_row *rows;
    size_t row_count;
    uint32_t users;   /* number of users with a place */
    uint32_t *series; /* rows with a series, in descending order of usage */
    size_t series_count;
    struct page_points days, times;
    struct page_tres *tres;
    size_t tres_count;
    const struct page_tres *chosen_tres; /* the page shows its usage first; NULL: billed usage */
    unsigned days_each;                  /* number of days in a point of `days`: 1 or 7 */
    int64_t days_since;                  /* the first day with stored usage; 0: none */
    struct page_change *changes;
    size_t change_count;
    struct page_job *jobs; /* by pool and place; those that cannot start are last */
    size_t job_count;
    struct page_fairness *fairness; /* values at some of the times */
    size_t fairness_count;
    struct page_uses by_partition, by_qos; /* of the whole cluster; empty if not requested */
    const struct page_backtest *backtest;  /* NULL if not requested */
    const struct page_waits *waits;        /* NULL: none */
};

/* Returns the hours of a TRES that the account of a series used on a day.  Users have 0. */
static inline float page_tres_hours(const struct page_cluster *cluster, size_t day, size_t series,
                                    size_t tres)
{
    return cluster->days.points[day].tres[series * cluster->tres_count + tres];
}

#endif
