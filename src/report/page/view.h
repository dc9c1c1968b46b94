/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_VIEW_H
#define FAIRMILL_REPORT_PAGE_VIEW_H

#include "report/page/cluster.h"

struct text;

/*
 * The part of a cluster that one page shows: everything, or some groups with everything below
 * them.  A group's page also has the rows on the path to it, and the members of their levels,
 * because sentences compare it with them.
 */

enum page_part {
    PAGE_OUTSIDE,  /* not in the page */
    PAGE_COMPARED, /* on the path to a selected group, or a member of the path's levels */
    PAGE_INSIDE,   /* a selected group, or below one */
};

/* The limits above which a page is huge and lists only some rows. */
#define PAGE_GROUPS_LISTED 40u
#define PAGE_USERS_LISTED 200u
#define PAGE_FURTHEST_LISTED 20u

struct page_view {
    const struct page_cluster *cluster;
    size_t number;       /* of the cluster in the page, from 0 */
    bool several;        /* the page has several clusters */
    bool whole;          /* the page shows everything */
    uint32_t opened;     /* the only selected group: its answer is open at first; 0: none */
    unsigned char *part; /* enum page_part, indexed by row */
    uint32_t *numbers;   /* indexed by row: number in `rows`; UINT32_MAX: outside */
    uint32_t *rows;      /* rows that are not outside, in their order in the cluster */
    size_t count;
    /* The accounts inside, depth first; of siblings, the largest share first. */
    uint32_t *groups;
    unsigned char *depths; /* indexed by row: 1 is right below the root, or a selected group */
    size_t group_count;
    uint32_t *users; /* the users inside, most recent usage first */
    size_t user_count;
    bool huge;    /* more groups or users than the limits above */
    size_t *jobs; /* indexes of the cluster's jobs inside */
    size_t job_count;
};

/* Fills `view`, which refers to `cluster`.  `tops` are the selected accounts; none: everything.
 * The caller frees it with page_view_free(). */
void page_view_make(struct page_view *view, const struct page_cluster *cluster,
                    const uint32_t *tops, size_t top_count);
void page_view_free(struct page_view *view);

/* Returns the groups that the page lists, in the order of their table, and sets `*count`.  The
 * caller frees them. */
uint32_t *page_listed_groups(const struct page_view *view, size_t *count);

static inline const struct page_row *page_view_row(const struct page_view *view, uint32_t row)
{
    return &view->cluster->rows[row];
}

/* Returns the prefix that makes ids unique in the page: "", or `c2-` for the second cluster. */
struct page_prefix {
    char bytes[24];
};
struct page_prefix page_prefix_of(const struct page_view *view);
/*
 * Adds the address of a row's answer: `#n/astro`, `#n/astro/anders`, or `#n/astro/anders/gpu`.  If
 * the page has several clusters, it begins with `#c/CLUSTER/`.  Bytes of names other than letters,
 * digits and `-_.!~*'()` are written as %HH, as encodeURIComponent() does.
 */
void page_add_address(struct text *text, const struct page_view *view, uint32_t row);
/* Adds a link to the row's answer, with the name of its user or account, and the partition.  Adds
 * only the name if the row is not inside. */
void page_add_link(struct text *text, const struct page_view *view, uint32_t row);

#endif
