/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_BUDGETS_H
#define FAIRMILL_RESULTS_PAGE_BUDGETS_H

struct error;
struct id_index;
struct page_cluster;
struct published;
struct published_cluster;

/* Reads the limits of a page's associations.  `rows` has the row of each association by id.
 * Returns -1 on error.  The caller frees the limits with page_budgets_free(), even on error. */
int page_budgets_read(struct page_cluster *page, struct published *published,
                      const struct published_cluster *cluster, const struct id_index *rows,
                      struct error *err);
void page_budgets_free(struct page_cluster *page);

#endif
