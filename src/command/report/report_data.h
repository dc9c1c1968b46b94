/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_DATA_H
#define FAIRMILL_COMMAND_REPORT_REPORT_DATA_H

#include "report/page/cluster.h"

struct error;
struct name_list;
struct published;
struct published_cluster;

/* What is asked for. */
struct report_request {
    int64_t since,
        until; /* since = INT64_MIN: `days` before `until`; until = INT64_MAX: the newest run */
    uint64_t days;
    bool accounts_only; /* no user is shown, and of jobs only how many wait */
    bool each;          /* a page for each account */
    const struct name_list
        *accounts; /* pages of these, and of what is below; none: of everything */
};

struct report_data {
    struct page_cluster page; /* its texts are those of the queue and of what is published */
    struct prio_list *queue;
    uint32_t *tops; /* the rows of the accounts that have pages; none: no such account is here */
    size_t top_count;
};

/* All that pages of a cluster show, from the result tables; reads the cluster's tree.  Pages are to
 * open at once, so there are the series of those who used most, and what is sent of the rest is up
 * to page_view_make().  Free it also when this fails. */
int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, const struct report_request *request,
                     struct error *err);
void report_data_free(struct report_data *data);

#endif
