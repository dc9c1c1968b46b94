/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_WITNESS_SHAPES_H
#define FAIRMILL_RESULTS_WITNESS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>

/* The tables that a witness compares. */

#define WITNESS_KEYS_AT_MOST 3

struct witness_shape {
    const char *name;
    /* Besides the cluster, which comes first; ended by NULL. */
    const char *keys[WITNESS_KEYS_AT_MOST + 1];
    const char *clear, *remove; /* what removes all (of a day) or some */
    enum { OF_CLUSTER, BY_DAY, OF_SEAL } kind;
    const char *const *except; /* columns that hang on more than the source and the settings */
    bool in_order;             /* its hash is of all columns in their order */
};

extern const struct witness_shape witness_shapes[];
extern const size_t witness_shape_count;
extern const struct witness_shape *const witness_seal_shape;

/* NULL: the table is not compared. */
const struct witness_shape *witness_shape_named(const char *name);
size_t witness_key_count(const struct witness_shape *shape);

#endif
