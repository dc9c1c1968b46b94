/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_FAIRNESS_ROWS_H
#define FAIRMILL_RESULTS_FAIRNESS_ROWS_H

#include <stdint.h>

struct error;
struct publisher;
struct tree;
struct values;

/* Inside a transaction: write the rows of fairmill_fairness of an instant, a row for each scope of
 * core/insight/fairness.h, with their hash; those that are there of it are replaced. */
int fairness_rows_write(const struct publisher *publisher, const struct tree *tree,
                        const struct values *values, int64_t as_of, struct error *err);

#endif
