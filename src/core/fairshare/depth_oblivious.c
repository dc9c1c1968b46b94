/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/fairshare/depth_oblivious.h"

#include <float.h>
#include <math.h>

#include "core/fairshare/algorithm.h"

/* Slurm's depth-oblivious factor: seed 000.
 *
 *     right below the root R = U / S, else R = Rparent rl^k
 *     rl = (U / S) / (U of all siblings / S of all siblings)
 *     k = 1 if ln(Rparent) ln(rl) >= 0, else 1 / (1 + (5 ln Rparent)^2)
 *     F = 2^-(R / dampening)
 *
 * The document says both k = 1 and the other form where the product is 0; Slurm takes 1. */

/* rl: in it the shares of the ancestors cancel, so it comes from the integers of the level. */
double depth_oblivious_local(const struct fairshare *fairshare, const struct node *node)
{
    const struct level *level = level_of(fairshare->tree, node);
    if (wide_is_zero(&node->usage))
        return 0;
    struct natural usage = natural_of_wide(&node->usage);
    struct natural of_level = natural_of_wide(&level->sharer_usage);
    usage = natural_times(&usage, level_shares(fairshare, node));
    of_level = natural_times(&of_level, (uint64_t)node->shares);
    return natural_quotient(&usage, &of_level);
}

double depth_oblivious_k(double parents, double local)
{
    double log_of_parents = log(parents), slope = 5 * log_of_parents;
    return log_of_parents * log(local) >= 0 ? 1 : 1 / (1 + slope * slope);
}

static double ratio_at(const struct fairshare *fairshare, uint32_t i)
{
    const struct node *node = &fairshare->tree->nodes[i];
    const struct values *values = &fairshare->values[i];
    const struct values *above = &fairshare->values[node->fairshare_parent];
    if (!(values->shares_norm > 0))
        return NAN;
    if (node->fairshare_parent == 0)
        return values->usage_norm / values->shares_norm;
    double parents = above->depth_oblivious_ratio;
    if (node_has_parent_shares(node))
        return parents;
    double local = depth_oblivious_local(fairshare, node);
    if (!(parents > 0) || local == 0)
        return 0;
    /* In a very deep tree the product may leave a double's range; then it is just very large. */
    return fmin(parents * pow(local, depth_oblivious_k(parents, local)), DBL_MAX);
}

static void compute(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    values[0].depth_oblivious_ratio = NAN;
    values[0].depth_oblivious_factor = NAN;
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        double ratio = ratio_at(fairshare, i);
        values[i].depth_oblivious_ratio = ratio;
        values[i].depth_oblivious_factor =
            isnan(ratio) ? 0 : exp2(-ratio / fairshare->options->dampening);
    }
}

static double factor(const struct values *values)
{
    return values->depth_oblivious_factor;
}

static double usage(const struct values *values)
{
    return values->depth_oblivious_ratio * values->shares_norm;
}

const struct algorithm depth_oblivious = { "depth_oblivious", compute, factor, values_shares_norm,
                                           usage };
