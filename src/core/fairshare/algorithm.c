/* SPDX-License-Identifier: MIT */
#include "core/fairshare/algorithm.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/fairshare/release.h"
#include "core/number/figure.h"
#include "core/usage/decay_table.h"
#include "util/memory.h"
#include "util/text.h"

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

/* ---- columns ---- */

const struct node *context_node(const struct explain_context *context, uint32_t i)
{
    return &context->fairshare->tree->nodes[i];
}

const struct values *context_values(const struct explain_context *context, uint32_t i)
{
    return &context->fairshare->values[i];
}

void explain_add_usage_figure(struct text *text, const struct explain_context *context,
                              const struct wide *usage)
{
    text_add_figure(text, decay_table_usage(context->fairshare->options->decay, usage),
                    context->digits + 2);
}

void explain_add_shares(struct text *text, const struct explain_context *context, uint32_t i)
{
    const struct node *node = context_node(context, i);
    if (i && node_has_parent_shares(node))
        text_add(text, "parent");
    else if (i)
        text_format(text, "%" PRId32 "/%" PRIu64, node->shares,
                    level_shares(context->fairshare, node));
}

void explain_add_shares_norm(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context_values(context, i)->shares_norm, context->digits);
}

void explain_add_usage(struct text *text, const struct explain_context *context, uint32_t i)
{
    explain_add_usage_figure(text, context,
                             context->counted_usage ? &context->counted_usage[i]
                                                    : &context_node(context, i)->usage);
}

void explain_add_usage_norm(struct text *text, const struct explain_context *context, uint32_t i)
{
    const struct wide *counted = context->counted_usage;
    text_add_figure(text,
                    counted ? wide_quotient(&counted[i], &counted[0])
                            : context_values(context, i)->usage_norm,
                    context->digits);
}

void explain_add_effective_usage(struct text *text, const struct explain_context *context,
                                 uint32_t i)
{
    text_add_figure(text, context->algorithm->effective_usage(context_values(context, i)),
                    context->digits);
}

void explain_add_factor(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, i ? context->algorithm->factor(context_values(context, i)) : NAN,
                    RESULT_DIGITS);
}

/* ---- orders and ranks ---- */

uint32_t *order_of_all(const struct tree *tree, const struct fairshare_options *options,
                       const struct algorithm *algorithm, const struct values *values)
{
    struct fairshare fairshare = { .tree = tree,
                                   .options = options,
                                   .values = (struct values *)values };
    uint32_t *order = memory_zeroed(tree->count, sizeof *order);
    algorithm->decide(&fairshare, order);
    return order;
}

int order_of_pair(const struct tree *tree, const struct fairshare_options *options,
                  const struct algorithm *algorithm, const struct values *values,
                  const uint32_t pair[2])
{
    double one = algorithm->factor(&values[pair[0]]), other = algorithm->factor(&values[pair[1]]);
    if (one != other)
        return one > other ? -1 : 1;
    uint32_t *order = order_of_all(tree, options, algorithm, values);
    uint32_t first = order[pair[0]], second = order[pair[1]];
    free(order);
    return (first > second) - (first < second);
}

uint32_t *user_ranks(const struct tree *tree, const uint32_t *order)
{
    uint32_t *ranks = memory_zeroed(tree->count, sizeof *ranks);
    /* First the number of users at each position, then the number of users at better positions. */
    uint32_t *users = memory_zeroed((size_t)tree->count + 1, sizeof *users), better = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        users[order[i]] += tree->nodes[i].is_user && order[i];
    for (uint32_t place = 1; place <= tree->count; place++) {
        uint32_t here = users[place];
        users[place] = better;
        better += here;
    }
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user && order[i])
            ranks[i] = tree->user_count - users[order[i]];
    free(users);
    return ranks;
}
