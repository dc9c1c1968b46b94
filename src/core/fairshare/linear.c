/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "core/fairshare/columns.h"
#include "core/number/figure.h"
#include "util/text.h"

/* The factor as seed 002 writes it: "The SLURM Fair-Share Formula".
 *
 *     UE as in classic, of usage over the cluster's capacity
 *     F = (S - UE + 1) / 2, kept in 0..1; 0 in a level whose shares are all 0 */

static double factor_at(const struct fairshare *fairshare, uint32_t i)
{
    const struct node *node = &fairshare->tree->nodes[i];
    const struct values *values = &fairshare->values[i];
    if (isnan(values->linear_usage))
        return NAN;
    if (node_has_parent_shares(node) && node->fairshare_parent != 0)
        return fairshare->values[node->fairshare_parent].linear_factor;
    if (!node_has_parent_shares(node) && !level_shares(fairshare, node))
        return 0;
    return fmin(1, fmax(0, (values->shares_norm - values->linear_usage + 1) / 2));
}

static void compute(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    values[0].linear_usage = values[0].capacity_usage;
    values[0].linear_factor = NAN;
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        values[i].linear_usage =
            effective_usage(fairshare, i, values[i].capacity_usage, above->linear_usage);
        values[i].linear_factor = factor_at(fairshare, i);
    }
}

static double factor(const struct values *values)
{
    return values->linear_factor;
}

static double usage(const struct values *values)
{
    return values->linear_usage;
}

static void add_capacity_usage(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context_values(context, i)->capacity_usage, context->digits);
}

static void add_note(struct text *text, const struct fairshare_options *options)
{
    if (isnan(options->capacity))
        return;
    text_add(text, "The cluster could deliver ");
    text_add_figure(text, options->capacity, SETTING_DIGITS);
    text_add(text, " TRES-seconds.\n");
}

static const struct explain_column columns[] = {
    { "Shares", add_shares },
    { "S", add_shares_norm },
    { "Usage", add_usage },
    { "UA", add_capacity_usage },
    { "UE", add_effective_usage },
    { "F", add_factor },
    { NULL, NULL },
};

const struct algorithm linear = {
    .name = "linear",
    .short_name = "linear",
    .compute = compute,
    .factor = factor,
    .norm_shares = values_shares_norm,
    .effective_usage = usage,
    .columns = columns,
    .digits = 8,
    .formulas = "S = S above x Shares, UA = Usage / what the cluster could deliver\n"
                "UE = UA + (UE above - UA) x Shares, right below the root UE = UA\n"
                "F = (S - UE + 1) / 2, kept within 0 and 1\n",
    .add_note = add_note,
};
