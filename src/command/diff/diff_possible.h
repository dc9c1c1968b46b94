/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_DIFF_DIFF_POSSIBLE_H
#define FAIRMILL_COMMAND_DIFF_DIFF_POSSIBLE_H

#include <stdbool.h>

#include "compute/stepped_usage.h"

struct algorithm;
struct fairshare_options;
struct printed_row;
struct tree;
struct values;

/*
 * Computes the values that sshare can have printed.  The printed usage is known only to its last
 * digit, so the formulas are computed with both ends of its bounds.
 *
 * Under Fair Tree, all values were computed at the newest decay step.  With the other algorithms,
 * slurmctld computes values while it checks its jobs.  An account's value is from before the newest
 * step, and a user's value is from any time since that step.  The usage from which these values
 * were computed may therefore lack any part of the usage that was charged at or after the newest
 * step.
 */

struct possible_case {
    const struct tree *tree;     /* the tree with the printed shares */
    const struct values *values; /* the values of `tree` with the printed usage */
    const struct fairshare_options *options;
    const struct algorithm *algorithm;
    /* Indexed by node: */
    const struct printed_row **rows;  /* NULL: not printed */
    const struct usage_bounds *usage; /* bounds of the printed usage */
    const double *fresh;              /* usage charged at or after the newest step; NULL: unknown */
    const double *late;               /* usage charged after the newest step; NULL: unknown */
    const bool *exact; /* the usage in `values` is certain, if the output allows it */
};

/* Results, indexed by node; NAN if there is no such value or nothing is known about it. */
struct possible {
    struct usage_bounds *fairshare;
    unsigned *wrong; /* flags of enum contradiction */
};

/* Fills `possible`; the caller frees it with possible_free(). */
void possible_find(struct possible *possible, const struct possible_case *asked);
void possible_free(struct possible *possible);

/* Returns true if two bounds overlap.  Tolerates rounding errors of doubles. */
bool bounds_meet(struct usage_bounds one, struct usage_bounds other);

#endif
