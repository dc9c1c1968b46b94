/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_HISTORY_H
#define FAIRMILL_RESULTS_HISTORY_H

#include <stdint.h>

struct error;
struct publication;
struct publisher;

/* What is kept of the values of earlier runs, and for how long. */

/* Inside the transaction that publisher_publish() has open, once the values are written: where the
 * instant is the first of its history_interval they become a point of fairmill_history. */
int history_write(const struct publisher *publisher, const struct publication *publication,
                  int64_t as_of, struct error *err);

/* After that transaction: take away what is older than [retention] wants, in transactions that are
 * short.  Where there is much, the next runs go on. */
int history_prune(const struct publisher *publisher, int64_t as_of, struct error *err);

/* Likewise all points and days of the cluster. */
int history_forget(const struct publisher *publisher, struct error *err);

#endif
