/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_CHANGES_H
#define FAIRMILL_COMMAND_REPORT_CHANGES_H

struct db;
struct error;
struct page_cluster;

/* Read when, in the page's span, runs began to have other settings than those before, and which:
 * those that values are made of, not where databases are. */
int report_changes_read(struct db *db, struct page_cluster *cluster, struct error *err);

#endif
