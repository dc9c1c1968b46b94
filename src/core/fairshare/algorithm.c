/* SPDX-License-Identifier: MIT */
#include "core/fairshare/algorithm.h"

#include <math.h>

const struct level *level_of(const struct tree *tree, const struct node *node)
{
    return &tree->levels[tree->nodes[node->fairshare_parent].level];
}

uint64_t level_shares(const struct fairshare *fairshare, const struct node *node)
{
    uint64_t shares = level_of(fairshare->tree, node)->shares;
    return fairshare->options->conformance == CONFORMANCE_SLURMCTLD ? (uint32_t)shares : shares;
}

const struct wide *level_usage(const struct fairshare *fairshare, const struct node *node)
{
    return fairshare->options->conformance == CONFORMANCE_SLURMCTLD
               ? &fairshare->tree->nodes[node->fairshare_parent].usage
               : &level_of(fairshare->tree, node)->usage;
}

double effective_usage(const struct fairshare *fairshare, uint32_t i, double own, double parents)
{
    const struct node *node = &fairshare->tree->nodes[i];
    if (node->fairshare_parent == 0)
        return own;
    if (node_has_parent_shares(node))
        return parents;
    uint64_t of_level = level_shares(fairshare, node);
    if (!of_level)
        return parents;
    return own + (parents - own) * ((double)node->shares / (double)of_level);
}

double factor_of(double usage, double shares, double dampening)
{
    return shares > 0 ? exp2(-(usage / shares) / dampening) : 0;
}

double values_shares_norm(const struct values *values)
{
    return values->shares_norm;
}
