/* SPDX-License-Identifier: MIT */
#include "report/usage_unit.h"

#include <stdbool.h>
#include <stddef.h>

#include "core/usage/charge_rates.h"
#include "settings/scheduler.h"
#include "settings/settings.h"

static bool charges_cpus(const struct settings *settings)
{
    if (!source_type_of(settings)->is_slurmdbd)
        return false;
    if (settings->charge == CHARGE_CPU)
        return true;
    return settings->charge != CHARGE_TRES && *settings->slurm_path &&
           !charge_weights_count(&settings->weights, CHARGE_AUTO);
}

const struct usage_unit *usage_unit_of(const struct settings *settings)
{
    static const struct usage_unit tres = {
        .rate = "TRES",
        .seconds = "TRES-seconds",
        .minutes = "TRES-minutes",
        .hours = "TRES-hours",
        .definition = "A TRES-hour is one billing unit of Slurm for one hour.",
    };
    static const struct usage_unit cores = {
        .rate = "billed cores",
        .seconds = "billed core-seconds",
        .minutes = "billed core-minutes",
        .hours = "billed core-hours",
    };
    return charges_cpus(settings) ? &cores : &tres;
}
