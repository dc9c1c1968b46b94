/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PAGE_CHANGES_H
#define FAIRMILL_RESULTS_PAGE_CHANGES_H

struct db;
struct error;
struct page_cluster;

/* Finds the times in the page's period at which settings changed, by comparing consecutive runs.
 * Ignores settings that do not affect values, such as the addresses of databases.  Returns -1 on
 * error. */
int page_changes_read(struct db *db, struct page_cluster *cluster, struct error *err);

#endif
