/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_ROWS_H
#define FAIRMILL_COMMAND_REPORT_REPORT_ROWS_H

#include "report/page/cluster.h"

struct db;
struct error;
struct id_index;
struct published_cluster;

/* Make the rows of a page's cluster from its tree, level by level, so that siblings stand together;
 * `places` gets the row of each association, of a user who is not shown the account's. */
void report_rows_add(struct page_cluster *cluster, const struct published_cluster *published,
                     struct id_index *places);
/* The row of an account by its name; INDEX_NONE. */
uint32_t report_row_of_account(const struct page_cluster *cluster, const char *asked);

/* Read how fair use was at the page's points of history (fairmill_fairness), which exist already.
 */
int report_fairness_read(struct db *db, struct page_cluster *cluster, struct error *err);
/* Find the times in the page's span at which the settings changed, and which settings.  Only
 * settings that change values count, not where the databases are.  Two runs that follow each other
 * are compared. */
int report_changes_read(struct db *db, struct page_cluster *cluster, struct error *err);

#endif
