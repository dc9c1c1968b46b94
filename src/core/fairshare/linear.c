/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "core/fairshare/columns.h"
#include "core/fairshare/surplus.h"
#include "core/number/figure.h"
#include "util/text.h"

/* The factor as seed 002 writes it: "The SLURM Fair-Share Formula".
 *
 *     UE as in classic, of usage over the cluster's capacity
 *     F = (S - UE + 1) / 2, kept in 0..1; 0 in a level whose shares are all 0 */

static void compute(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    bool known = !isnan(fairshare->options->capacity);
    struct surpluses *surpluses = known ? surpluses_create(fairshare) : NULL;
    values[0].linear_usage = values[0].capacity_usage;
    values[0].linear_factor = NAN;
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        values[i].linear_usage =
            effective_usage(fairshare, i, values[i].capacity_usage, above->linear_usage);
        values[i].linear_factor = known ? surplus_next(surpluses, i) : NAN;
    }
    surpluses_destroy(surpluses);
}

static void decide(const struct fairshare *fairshare, uint32_t *order)
{
    if (!isnan(fairshare->options->capacity))
        surpluses_order(fairshare, order);
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
    .decide = decide,
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
