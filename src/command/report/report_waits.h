/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_WAITS_H
#define FAIRMILL_COMMAND_REPORT_REPORT_WAITS_H

struct error;
struct page_cluster;
struct page_waits;
struct published;
struct published_cluster;

/* Reads the waiting times of the jobs that started in the page's period, and sets `page->waits`.
 * Returns -1 on error.  The caller frees `waits` with page_waits_free(), also on error. */
int report_waits_read(struct page_waits *waits, struct published *published,
                      const struct published_cluster *cluster, struct page_cluster *page,
                      struct error *err);

#endif
