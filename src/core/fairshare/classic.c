/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <math.h>

#include "core/fairshare/algorithm.h"

/* Slurm's classic factor: seed 002, "The SLURM Fair-Share Formula", in its 2^ form of today.
 *
 *     UE = UA + (UEparent - UA) S / Slevel, right below the root UE = UA
 *     F = 2^-(UE / S / dampening) */

static void compute(struct fairshare *fairshare)
{
    struct values *values = fairshare->values;
    values[0].classic_usage = values[0].usage_norm;
    values[0].classic_factor = NAN;
    for (uint32_t i = 1; i < fairshare->tree->count; i++) {
        const struct values *above = &values[fairshare->tree->nodes[i].fairshare_parent];
        values[i].classic_usage =
            effective_usage(fairshare, i, values[i].usage_norm, above->classic_usage);
        values[i].classic_factor = factor_of(values[i].classic_usage, values[i].shares_norm,
                                             fairshare->options->dampening);
    }
}

static double factor(const struct values *values)
{
    return values->classic_factor;
}

static double usage(const struct values *values)
{
    return values->classic_usage;
}

const struct algorithm classic = { "classic", compute, factor, values_shares_norm, usage };
