/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "core/fairshare/columns.h"
#include "core/number/figure.h"
#include "util/text.h"

/* Slurm's depth-oblivious factor: seed 000.
 *
 *     right below the root R = U / S, else R = Rparent rl^k
 *     rl = (U / S) / (U of all siblings / S of all siblings)
 *     k = 1 if ln(Rparent) ln(rl) >= 0, else 1 / (1 + (5 ln Rparent)^2)
 *     F = 2^-(R / dampening)
 *
 * The document says both k = 1 and the other form where the product is 0; Slurm takes 1. */

/* rl: in it the shares of the ancestors cancel, so it comes from the integers of the level. */
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
    double local = local_ratio(fairshare, node);
    if (!(parents > 0) || local == 0)
        return 0;
    /* In a very deep tree the product may leave a double's range; then it is just very large. */
    return fmin(parents * pow(local, exponent(parents, local)), DBL_MAX);
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

/* Whether the depth-oblivious ratio of a node is its own, and not made from the one above. */
static bool is_at_top(const struct explain_context *context, uint32_t i)
{
    return context_node(context, i)->fairshare_parent == 0;
}

/* `usage/the root's` right below it, deeper `usage/siblings' usage` */
static void add_part_of_siblings(struct text *text, const struct explain_context *context,
                                 uint32_t i)
{
    const struct node *node = context_node(context, i);
    add_usage_figure(text, context, &node->usage);
    if (!i || (node_has_parent_shares(node) && !is_at_top(context, i)))
        return;
    text_add(text, "/");
    add_usage_figure(text, context,
                     is_at_top(context, i)
                         ? &context->fairshare->tree->nodes[0].usage
                         : &level_of(context->fairshare->tree, node)->sharer_usage);
}

/* rl; NAN where there is none. */
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

static void add_ratio(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context_values(context, i)->depth_oblivious_ratio, context->digits);
}

static const struct explain_column columns[] = {
    { "Shares", add_shares }, { "Usage", add_part_of_siblings },
    { "rl", add_local },      { "k", add_k },
    { "R", add_ratio },       { "F", add_factor },
    { NULL, NULL },
};

const struct algorithm depth_oblivious = {
    .name = "depth_oblivious",
    .short_name = "depth-obl",
    .compute = compute,
    .factor = factor,
    .norm_shares = values_shares_norm,
    .effective_usage = usage,
    .of_ratio = true,
    .columns = columns,
    .digits = 7,
    .formulas = "Right below the root R = Usage / Shares\n"
                "else R = R above x rl^k, rl = Usage / Shares\n"
                "k = 1 where R above and rl are on one side of 1, else 1 / (1 + (5 ln R above)^2)\n"
                "F = 2^-(R / %)\n",
};
