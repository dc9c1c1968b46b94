/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_REPORT_DATA_H
#define FAIRMILL_COMMAND_REPORT_DATA_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct db;
struct error;
struct page_cluster;

/* What the page of a cluster shows, from the result tables.  Name, algorithm, time zone and
 * instants are there; all texts are the arena's.  A page is to open at once, so it has the
 * series of those who used most, and the jobs that come first.  With `accounts_only` it tells of no
 * user, nor of jobs more than how many wait. */
int report_data_read(struct db *db, struct page_cluster *cluster, uint64_t days, bool accounts_only,
                     struct arena *arena, struct error *err);

/* Also of a cluster that was read in part. */
void report_data_free(struct page_cluster *cluster);

#endif
