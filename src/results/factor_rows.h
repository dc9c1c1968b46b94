/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_FACTOR_ROWS_H
#define FAIRMILL_RESULTS_FACTOR_ROWS_H

#include <stdint.h>

struct db;
struct error;
struct factor_history;
struct publisher;

/*
 * Reads and writes fairmill_qos_change, in which runs record the usage factors of QOS and the times
 * from which they apply.
 */

/*
 * Adds the recorded factors to `history`.  If a row is damaged, adds no factors and sets
 * history->distrusted to the time of the first damaged row.  Returns -1 on error.
 */
int factor_rows_read(struct db *db, const char *cluster, struct factor_history *history,
                     struct error *err);

/*
 * Records the factors known up to the time `until`, in epoch seconds.  Does nothing if a later run
 * has recorded its observations.  Must run inside the transaction that publisher_publish() opened.
 * Returns -1 on error.
 */
int factor_rows_write(const struct publisher *publisher, const struct factor_history *history,
                      int64_t until, struct error *err);

#endif
