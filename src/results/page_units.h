/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_UNITS_H
#define FAIRMILL_RESULTS_PAGE_UNITS_H

struct db;
struct error;
struct page_cluster;
struct published_cluster;

/*
 * Sets the units of a page's cluster, and its capacity.  The units are the charged usage, and the
 * kept TRES that readers care about: GPUs and other GRES, licenses, TRES with a limit, and the TRES
 * `chosen`, which may be NULL.  The limits must have been read.  Returns -1 on error.  The caller
 * frees the units with page_units_free(), even on error.
 */
int page_units_read(struct page_cluster *page, struct db *db,
                    const struct published_cluster *cluster, const char *chosen, struct error *err);
void page_units_free(struct page_cluster *page);

#endif
