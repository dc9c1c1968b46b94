/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_VIEW_H
#define FAIRMILL_REPORT_PAGE_VIEW_H

#include "report/page/cluster.h"

/*
 * The part of a cluster that one page shows: an account with everything below it, or the whole
 * cluster.
 *
 * The number of rows is limited, so that a page opens quickly on any site.  Accounts come first,
 * then the users with the most usage.
 */

/* Sums over the children of a row that are not in the page. */
struct page_rest {
    uint32_t number;     /* of the row, in the view */
    double shares;       /* `parent` counts as one share */
    double share, usage; /* share of the cluster; decayed usage */
    uint32_t children;
};

/* The number of pending jobs in a partition or with a QOS. */
struct page_queue {
    const char *name;
    size_t jobs;
};
struct page_queues {
    struct page_queue *queues; /* queues, longest first */
    size_t count;
};

/* An association in the page with results of a backtest. */
struct page_trial {
    uint32_t number; /* of the row, in the view */
    double turned;   /* page_backtest_turned(); 0 for accounts */
    const struct page_backtest_row *row;
};

struct page_view {
    const struct page_cluster *cluster;
    uint32_t top;   /* row of the account; 0: the whole cluster */
    uint32_t *rows; /* rows in the page; the top first, parents before children */
    /* Indexed by row of the cluster: index in `rows`, PAGE_NOT_BELOW or PAGE_LEFT_OUT. */
    uint32_t *numbers;
    size_t count;   /* number of `rows` */
    size_t below;   /* number of associations at and below the top */
    size_t *series; /* indexes of the cluster's series that are in the page */
    size_t series_count;
    struct page_rest *rests;
    size_t rest_count;
    size_t *jobs; /* indexes of the cluster's first pending jobs */
    size_t job_count, job_total;
    struct page_queues partitions, qos;
    struct page_trial *trials; /* accounts in order of `rows`, then users, most discordant first */
    size_t trial_count, trial_total;
};
#define PAGE_NOT_BELOW UINT32_MAX
#define PAGE_LEFT_OUT (UINT32_MAX - 1)

/* Fills `view`, which refers to `cluster`.  The caller frees it with page_view_free(). */
void page_view_make(struct page_view *view, const struct page_cluster *cluster, uint32_t top);
void page_view_free(struct page_view *view);

/* Returns the index of the top's series, or NULL if the page does not have it. */
const size_t *page_view_top_series(const struct page_view *view);
/* Returns true if the account of a series used the TRES on any day. */
bool page_has_tres(const struct page_cluster *cluster, size_t series, size_t tres);
/* Returns the number of series that fit in a page if each has `numbers` numbers. */
size_t page_series_room(size_t numbers);

static inline const struct page_row *page_view_row(const struct page_view *view, size_t i)
{
    return &view->cluster->rows[view->rows[i]];
}

#endif
