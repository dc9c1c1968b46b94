/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_LINES_H
#define FAIRMILL_CORE_USAGE_LINES_H

#include "core/number/wide.h"

#include <stdbool.h>

struct tree;

/* Usage with all below it as what is left of the past and a rate, so that at an instant only what
 * is looked at has to be computed: usage = aged + rate x weight.  The same integers as those of
 * tree_roll_up_usage(), whose sums are of such lines; but that cuts off what is below 0. */
struct usage_lines {
    const struct tree *tree;
    struct wide *aged; /* by node, then by level */
    uint128 *rates;    /* likewise */
    bool usable;
};

/* Of what each node itself is charged; rates are below 2^127. */
void usage_lines_begin(struct usage_lines *lines, const struct tree *tree);
void usage_lines_add_rate(struct usage_lines *lines, uint32_t node, uint128 rate);
/* The past as it was left at some time: set_aged() for every node, then sum_aged().  `usable` is
 * false where a sum leaves the integers or something is below 0. */
void usage_lines_set_aged(struct usage_lines *lines, uint32_t node, const struct wide *own);
void usage_lines_sum_aged(struct usage_lines *lines);
void usage_lines_sum_rates(struct usage_lines *lines);
void usage_lines_free(struct usage_lines *lines);

/* Whether they can be used with a weight: nobody's usage is more than all of it. */
bool usage_lines_fit(const struct usage_lines *lines, uint128 weight);

/* Usage of a node, and of the level that it is a member of. */
struct usage_at {
    const struct usage_lines *lines;
    struct tree *tree; /* that of the lines, where usage is written */
    uint128 weight;
};
void usage_lines_set(const void *usage_at, uint32_t node);

#endif
