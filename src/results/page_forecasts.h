/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_FORECASTS_H
#define FAIRMILL_RESULTS_PAGE_FORECASTS_H

#include <stdint.h>

struct error;
struct page_cluster;
struct published;
struct published_cluster;

/*
 * Computes page->forecasts, whose rows are set.  nodes[i] is the node in the published tree of the
 * user of page->forecasts[i].  Then removes the forecasts that could not be computed, and sorts the
 * list by row.  Returns -1 on error.
 */
int page_forecasts_read(struct page_cluster *page, const uint32_t *nodes,
                        const struct published *published, const struct published_cluster *cluster,
                        struct error *err);

#endif
