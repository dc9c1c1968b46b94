/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_WAITS_H
#define FAIRMILL_REPORT_PAGE_WAITS_H

#include "report/waits.h"

struct page_view;
struct text;

/* The part of the page that shows how long jobs waited. */

/* The waiting times of the jobs that started in the page's period.  All lists are of all jobs. */
struct page_waits {
    struct waits_list partitions, accounts, weeks; /* only `partitions` has correlations */
};
/* Frees the lists.  Accepts zeroed `waits`. */
void page_waits_free(struct page_waits *waits);

/*
 * Add the part to the page's data and to the page for readers without scripts.  The page of an
 * account shows the waiting times of this account and of the accounts below it, and no partitions
 * and weeks.  Add nothing if the page has no waiting times.
 */
void page_waits_add(struct text *text, const struct page_view *view);
void page_waits_add_plain(struct text *text, const struct page_view *view);

#endif
