/* SPDX-License-Identifier: MIT */
#include "core/fairshare/algorithm.h"

#include "core/fairshare/release.h"

const struct level *level_of(const struct tree *tree, const struct node *node)
{
    return &tree->levels[tree->nodes[node->fairshare_parent].level];
}

uint64_t list_shares(const struct fairshare *fairshare, uint32_t account)
{
    const struct tree *tree = fairshare->tree;
    uint64_t shares = tree->levels[tree->nodes[account].level].shares;
    return fairshare->options->conformance == CONFORMANCE_SLURMCTLD ? (uint32_t)shares : shares;
}

uint64_t level_shares(const struct fairshare *fairshare, const struct node *node)
{
    return list_shares(fairshare, node->fairshare_parent);
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
    double part = fairshare->values[i].level_shares_norm;
    if (part == 0 && !level_shares(fairshare, node))
        return parents;
    return own + (parents - own) * part;
}

double values_shares_norm(const struct values *values)
{
    return values->shares_norm;
}

const struct release *rules_of(const struct fairshare_options *options)
{
    bool newer = options->conformance == CONFORMANCE_SLURMCTLD && options->release;
    return newer ? options->release : releases;
}

bool is_led_to_root(const struct node *node)
{
    return node->fairshare_parent == 0 && node_has_parent_shares(node);
}

bool has_roots_factor(const struct fairshare_options *options, const struct node *node)
{
    return is_led_to_root(node) && release_follows(rules_of(options), RULE_ROOTS_FACTOR);
}

bool has_no_factor(const struct fairshare_options *options, const struct node *node)
{
    return !node->is_user && release_follows(rules_of(options), RULE_ACCOUNTS_LEFT_OUT);
}

void leave_out_by_rules(const struct fairshare *fairshare, uint32_t *order)
{
    for (uint32_t i = 1; i < fairshare->tree->count; i++)
        if (has_no_factor(fairshare->options, &fairshare->tree->nodes[i]))
            order[i] = 0;
}
