/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_WITNESS_PARTS_H
#define FAIRMILL_RESULTS_WITNESS_PARTS_H

#include "db/driver.h"
#include "results/kept.h"
#include "results/row_differences.h"
#include "results/witness_shapes.h"

/* What a witness (results/witness.h) knows: what it saw a run do, and what differs. */

#define KEPT_TABLE_NAME "fairmill_kept"

/* The hash that a run would store of a part of a table. */
struct computed_part {
    char *table;
    struct kept_part part;
    bool is_found; /* it is of rows that cannot be made anew, as they are stored */
};

/* What a run did to a table. */
struct witnessed_table {
    bool is_cleared; /* rows were removed, and none written since */
    int64_t cleared_day;
    int64_t last_day;       /* whose rows were compared */
    struct kept_rows found; /* what is stored, where that is read whole and in order */
};

struct witness {
    struct db base;
    struct db *stored;
    const char *cluster;
    struct witnessed_table *tables; /* by shape */
    struct computed_part *parts;
    size_t part_count;
    struct row_differences differences;
    bool sums_differ, open_differ; /* by the seal's own hashes */
};

struct witnessed_table *witnessed(const struct witness *witness, const struct witness_shape *shape);
/* Note the hash that a run stores, of a table of this name. */
void witness_add_part(struct witness *witness, const struct db_value *table, struct kept_part part);

#endif
