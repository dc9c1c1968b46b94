/* SPDX-License-Identifier: MIT */
#include "core/fairshare/columns.h"

#include <inttypes.h>
#include <math.h>

#include "core/number/figure.h"
#include "core/usage/clock.h"
#include "util/text.h"

const struct node *context_node(const struct explain_context *context, uint32_t i)
{
    return &context->fairshare->tree->nodes[i];
}

const struct values *context_values(const struct explain_context *context, uint32_t i)
{
    return &context->fairshare->values[i];
}

void add_usage_figure(struct text *text, const struct explain_context *context,
                      const struct wide *usage)
{
    text_add_figure(text, clock_usage(context->fairshare->options->clock, usage),
                    context->digits + 2);
}

void add_shares(struct text *text, const struct explain_context *context, uint32_t i)
{
    const struct node *node = context_node(context, i);
    if (i && node_has_parent_shares(node))
        text_add(text, "parent");
    else if (i)
        text_format(text, "%" PRId32 "/%" PRIu64, node->shares,
                    level_shares(context->fairshare, node));
}

void add_shares_norm(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context_values(context, i)->shares_norm, context->digits);
}

void add_usage(struct text *text, const struct explain_context *context, uint32_t i)
{
    add_usage_figure(text, context,
                     context->counted_usage ? &context->counted_usage[i]
                                            : &context_node(context, i)->usage);
}

void add_usage_norm(struct text *text, const struct explain_context *context, uint32_t i)
{
    const struct wide *counted = context->counted_usage;
    text_add_figure(text,
                    counted ? wide_quotient(&counted[i], &counted[0])
                            : context_values(context, i)->usage_norm,
                    context->digits);
}

void add_effective_usage(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context->algorithm->effective_usage(context_values(context, i)),
                    context->digits);
}

void add_factor(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, i ? context->algorithm->factor(context_values(context, i)) : NAN,
                    RESULT_DIGITS);
}
