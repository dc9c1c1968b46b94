/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_CHANGES_H
#define FAIRMILL_COMMAND_REPORT_CHANGES_H

struct db;
struct error;
struct page_cluster;

/* Find the instants in the page's span at which the settings changed, and which settings.  Only
 * settings that change values count, not where the databases are.  Two runs that follow each other
 * are compared. */
int report_changes_read(struct db *db, struct page_cluster *cluster, struct error *err);

#endif
