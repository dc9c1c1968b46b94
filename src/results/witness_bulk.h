/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_WITNESS_BULK_H
#define FAIRMILL_RESULTS_WITNESS_BULK_H

#include <stdbool.h>

#include "db/driver.h"

struct witness;
struct witness_shape;

/* The rows that a run writes, and those that are stored in their place: what differs is noted in
 * the witness. */

/* For the driver. */
struct db_bulk *witness_bulk_begin(const struct db_bulk *target, struct error *err);
int witness_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err);
int witness_bulk_send(struct db_bulk *base, struct error *err);
void witness_bulk_free(struct db_bulk *base);

/* Rows of the table were removed, and perhaps none were written in their place: then none should be
 * there. */
int witness_compare_with_none(struct witness *witness, const struct witness_shape *shape,
                              struct error *err);
/* Note a row that is only stored, or only computed; `keys` are its values behind the cluster. */
void witness_differ_whole(struct witness *witness, const struct witness_shape *shape,
                          const struct db_value *keys, bool stored);

#endif
