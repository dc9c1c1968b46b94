/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_SCENARIO_H
#define FAIRMILL_CORE_INSIGHT_SCENARIO_H

#include "core/tree/tree.h"

/* A tree taken apart again, to be changed and put together: what if shares, parents, users or
 * usage were others?  Its rows are what the source would have after the change, and become a tree
 * as in every run. */

struct scenario {
    struct names *names;      /* the caller's */
    uint32_t empty_name;      /* the number of "" */
    struct association *rows; /* by ascending id; without those that were deleted before */
    struct wide *usage;       /* by row: charged to itself */
    size_t count;
    bool moved; /* whose order is to be made anew */
};

#define NO_ROW SIZE_MAX

/* Take a tree apart.  `rolled_up`: a node's usage has all below it; what was charged to itself is
 * then the rest, where that is more than doubles can be off. */
void scenario_create(struct scenario *scenario, const struct tree *tree, struct names *names,
                     bool rolled_up);
void scenario_free(struct scenario *scenario);

/* The row of an association; NO_ROW. */
size_t scenario_find(const struct scenario *scenario, uint32_t id);
/* Hang an account below another; false, with nothing changed, where that is below it or itself. */
bool scenario_move(struct scenario *scenario, size_t account, size_t parent);

/* Put it together: a tree whose usage is not rolled up yet.  What is marked as deleted leaves its
 * usage to its parent, as deleted associations do.  Where accounts were moved, slurmctld's order
 * is that of their new lineage, bytewise. */
int scenario_build(const struct scenario *scenario, struct tree **tree, struct error *err);

#endif
