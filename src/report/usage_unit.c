/* SPDX-License-Identifier: MIT */
#include "report/usage_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "core/usage/charge_rate.h"
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

/* ---- The unit of a page ---- */

/* Maximum number of partitions whose weights are listed. */
#define PARTITIONS_AT_MOST 4u
/* Weights of memory are for 1 MB; people use GB. */
#define MB_PER_GB 1024

static double usage_unit_weight(const struct tres_weight *weight)
{
    double value = decimal_nearest(&weight->weight);
    for (unsigned i = 0; i < weight->halvings; i++)
        value /= 2;
    return strcasecmp(weight->type, "mem") ? value : value * MB_PER_GB;
}

static bool usage_unit_counts_core(const struct weight_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcasecmp(list->weights[i].type, "cpu") && usage_unit_weight(&list->weights[i]) == 1)
            return true;
    return false;
}

static bool usage_unit_is_core(const struct settings *settings)
{
    const struct charge_weights *weights = &settings->weights;
    if (charges_cpus(settings))
        return true;
    if (!source_type_of(settings)->is_slurmdbd || settings->charge == CHARGE_BILLING)
        return false;
    bool any = usage_unit_counts_core(&weights->weights);
    for (size_t i = 0; i < weights->partition_weight_count; i++)
        any |= usage_unit_counts_core(&weights->partition_weights[i].list);
    return any;
}

const char *usage_unit_page_hours(const struct settings *settings)
{
    return usage_unit_is_core(settings) ? "core-hours" : "billed hours";
}

/* Adds words such as `one core counts 1 and one GPU 16`. */
static void usage_unit_add_weights(struct text *text, const struct weight_list *list)
{
    size_t count = 0, last = 0;
    for (size_t i = 0; i < list->count; i++)
        if (usage_unit_weight(&list->weights[i]) > 0)
            last = ++count;
    count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct tres_weight *weight = &list->weights[i];
        struct text name = { 0 };
        if (!(usage_unit_weight(weight) > 0))
            continue;
        text_format(&name, "%s%s%s", weight->type, *weight->name ? "/" : "", weight->name);
        text_add(text, !count ? "" : count + 1 == last ? " and " : ", ");
        text_add(text, "one ");
        if (!strcasecmp(name.bytes, "cpu"))
            text_add(text, "core");
        else if (!strcasecmp(name.bytes, "mem"))
            text_add(text, "GB of memory");
        else
            usage_unit_add_tres(text, ascii_lower(name.bytes), "");
        text_format(text, "%s%.6g", count++ ? " " : " counts ", usage_unit_weight(weight));
        text_free(&name);
    }
    if (!count)
        text_add(text, "nothing counts");
}

static bool usage_unit_same_weights(const struct weight_list *one, const struct weight_list *other)
{
    bool same = one->count == other->count;
    for (size_t i = 0; same && i < one->count; i++)
        same = !strcasecmp(one->weights[i].type, other->weights[i].type) &&
               !strcasecmp(one->weights[i].name, other->weights[i].name) &&
               usage_unit_weight(&one->weights[i]) == usage_unit_weight(&other->weights[i]);
    return same;
}

/* Adds a sentence for partition number `at` and the later ones with the same weights.  Adds nothing
 * if an earlier one has the same weights. */
static bool usage_unit_add_partitions(struct text *text, const struct charge_weights *weights,
                                      size_t at)
{
    const struct named_weights *all = weights->partition_weights;
    size_t same = 0, added = 0;
    for (size_t i = 0; i < weights->partition_weight_count; i++)
        if (usage_unit_same_weights(&all[i].list, &all[at].list)) {
            if (i < at)
                return false;
            same++;
        }
    text_add(text, " In ");
    for (size_t i = at; i < weights->partition_weight_count && added < PARTITIONS_AT_MOST; i++)
        if (usage_unit_same_weights(&all[i].list, &all[at].list))
            text_format(text, "%s%s", !added++ ? "" : added == same ? " and " : ", ", all[i].name);
    if (same > added)
        text_format(text, " and %zu more partitions", same - added);
    text_add(text, ", ");
    usage_unit_add_weights(text, &all[at].list);
    text_add(text, ".");
    return true;
}

void usage_unit_add_definition(struct text *text, const struct settings *settings)
{
    const struct charge_weights *weights = &settings->weights;
    bool cores = usage_unit_is_core(settings);
    bool slurm = source_type_of(settings)->is_slurmdbd;
    text_add(text, cores   ? "One core for one hour."
                   : slurm ? "One unit of Slurm's billing for one hour."
                           : "One unit of the stored usage for one hour.");
    if (!slurm || charges_cpus(settings) || settings->charge == CHARGE_BILLING)
        return;
    if (weights->weights.count) {
        text_add(text, " Here, ");
        usage_unit_add_weights(text, &weights->weights);
        text_add(text, ".");
    }
    size_t sentences = 0, at = 0;
    for (; at < weights->partition_weight_count && sentences < PARTITIONS_AT_MOST; at++)
        sentences += usage_unit_add_partitions(text, weights, at);
    if (at < weights->partition_weight_count)
        text_add(text, " Other partitions have weights of their own.");
    if (weights->weight_rule != WEIGHTS_SUM)
        text_add(text, " Only the largest of these amounts counts (MAX_TRES).");
}
