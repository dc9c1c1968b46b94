/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_CLUSTER_H
#define FAIRMILL_REPORT_PAGE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The data of `fairmill report` for one cluster.  Texts are UTF-8 and owned by others, unless a
 * comment says otherwise.  Times are in epoch seconds.  Amounts of usage are in the page's unit,
 * such as core-hours.  A number that is unknown is NAN.
 */

struct algorithm;
struct page_backtest;
struct terminology;

/* An association.  Parents come before their children, and siblings are adjacent. */
struct page_row {
    int64_t id;
    uint32_t parent;                        /* row of the parent; the root is its own parent */
    uint32_t first_child, children;         /* row of the first child; number of children */
    const char *account, *user, *partition; /* `user` is "" for an account */
    bool own_share;                         /* false: its shares are `parent` */
    double share;   /* share of the cluster, a fraction; NAN if not own_share */
    double used;    /* recent (decayed) usage as a fraction of the cluster's */
    double ratio;   /* used / share; INFINITY if share is 0; NAN if not own_share */
    double factor;  /* fairshare factor */
    double spent;   /* undecayed usage in the page's period, with all rows below; NAN: unknown */
    uint32_t place; /* of a user among all users; 1 is next; 0: none */
    uint32_t users; /* number of users with a place at and below the row */
    uint32_t first_place, last_place; /* of these users; 0: none */
    uint32_t jobs;                    /* pending jobs at and below the row */
    /* Its level, if the algorithm ranks users (core/insight/standing.h). */
    uint32_t level;     /* row with whose children it is compared; the root's is 0 */
    double level_ratio; /* usage divided by share, both within the level; NAN if none */
    uint32_t ahead;     /* users of other members of the level who are ahead */
    bool listed_months, listed_forecast; /* the page has its months, or its forecast */
};

/* Usage that is counted in one unit: the charged usage, or the usage of a TRES. */
struct page_unit {
    char *name;      /* of the TRES; "" for the charged usage; owned by the cluster */
    char *hours;     /* such as `core-hours` or `GPU-hours`; owned by the cluster */
    unsigned number; /* of the TRES's column in fairmill_usage_day; 0: charged usage */
    double scale;    /* factor from stored usage to these hours */
};

/* The last PAGE_MONTHS calendar months; the last one is the month of as_of. */
#define PAGE_MONTHS 12
struct page_months {
    int64_t starts[PAGE_MONTHS + 1]; /* the last one is the end of the last month */
    size_t first;                    /* the first month with stored usage; PAGE_MONTHS: none */
    /* Indexed by page_month_index().  `due` is NAN in a month without shares. */
    float *used, *due;
};

/* Place of a user on each of the next days, as of `fairmill forecast`. */
#define PAGE_DAYS 14
struct page_forecast {
    uint32_t row;
    uint32_t pausing[PAGE_DAYS + 1];    /* the user runs nothing, the others continue */
    uint32_t continuing[PAGE_DAYS + 1]; /* everybody continues as in the last week */
};

/* A GrpTRESMins limit of an association.  Amounts are in hours of the TRES. */
struct page_budget {
    uint32_t row;
    char *tres, *hours; /* name and unit, such as `gres/gpu` and `GPU-hours`; owned */
    double limit, used, running, left;
    int64_t ends; /* when it is used up at last week's rate; 0: not within BUDGET_YEARS */
};

/* A value of a week. */
struct page_week {
    int64_t at; /* start of the week */
    double value;
};
#define PAGE_WEEKS 52
struct page_weeks {
    struct page_week weeks[PAGE_WEEKS]; /* oldest first; NAN: unknown */
    size_t count;
};

/* The parts of a priority, in the order of enum prio_part. */
#define PAGE_PARTS 6
struct page_job {
    const char *job_id; /* in the scheduler's form */
    uint32_t row;       /* of the user or, if hidden or missing, of the account */
    uint32_t account_row;
    const char *user, *account, *partition, *qos, *pool;
    double priority;          /* the formula's value with OpenPBS; NAN: none */
    double parts[PAGE_PARTS]; /* weighted; NAN: none */
    double tres;              /* sum of the weighted TRES */
    const char *terms;        /* values of the formula's names, or "" */
    int64_t place;            /* in its pool; 1 is next; 0: cannot start, or unknown */
    size_t pool_jobs;         /* number of jobs of its pool that can start, also hidden ones */
    bool again;               /* the job is also listed before, in another pool */
    const char *reason;       /* one or two words why it cannot start, or "" */
    const char *detail;       /* the reason as a clause, or "" */
    int64_t cores, gpus;      /* that it asks for; -1: unknown */
    int64_t limit_s;          /* time limit in seconds; -1: unknown or none */
    int64_t waiting_s;        /* since it was eligible; -1: unknown or not eligible yet */
};

/* The pending jobs of a partition, and the waits of the jobs that started in the last week. */
struct page_partition {
    const char *name;
    const char *pool; /* of its jobs; "" if none is pending */
    size_t jobs, cannot_start;
    int64_t cores;           /* sum over its jobs that can start; -1: unknown */
    size_t next;             /* index of its next job; SIZE_MAX: none can start */
    double median_s, most_s; /* of waits: median, and the wait of 9 of 10 jobs; NAN: none started */
    uint64_t started;
};

/* Usage of the jobs in a partition or with a QOS. */
struct page_use {
    char *name;   /* owned */
    double usage; /* decayed, as a fraction of all */
};
struct page_uses {
    struct page_use *list; /* in descending order */
    size_t count;
};

/* A change of settings. */
struct page_change {
    int64_t at;
    char *words; /* owned */
};

struct page_cluster {
    const char *name, *time_zone;
    const struct algorithm *algorithm;
    const struct terminology *terms;
    const char *problems; /* description of problems, or "" */
    bool by_formula;      /* a formula orders the jobs, as with OpenPBS */
    bool hides_users;     /* users are private: the page shows none, or only those it may show */
    bool hides_jobs;      /* jobs are private, in the same way */
    int64_t as_of, half_life; /* half_life is 0 without decay */
    int64_t interval;         /* usual seconds between runs; 0: unknown */
    int64_t stale_after;      /* age in seconds from which values are stale; 0: unknown */
    int64_t from, to;         /* the known part of the page's period, for `spent` */
    char *period;             /* in words, such as `last 30 days`; owned */
    char *unit_definition;    /* sentences that define the charged unit; NULL: none; owned */
    struct page_row *rows;    /* rows[0] is the root */
    size_t row_count;
    uint32_t users;          /* number of users with a place */
    bool any_usage;          /* false: no usage counts yet */
    struct page_unit *units; /* units[0] is the charged usage */
    size_t unit_count;
    size_t chosen_unit; /* shown first */
    struct page_months months;
    struct page_forecast *forecasts; /* in ascending order of row */
    size_t forecast_count;
    struct page_budget *budgets; /* in ascending order of row */
    size_t budget_count;
    double unfair; /* usage beyond the shares of groups, a fraction; NAN: none */
    struct page_weeks unfair_weeks;
    double capacity, used_a_day; /* of the cluster: capacity of a day, mean of the last week */
    struct page_weeks use_weeks; /* mean usage of a day */
    double wait_s;               /* median wait of the jobs that started in the last week */
    uint64_t started;            /* number of these jobs */
    /* By pool and place; those that cannot start are last.  A job has a row in each pool. */
    struct page_job *jobs;
    size_t job_count, cannot_start;
    struct page_partition *partitions; /* most pending jobs first */
    size_t partition_count;
    struct page_uses by_partition, by_qos; /* of the whole cluster; empty if not requested */
    struct page_change *changes;
    size_t change_count;
    const struct page_backtest *backtest; /* NULL if not requested */
};

static inline size_t page_month_index(const struct page_cluster *cluster, size_t unit, uint32_t row,
                                      size_t month)
{
    return (unit * cluster->row_count + row) * PAGE_MONTHS + month;
}

/* Jobs of OpenPBS without a formula can start, but have no place. */
static inline bool page_job_cannot_start(const struct page_job *job)
{
    return !job->place && (*job->reason || *job->detail);
}

/* Returns the forecast of a user.  Returns NULL if the page does not have it. */
const struct page_forecast *page_forecast_of(const struct page_cluster *cluster, uint32_t row);

#endif
