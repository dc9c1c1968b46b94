/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_FAIRNESS_H
#define FAIRMILL_RESULTS_PAGE_FAIRNESS_H

struct db;
struct error;
struct page_cluster;

/* Reads the fairness of a page's cluster at the end of its period and of each week: the part of
 * usage beyond the shares of accounts.  Returns -1 on error. */
int page_fairness_read(struct db *db, struct page_cluster *page, struct error *err);

#endif
