/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_DATA_H
#define FAIRMILL_COMMAND_REPORT_DATA_H

#include "report/page/page.h"

struct error;
struct published;
struct published_cluster;

struct report_data {
    struct page_cluster page; /* its texts are those of the queue and of what is published */
    struct prio_list *queue;
};

/* What the page of a cluster shows, from the result tables; reads the cluster's tree.  A page is to
 * open at once, so it has the series of those who used most, and the jobs that come first.  With
 * `accounts_only` it shows no user, and of jobs only how many wait.  Free it also when this fails.
 */
int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, uint64_t days, bool accounts_only,
                     struct error *err);
void report_data_free(struct report_data *data);

#endif
