/* SPDX-License-Identifier: MIT */
#include "settings/slurm/slurm_conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

#define NOTES_AT_MOST 100

static const char *const key_names[SLURM_KEYS] = {
    [SLURM_ACCOUNTING_ENFORCE] = "AccountingStorageEnforce",
    [SLURM_CLUSTER_NAME] = "ClusterName",
    [SLURM_DAMPENING_FACTOR] = "FairShareDampeningFactor",
    [SLURM_CALC_PERIOD] = "PriorityCalcPeriod",
    [SLURM_DECAY_HALF_LIFE] = "PriorityDecayHalfLife",
    [SLURM_FAVOR_SMALL] = "PriorityFavorSmall",
    [SLURM_FLAGS] = "PriorityFlags",
    [SLURM_MAX_AGE] = "PriorityMaxAge",
    [SLURM_SITE_FACTOR_PLUGIN] = "PrioritySiteFactorPlugin",
    [SLURM_TYPE] = "PriorityType",
    [SLURM_USAGE_RESET_PERIOD] = "PriorityUsageResetPeriod",
    [SLURM_WEIGHT_AGE] = "PriorityWeightAge",
    [SLURM_WEIGHT_ASSOC] = "PriorityWeightAssoc",
    [SLURM_WEIGHT_FAIRSHARE] = "PriorityWeightFairshare",
    [SLURM_WEIGHT_JOB_SIZE] = "PriorityWeightJobSize",
    [SLURM_WEIGHT_PARTITION] = "PriorityWeightPartition",
    [SLURM_WEIGHT_QOS] = "PriorityWeightQOS",
    [SLURM_WEIGHT_TRES] = "PriorityWeightTRES",
    [SLURM_PRIVATE_DATA] = "PrivateData",
};

const char *slurm_key_name(enum slurm_key key)
{
    return key_names[key];
}

void slurm_conf_destroy(struct slurm_conf *conf)
{
    if (!conf)
        return;
    for (size_t i = 0; i < conf->partition_count; i++)
        free(conf->partitions[i].totals.gres);
    free(conf->partitions);
    free(conf->totals.gres);
    free(conf->notes);
    free(conf->files.each);
    arena_destroy(conf->arena);
    free(conf);
}

void slurm_conf_note(struct slurm_conf *conf, struct slurm_place place, const char *format, ...)
{
    if (conf->note_count == NOTES_AT_MOST)
        return;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    conf->notes = memory_grown(conf->notes, conf->note_count, sizeof *conf->notes);
    conf->notes[conf->note_count++] =
        (struct slurm_note){ place, arena_copy(conf->arena, text, strlen(text)) };
}
