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

/* What sshare can have printed, as the printed usage is known to its digits only: the formulas are
 * computed with both ends of what is possible.
 *
 * Fair Tree's values are all of the newest step.  The two others are made while slurmctld looks at
 * its jobs: accounts' are of before the newest step, each user's is of somewhen since.  So there
 * usage may lack any part of what was charged since. */

struct possible_case {
    const struct tree *tree;     /* with the printed shares */
    const struct values *values; /* of it, with the printed usage */
    const struct fairshare_options *options;
    const struct algorithm *algorithm;
    /* By node: */
    const struct printed_row **rows;  /* NULL: not printed */
    const struct usage_bounds *usage; /* as printed */
    const double *fresh;              /* charged at the newest step and since; NULL: not known */
    const double *late;               /* charged since the newest step; likewise */
    const bool *exact; /* that it is the usage of the values, if it can be, is certain */
};

/* By node; NAN where there is no such value, or it says nothing. */
struct possible {
    struct usage_bounds *fairshare;
    unsigned *wrong; /* enum contradiction */
};

/* To be freed with possible_free(). */
void possible_find(struct possible *possible, const struct possible_case *asked);
void possible_free(struct possible *possible);

/* Whether two bounds have a number in common: what they come from is computed with doubles. */
bool bounds_meet(struct usage_bounds one, struct usage_bounds other);

#endif
