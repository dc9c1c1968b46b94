/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_USE_H
#define FAIRMILL_COMMAND_REPORT_REPORT_USE_H

#include "report/page/cluster.h"

struct db;
struct error;
struct settings;

/* What the page has of jobs that the results do not tell: what the jobs of a cluster have used,
 * decayed, by the partition in which they ran, and by their QOS.  What credits, debits and rollups
 * add belongs to no job.  A job without a partition or QOS counts for the name "". */
struct report_use {
    struct page_uses partitions, qos; /* the page's */
};
/* Read all jobs as of the page's instant, as a full run does, if the layout has partitions and QOS.
 * Free it also if this fails. */
int report_use_read(struct report_use *use, const struct settings *settings, struct db *db,
                    struct page_cluster *page, struct error *err);
void report_use_free(struct report_use *use);

#endif
