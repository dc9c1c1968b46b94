/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_ROWS_H
#define FAIRMILL_COMMAND_REPORT_ROWS_H

#include "report/page/cluster.h"

struct id_index;
struct published_cluster;

/* Make the rows of a page's cluster from its tree, level by level, so that siblings stand together;
 * `places` gets the row of each association, of a user who is not shown the account's. */
void report_rows_add(struct page_cluster *cluster, const struct published_cluster *published,
                     struct id_index *places);
/* The row of an account by its name; INDEX_NONE. */
uint32_t report_row_of_account(const struct page_cluster *cluster, const char *asked);

#endif
