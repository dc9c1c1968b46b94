/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_PAGES_H
#define FAIRMILL_COMMAND_REPORT_REPORT_PAGES_H

#include "command/report/report_data.h"
#include "report/page/backtest.h"
#include "util/text.h"

struct error;

/* The data of a cluster.  data.top_count is 0 if no selected account is in the cluster. */
struct report_cluster {
    struct report_data data;
    struct text problems;
    struct page_backtest backtest;
};

/* Adds one HTML page with all clusters and accounts that were requested.  `links` is HTML with
 * links to other pages, or NULL. */
void report_page_make(struct text *text, struct report_cluster *clusters, size_t count,
                      const char *links);

/* Adds the name of the file of an account, without `.html`: letters, digits and `-_.~`. */
void report_pages_add_file_name(struct text *text, const struct page_cluster *cluster,
                                uint32_t row);

/* Writes DIRECTORY/index.html, which is that page with links, and DIRECTORY/CLUSTER/ACCOUNT.html
 * for each selected account and its descendants.  Creates missing directories.  Replaces each file
 * atomically, and the index last.  Returns -1 on error; pages that were not written yet are then
 * unchanged. */
int report_pages_write(const char *directory, struct report_cluster *clusters, size_t count,
                       struct error *err);

#endif
