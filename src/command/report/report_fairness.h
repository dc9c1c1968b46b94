/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_FAIRNESS_H
#define FAIRMILL_COMMAND_REPORT_FAIRNESS_H

struct db;
struct error;
struct page_cluster;

/* How fair use was at the page's points of history (fairmill_fairness); `instants` are there. */
int report_fairness_read(struct db *db, struct page_cluster *cluster, struct error *err);

#endif
