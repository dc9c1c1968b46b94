/* SPDX-License-Identifier: MIT */
#include "report/usage_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/usage/charge_rates.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/text.h"

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

/* Amounts of memory are in MB, as in tres_alloc. */
static const struct tres_word {
    const char *tres, *word;
} tres_words[] = {
    { "cpu", "CPU" },   { "gres/gpu", "GPU" }, { "mem", "MB" },
    { "ncpus", "CPU" }, { "ngpus", "GPU" },    { NULL, NULL },
};

void usage_unit_add_tres(struct text *text, const char *tres, const char *time)
{
    static const char gpu_of_type[] = "gres/gpu:";
    const struct tres_word *known = tres_words;
    while (known->tres && strcmp(known->tres, tres) != 0)
        known++;
    if (!strncmp(tres, gpu_of_type, strlen(gpu_of_type)))
        text_format(text, "%s GPU", tres + strlen(gpu_of_type));
    else
        text_add(text, known->tres ? known->word : tres);
    text_add(text, time);
}
