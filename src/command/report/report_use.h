/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_USE_H
#define FAIRMILL_COMMAND_REPORT_USE_H

#include "compute/class_usage.h"

struct page_cluster;

/* What the page has of jobs that the results do not tell: use by partition and by QOS. */
struct report_use {
    struct usage_by_class usage;
    struct page_use *partitions, *qos; /* the page's */
};
/* Read it as of the page's instant; what the layout does not have stays out.  Free it also where
 * this fails. */
int report_use_read(struct report_use *use, const struct settings *settings, struct db *source,
                    struct page_cluster *page, struct error *err);
void report_use_free(struct report_use *use);

#endif
