/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/ratio.h"

/*
 * Slurm's classic factor from "Multifactor Priority Plugin" of Slurm 2.0, section "The SLURM
 * Fair-Share Formula", in its current form with 2^.
 *
 *     UE = UA + (UEparent - UA) * S / Slevel, directly below the root UE = UA
 *     F = 2^-(UE / S / dampening)
 *
 * Here UA is the usage divided by the root's usage, UE is the effective usage, S is the normalized
 * shares, and Slevel is the sum of S over the level.
 */

static void classic_compute(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    const double *ratios = fairshare_ratios(fairshare);
    values[0].classic_usage = values[0].usage_norm;
    values[0].classic_factor = NAN;
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        values[i].classic_usage =
            effective_usage(fairshare, i, values[i].usage_norm, above->classic_usage);
        values[i].classic_factor = factor_by_rules(fairshare, i, ratios[i]);
    }
}

static void classic_decide(const struct fairshare *fairshare, uint32_t *order)
{
    ratios_order_by_rules(fairshare, order);
}

VALUES_FIELD(classic_factor)
VALUES_FIELD(classic_usage)

static const struct explain_column columns[] = {
    { "Shares", explain_add_shares },
    { "S", explain_add_shares_norm },
    { "Usage", explain_add_usage },
    { "UA", explain_add_usage_norm },
    { "UE", explain_add_effective_usage },
    { "F", explain_add_factor },
    { NULL, NULL },
};

const struct algorithm classic = {
    .name = "classic",
    .short_name = "classic",
    .compute = classic_compute,
    .decide = classic_decide,
    .factor = values_classic_factor,
    .norm_shares = values_shares_norm,
    .effective_usage = values_classic_usage,
    .of_ratio = true,
    .by_rules = true,
    .columns = columns,
    .digits = 8,
    .formulas = "S = S above x Shares, UA = Usage / Usage of the root\n"
                "UE = UA + (UE above - UA) x Shares, directly below the root UE = UA\n"
                "F = 2^-(UE / S / %)\n",
};
