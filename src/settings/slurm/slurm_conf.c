/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "settings/slurm/slurm_conf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/slurm/slurm_nodes.h"
#include "settings/slurm/slurm_record.h"
#include "util/error.h"
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
};

const char *slurm_key_name(enum slurm_key key)
{
    return key_names[key];
}

/* What the lines are put into. */
struct target {
    struct slurm_conf *conf;
    struct slurm_nodes *nodes;
};

static int take_value(struct slurm_conf *conf, struct slurm_given *given, struct slurm_place place,
                      const struct slurm_pair *pair, const char *rest, struct error *err)
{
    if (!pair->plain)
        return fail(err, ERROR_SETTINGS,
                    "'%s', line %u: %s is set by another sign than =", place.file, place.line,
                    pair->key);
    if (*rest)
        return fail(err, ERROR_SETTINGS, "'%s', line %u: something behind the value of %s",
                    place.file, place.line, pair->key);
    *given = (struct slurm_given){
        arena_copy(conf->arena, pair->value, strlen(pair->value)),
        place,
    };
    return 0;
}

static int take_line(void *context, struct slurm_place place, char *line, struct error *err)
{
    struct target *target = context;
    struct slurm_pair pair;
    char *rest = line;
    /* What stands there may be a secret, so it is not printed. */
    if (!slurm_pair_next(&rest, &pair))
        return fail(err, ERROR_SETTINGS, "'%s', line %u: neither KEY=VALUE nor an Include",
                    place.file, place.line);
    if (slurm_kind_of(pair.key) != SLURM_KINDS)
        return slurm_nodes_take(target->nodes, place, &pair, rest, err);
    rest += strspn(rest, " \t\r\n\v\f");
    for (int key = 0; key < SLURM_KEYS; key++)
        if (!strcasecmp(pair.key, key_names[key]))
            return take_value(target->conf, &target->conf->given[key], place, &pair, rest, err);
    /* What is not known here is Slurm's business. */
    return 0;
}

int slurm_conf_read(struct slurm_conf **read, const char *path, struct error *err)
{
    struct slurm_conf *conf = memory_zeroed(1, sizeof *conf);
    conf->arena = arena_create();
    conf->path = arena_copy(conf->arena, path, strlen(path));
    struct target target = { conf, slurm_nodes_create(conf) };
    const struct slurm_reader reader = {
        .take = take_line,
        .context = &target,
        .cluster = &conf->given[SLURM_CLUSTER_NAME].value,
        .arena = conf->arena,
    };
    int result = slurm_file_read(&reader, path, &conf->files, err);
    if (!result)
        result = slurm_nodes_finish(target.nodes, err);
    slurm_nodes_destroy(target.nodes);
    if (result) {
        slurm_conf_destroy(conf);
        return -1;
    }
    *read = conf;
    return 0;
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
    conf->notes = memory_resized(conf->notes, conf->note_count + 1, sizeof *conf->notes);
    conf->notes[conf->note_count++] =
        (struct slurm_note){ place, arena_copy(conf->arena, text, strlen(text)) };
}
