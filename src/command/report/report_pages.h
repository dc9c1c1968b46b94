/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_PAGES_H
#define FAIRMILL_COMMAND_REPORT_REPORT_PAGES_H

#include "command/report/report_data.h"
#include "command/report/report_use.h"
#include "report/page/backtest.h"
#include "util/text.h"

struct error;

/* A cluster, read; one that has none of the accounts that were asked for has no tops. */
struct report_cluster {
    struct report_data data;
    struct text problems;
    struct report_use use;
    struct page_backtest backtest;
};

/* Add one page of all that was asked for. */
void report_page_make(struct text *text, const struct report_cluster *clusters, size_t count);

/* Write into a folder FOLDER/index.html, the same page with links, and for each account that was
 * asked for or is below one a page FOLDER/CLUSTER/ACCOUNT.html, each in one step and the index
 * last.  Folders are made where they are not there.  On failure the pages that were there before
 * stay, but for those that were written already. */
int report_pages_write(const char *directory, const struct report_cluster *clusters, size_t count,
                       struct error *err);

#endif
