/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_VIEW_H
#define FAIRMILL_REPORT_PAGE_VIEW_H

#include "report/page/cluster.h"

/* What one page shows of a cluster: an account and what is below it, or all.  So that a page opens
 * at once, whatever the site, only so many rows are in it: accounts first, then who used most. */

/* What hangs right below a row and is not in the page. */
struct page_rest {
    uint32_t number;     /* of the row, in the view */
    double shares;       /* one share is counted for `parent` */
    double share, usage; /* of the whole; decayed */
    uint32_t children;
};

/* Jobs that wait in a partition, or with a QOS. */
struct page_queue {
    const char *name;
    size_t jobs;
};
struct page_queues {
    struct page_queue *queues; /* the longest first */
    size_t count;
};

/* An association in the page of which a backtest tells. */
struct page_trial {
    uint32_t number; /* of the row, in the view */
    double turned;   /* page_backtest_turned(); 0 for accounts */
    const struct page_backtest_row *row;
};

struct page_view {
    const struct page_cluster *cluster;
    uint32_t top;      /* the row of the account */
    uint32_t *rows;    /* in the page; parents come first, the top at the beginning */
    uint32_t *numbers; /* of each row of the cluster where it is in `rows`; PAGE_NOT_BELOW,
                          PAGE_LEFT_OUT */
    size_t count;      /* of rows */
    size_t below;      /* of associations that could be in the page */
    size_t *series;    /* of the cluster's, those that are in the page */
    size_t series_count;
    struct page_rest *rests;
    size_t rest_count;
    size_t *jobs; /* of the cluster's, those that come first */
    size_t job_count, job_total;
    struct page_queues partitions, qos;
    struct page_trial *trials; /* accounts as `rows` has them, then users who are turned most */
    size_t trial_count, trial_total;
};
#define PAGE_NOT_BELOW UINT32_MAX
#define PAGE_LEFT_OUT (UINT32_MAX - 1)

void page_view_make(struct page_view *view, const struct page_cluster *cluster, uint32_t top);
void page_view_free(struct page_view *view);

/* How many series have room in a page where each has so many numbers. */
size_t page_series_room(size_t numbers);

static inline const struct page_row *page_view_row(const struct page_view *view, size_t i)
{
    return &view->cluster->rows[view->rows[i]];
}

#endif
