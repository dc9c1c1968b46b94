/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_ROWS_H
#define FAIRMILL_COMMAND_REPORT_REPORT_ROWS_H

#include "report/page/cluster.h"

struct db;
struct error;
struct id_index;
struct published_cluster;

/* Fills the rows of a page's cluster from its tree, level by level, so that siblings are adjacent.
 * Adds the row of each association to `places`; for a hidden user, the row of the account. */
void report_rows_add(struct page_cluster *cluster, const struct published_cluster *published,
                     struct id_index *places);
/* Returns the row of the account named `asked`, or INDEX_NONE if the cluster does not have it. */
uint32_t report_row_of_account(const struct page_cluster *cluster, const char *asked);

/* Finds the times in the page's period at which settings changed, by comparing consecutive runs.
 * Ignores settings that do not affect values, such as the addresses of databases.  Returns -1 on
 * error. */
int report_changes_read(struct db *db, struct page_cluster *cluster, struct error *err);

#endif
