/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/ratio.h"
#include "core/number/figure.h"
#include "core/number/floating.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Slurm's depth-oblivious factor, from its document "Depth-Oblivious Fair-share Factor".
 *
 *     directly below the root R = U / S, else R = Rparent * rl^k
 *     rl = (U / S) / (U of all siblings / S of all siblings)
 *     k = 1 if ln(Rparent) * ln(rl) >= 0, else 1 / (1 + (5 * ln(Rparent))^2)
 *     F = 2^-(R / dampening)
 *
 * If the product of the logarithms is 0, the document gives both forms of k.  Slurm uses k = 1.
 */

/* Error bound of `part` in ratio_below(), in units of its mantissa.  Four operations truncate
 * `part`. */
#define PART_UNITS 32

/* Returns rl.  The ancestors' shares cancel, so rl is computed from the integers of the level. */
static double local_ratio(const struct fairshare *fairshare, const struct node *node)
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

static double exponent(double parents, double local)
{
    if (parents < 1 ? local <= 1 : local >= 1 || parents <= 1)
        return 1;
    double slope = 5 * log(parents);
    return 1 / (1 + slope * slope);
}

/* Values of an account that its fairshare children need. */
struct oblivious_account {
    struct floating ratio; /* R, with 128 bits */
    struct floating part;  /* shares of the level below it, divided by the usage of that level */
};

/* Returns R of a node with usage, below an account with R > 0.  As long as k is 1 on the whole
 * path, R is a product of fractions and is rounded only once, at the end.  Nodes with equal R then
 * have equal doubles, even if their paths differ. */
static double ratio_below(const struct fairshare *fairshare, const struct node *node,
                          double parents, struct oblivious_account *account)
{
    struct floating usage = floating_of_sum(&node->usage);
    struct floating part =
        floating_divided(floating_product(usage, account->part), (uint64_t)node->shares);
    double local;
    if (!floating_rounds(part, PART_UNITS, &local))
        local = local_ratio(fairshare, node);
    double k = exponent(parents, local);
    account->ratio = floating_product(account->ratio, part);
    if (k >= 1)
        return fmin(floating_to_double(account->ratio), DBL_MAX);
    /* In a very deep tree the product may exceed the range of doubles. */
    double ratio = fmin(parents * pow(local, k), DBL_MAX);
    account->ratio = floating_of_double(ratio);
    return ratio;
}

static double ratio_at_top(const struct fairshare *fairshare, const struct node *node,
                           struct oblivious_account *account)
{
    bool parent = node_has_parent_shares(node);
    struct natural usage = natural_of_wide(&node->usage);
    struct natural total = natural_of_wide(&fairshare->tree->nodes[0].usage);
    account->ratio = floating_of(0);
    if (!usage.length)
        return 0;
    usage = natural_times(&usage, parent ? 1 : level_shares(fairshare, node));
    total = natural_times(&total, parent ? 1 : (uint64_t)node->shares);
    account->ratio = floating_quotient(natural_top(&usage), natural_top(&total));
    return natural_quotient(&usage, &total);
}

/* Returns R of node `i`, or NAN if it is undefined.  `account` holds the values of the account
 * above; its ratio is replaced by the node's R. */
static double ratio_at(const struct fairshare *fairshare, uint32_t i,
                       struct oblivious_account *account)
{
    const struct node *node = &fairshare->tree->nodes[i];
    double parents = fairshare->values[node->fairshare_parent].depth_oblivious_ratio;
    bool top = node->fairshare_parent == 0, sharer = !node_has_parent_shares(node);
    if ((!top && isnan(parents)) || (sharer && (!node->shares || !level_shares(fairshare, node))))
        return NAN;
    if (top)
        return ratio_at_top(fairshare, node, account);
    if (!sharer)
        return parents;
    return parents > 0 && !wide_is_zero(&node->usage)
               ? ratio_below(fairshare, node, parents, account)
               : 0;
}

static struct floating oblivious_part_of(const struct fairshare *fairshare, uint32_t account)
{
    const struct tree *tree = fairshare->tree;
    struct floating usage = floating_of_sum(&tree->levels[tree->nodes[account].level].sharer_usage);
    return usage.mantissa ? floating_quotient(floating_of(list_shares(fairshare, account)), usage)
                          : usage;
}

/* Returns R * shares.  For a node without shares, R is undefined and slurmctld uses the normalized
 * usage.  Children of such a node with `parent` shares get the value of the node. */
static double effective_usage_at(const struct fairshare *fairshare, uint32_t i)
{
    const struct node *node = &fairshare->tree->nodes[i];
    const struct values *values = fairshare->values;
    if (!isnan(values[i].depth_oblivious_ratio))
        return values[i].depth_oblivious_ratio * values[i].shares_norm;
    return node->fairshare_parent && node_has_parent_shares(node)
               ? values[node->fairshare_parent].depth_oblivious_usage
               : values[i].usage_norm;
}

static void oblivious_compute(struct fairshare *fairshare)
{
    const struct tree *tree = fairshare->tree;
    struct values *values = fairshare->values;
    struct oblivious_account *accounts = memory_zeroed(tree->level_count, sizeof *accounts);
    values[0].depth_oblivious_ratio = NAN;
    values[0].depth_oblivious_factor = NAN;
    values[0].depth_oblivious_usage = values[0].usage_norm;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        struct oblivious_account account = accounts[tree->nodes[node->fairshare_parent].level];
        double ratio = ratio_at(fairshare, i, &account);
        if (node->level != NO_NODE)
            accounts[node->level] =
                (struct oblivious_account){ account.ratio, oblivious_part_of(fairshare, i) };
        values[i].depth_oblivious_ratio = ratio;
        values[i].depth_oblivious_usage = effective_usage_at(fairshare, i);
        values[i].depth_oblivious_factor = factor_by_rules(fairshare, i, ratio);
    }
    free(accounts);
}

static int compare_equals(const void *context, uint32_t one, uint32_t other)
{
    (void)context;
    (void)one;
    (void)other;
    return 0;
}

/* R with k < 1 has no exact order because it comes from logarithms.  Nodes are tied if their
 * doubles are equal, which is certain if they are computed from the same numbers. */
static void oblivious_decide(const struct fairshare *fairshare, uint32_t *order)
{
    const struct tree *tree = fairshare->tree;
    struct contest contest = { .list = memory_zeroed(tree->count, sizeof *contest.list),
                               .compare = compare_equals };
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        double ratio = has_roots_factor(fairshare->options, node)
                           ? 1
                           : fairshare->values[i].depth_oblivious_ratio;
        if (!isnan(ratio) && !has_no_factor(fairshare->options, node))
            contest.list[contest.count++] = (struct contender){ floating_of_double(ratio), i };
    }
    contest_decide(&contest, tree, order);
    leave_out_by_rules(fairshare, order);
    free(contest.list);
}

VALUES_FIELD(depth_oblivious_factor)

static double usage(const struct values *values)
{
    /* Older releases of fairmill did not publish this value. */
    return isnan(values->depth_oblivious_usage)
               ? values->depth_oblivious_ratio * values->shares_norm
               : values->depth_oblivious_usage;
}

/* Returns true if R does not depend on the R of an account above. */
static bool is_at_top(const struct explain_context *context, uint32_t i)
{
    return context_node(context, i)->fairshare_parent == 0;
}

/* Adds `usage/root's usage` directly below the root, and `usage/siblings' usage` below that. */
static void add_part_of_siblings(struct text *text, const struct explain_context *context,
                                 uint32_t i)
{
    const struct node *node = context_node(context, i);
    explain_add_usage_figure(text, context, &node->usage);
    if (!i || (node_has_parent_shares(node) && !is_at_top(context, i)))
        return;
    text_add(text, "/");
    explain_add_usage_figure(text, context,
                             is_at_top(context, i)
                                 ? &context->fairshare->tree->nodes[0].usage
                                 : &level_of(context->fairshare->tree, node)->sharer_usage);
}

/* Returns rl, or NAN if it is undefined. */
static double local_of(const struct explain_context *context, uint32_t i)
{
    const struct node *node = context_node(context, i);
    if (!i || is_at_top(context, i) || node_has_parent_shares(node) ||
        !(context_values(context, i)->shares_norm > 0))
        return NAN;
    return local_ratio(context->fairshare, node);
}

static void add_local(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, local_of(context, i), context->digits);
}

static void add_k(struct text *text, const struct explain_context *context, uint32_t i)
{
    double local = local_of(context, i);
    if (!(local > 0))
        return;
    double parents =
        context_values(context, context_node(context, i)->fairshare_parent)->depth_oblivious_ratio;
    if (parents > 0)
        text_add_figure(text, exponent(parents, local), context->digits);
}

static void oblivious_add_ratio(struct text *text, const struct explain_context *context,
                                uint32_t i)
{
    text_add_figure(text, context_values(context, i)->depth_oblivious_ratio, context->digits);
}

static const struct explain_column columns[] = {
    { "Shares", explain_add_shares },
    { "Usage", add_part_of_siblings },
    { "rl", add_local },
    { "k", add_k },
    { "R", oblivious_add_ratio },
    { "F", explain_add_factor },
    { NULL, NULL },
};

const struct algorithm depth_oblivious = {
    .name = "depth_oblivious",
    .short_name = "depth-obl",
    .compute = oblivious_compute,
    .decide = oblivious_decide,
    .factor = values_depth_oblivious_factor,
    .norm_shares = values_shares_norm,
    .effective_usage = usage,
    .of_ratio = true,
    .by_rules = true,
    .columns = columns,
    .digits = 7,
    .formulas = "Directly below the root R = Usage / Shares\n"
                "else R = R above x rl^k, rl = Usage / Shares\n"
                "k = 1 if (ln R above)(ln rl) >= 0, else 1 / (1 + (5 ln R above)^2)\n"
                "F = 2^-(R / %)\n",
};
