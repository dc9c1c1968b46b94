/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_ROWS_H
#define FAIRMILL_COMMAND_REPORT_REPORT_ROWS_H

#include "report/page/cluster.h"

struct id_index;
struct permissions;
struct published_cluster;

/* The nodes of the published tree that the rows of a page show. */
struct report_nodes {
    uint32_t *nodes;       /* indexed by row */
    struct id_index *rows; /* row of each association, by id; for a hidden user, of the account */
};

/* Fills the rows of a page's cluster in the order of its tree, so that siblings are adjacent.  If
 * the cluster hides users, adds only the users that `permissions` show; NULL: none.  The caller
 * frees `nodes` with report_nodes_free(). */
void report_rows_add(struct page_cluster *cluster, struct report_nodes *nodes,
                     const struct published_cluster *published,
                     const struct permissions *permissions);
void report_nodes_free(struct report_nodes *nodes);

#endif
