/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_REPORT_DATA_H
#define FAIRMILL_COMMAND_REPORT_REPORT_DATA_H

#include "command/report/report_rows.h"
#include "report/page/cluster.h"

struct error;
struct name_list;
struct published;
struct published_cluster;

/* The request for a report. */
struct report_request {
    /* since = INT64_MIN: `days` before `until`; until = INT64_MAX: the newest run */
    int64_t since, until;
    uint64_t days;
    bool each;                        /* make a page for each account */
    const char *tres;                 /* show this TRES first; NULL: billed usage */
    const struct name_list *accounts; /* show these and their descendants; empty: everything */
};

struct report_data {
    struct page_cluster page; /* its texts are owned by the queue and by the published results */
    struct report_nodes nodes;
    struct prio_list *queue;
    const struct permissions *permissions; /* of the only user who may see the page; NULL: others */
    uint32_t *tops; /* rows of the selected accounts of this cluster; may be empty */
    size_t top_count;
};

/* Reads the data of a cluster's pages from the result tables, and the cluster's tree.  From these
 * data, page_view_make() selects the part that a page contains.  Returns -1 on error.  The caller
 * calls report_data_free() even on error. */
int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, const struct report_request *request,
                     struct error *err);
void report_data_free(struct report_data *data);

#endif
