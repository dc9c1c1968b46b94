/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_settings.h"

#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "settings/pricing.h"
#include "settings/slurm/slurm_settings.h"
#include "settings/table.h"
#include "util/error.h"
#include "util/text.h"

/* An open job's cap that caps none. */
#define NO_CAP (UINT64_C(1) << 40)

static bool drop_factors(struct pricing *pricing)
{
    if (!pricing->qos_factors.count && !pricing->partition_factors.count)
        return false;
    pricing->qos_factors = pricing->partition_factors = (struct factor_list){ NULL, 0 };
    return true;
}

/* The billing weights of a slurm.conf, which settings take for charge = auto or tres only. */
static void read_billing(struct reduced_settings *reduced)
{
    struct error ignored;
    slurm_read_billing_weights(&reduced->whole, reduced->settings.slurm, &ignored);
}

/* Billing that is not cut to a whole number.  Without weights Slurm bills CPUs, and there is
 * nothing to be cut. */
static bool bill_whole(struct reduced_settings *reduced)
{
    struct settings *settings = &reduced->settings;
    enum charge_basis charge = settings->charge;
    if (settings->slurm) {
        read_billing(reduced);
        settings->pricing = reduced->whole;
    }
    bool weighted = settings->pricing.weights.count || settings->pricing.partition_weight_count;
    settings->charge = CHARGE_AUTO;
    if (settings->priority_flags & PRIORITY_MAX_TRES_GRES)
        settings->pricing.weight_rule = WEIGHTS_MAX_TRES_GRES;
    else if (settings->priority_flags & PRIORITY_MAX_TRES)
        settings->pricing.weight_rule = WEIGHTS_MAX_TRES;
    return charge != CHARGE_AUTO && (weighted || charge != CHARGE_BILLING);
}

static bool lift_caps(struct settings *settings, const struct findings *findings)
{
    if (!findings->kind[FINDING_JOB_CAPPED].seen && !settings->horizon_s)
        return false;
    settings->open_job_cap_s = NO_CAP;
    settings->horizon_s = 0;
    return true;
}

bool settings_without(struct reduced_settings *reduced, enum cause cause,
                      const struct findings *findings)
{
    struct settings *settings = &reduced->settings;
    bool was_there;
    switch (cause) {
    case CAUSE_FACTORS:
        return drop_factors(&settings->pricing);
    case CAUSE_SUSPENDED:
        was_there = settings->suspended != SUSPENDED_CHARGED;
        settings->suspended = SUSPENDED_CHARGED;
        return was_there;
    case CAUSE_ROLLUP:
        was_there = settings->usage_source != USAGE_OF_JOBS;
        settings->usage_source = USAGE_OF_JOBS;
        return was_there;
    case CAUSE_BILLING:
        return bill_whole(reduced);
    case CAUSE_CAPS:
        return lift_caps(settings, findings);
    default:
        return false;
    }
}

static void add_unknown(struct differences *differences, const char *sentence)
{
    size_t count = 0;
    while (differences->unknown[count])
        count++;
    differences->unknown[count] = sentence;
}

void diff_note_unknown(struct differences *differences, const struct settings *settings,
                       bool has_source, double unattributed_usage)
{
    const struct pricing *pricing = &settings->pricing;
    if (!has_source) {
        add_unknown(differences, "without the accounting database these cannot be told apart:\n"
                                 "  age, ledger, factors, suspended, rollup, billing, caps, steps");
        return;
    }
    bool by_billing = settings->charge == CHARGE_AUTO || settings->charge == CHARGE_BILLING;
    if (by_billing && !settings->slurm && !pricing->weights.count &&
        !pricing->partition_weight_count)
        add_unknown(differences, "without a slurm.conf or tres_weights nobody knows what was cut "
                                 "off billing");
    if (!settings->slurm)
        add_unknown(differences, "without a slurm.conf the period is 300 s, or that of --period");
    if (settings->slurm && !slurm_enforces_limits(settings->slurm))
        add_unknown(differences,
                    "limits are not enforced: slurmctld never charges what jobs ran since the last "
                    "pass before\n  their end; if passes were at other seconds before a restart, "
                    "that is up to a period of each\n  job of then, half a period on average, and "
                    "not a part of steps");
    if (unattributed_usage > 0)
        add_unknown(differences, "usage without an association is in no value of ours");
}
