/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_QUEUE_H
#define FAIRMILL_RESULTS_PAGE_QUEUE_H

#include "report/page/cluster.h"

struct error;
struct permissions;
struct prio_list;
struct published;
struct published_cluster;

/* The pending jobs of a page's cluster, and the waits of the jobs that started in the last week. */

/* Fills the jobs, the partitions and the waits of `page`, and the numbers of jobs of its rows.  If
 * the page hides jobs, adds only the jobs that `permissions` show; NULL: none.  Adds the jobs to
 * `list`, which owns their texts.  Returns -1 on error. */
int page_queue_read(struct page_cluster *page, struct prio_list *list, struct published *published,
                    const struct published_cluster *cluster, const struct permissions *permissions,
                    struct error *err);
void page_queue_free(struct page_cluster *page);

#endif
