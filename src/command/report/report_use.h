/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_USE_H
#define FAIRMILL_COMMAND_REPORT_REPORT_USE_H

#include "report/page/cluster.h"

struct db;
struct error;
struct settings;

/* Reads the decayed usage of a cluster's jobs by partition and by QOS, which the results do not
 * contain, for the page's time.  Reads all jobs, like a full run, if the source has partitions and
 * QOS.  Usage from credits, debits and rollups has no job and is not included.  A job without a
 * partition or QOS is added to the name "".  `whole` is the decayed usage of the cluster in
 * TRES-seconds.  Returns -1 on error.  The caller calls report_use_free() even on error. */
int report_use_read(struct page_cluster *page, const struct settings *settings, struct db *db,
                    double whole, struct error *err);
void report_use_free(struct page_cluster *page);

#endif
