/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_FAIRSHARE_ROWS_H
#define FAIRMILL_RESULTS_FAIRSHARE_ROWS_H

#include <stdint.h>

struct error;
struct publication;
struct publisher;

/* Replace a cluster's rows of fairmill_fairshare, inside the transaction that publisher_publish()
 * has open. */
int fairshare_rows_write(const struct publisher *publisher, const struct publication *publication,
                         int64_t as_of, struct error *err);

#endif
