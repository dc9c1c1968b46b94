/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_USAGE_H
#define FAIRMILL_RESULTS_PAGE_USAGE_H

#include <stdint.h>

struct error;
struct id_index;
struct page_cluster;
struct page_weeks;
struct published;
struct published_cluster;

/*
 * Reads the stored daily usage of a page's cluster: `spent` of each row, the months, and the usage
 * of the machine by week.  The page's rows, units and period must be set.  `rows` has the row of
 * each association by id; for a hidden user, the row of the account.
 *
 * Usage of a removed association counts for its nearest existing ancestor.  Entitlements are those
 * of `fairmill statement --by month`.  Returns -1 on error.  The caller frees the months with
 * page_usage_free(), even on error.
 */
int page_usage_read(struct page_cluster *page, struct published *published,
                    const struct published_cluster *cluster, const struct id_index *rows,
                    struct error *err);
void page_usage_free(struct page_cluster *page);

/* Sets the starts of the last PAGE_WEEKS weeks, of which the last one contains `time`. */
void page_usage_set_weeks(struct page_weeks *weeks, int64_t time);

#endif
