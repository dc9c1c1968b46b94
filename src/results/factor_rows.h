/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_FACTOR_ROWS_H
#define FAIRMILL_RESULTS_FACTOR_ROWS_H

#include <stdint.h>

struct db;
struct error;
struct factor_history;
struct publisher;

/* The rows of fairmill_qos_change, in which runs note the usage factors of QOS and since when each
 * holds. */

/* Add what runs have noted to the past.  Where one row is not as it was written none counts, and
 * past->distrusted is set. */
int factor_rows_read(struct db *db, const char *cluster, struct factor_history *history,
                     struct error *err);

/* Inside the transaction that publisher_publish() has open: note what is known up to an instant;
 * nothing where a later run has noted what it saw. */
int factor_rows_write(const struct publisher *publisher, const struct factor_history *history,
                      int64_t until, struct error *err);

#endif
