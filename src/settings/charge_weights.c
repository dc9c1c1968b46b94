/* SPDX-License-Identifier: MIT */
#include "settings/charge_weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/usage/charge_rates.h"
#include "settings/slurm/slurm_value.h"
#include "util/memory.h"
#include "util/text.h"

/* slurmdbd counts memory and burst buffers in MiB, which is two steps of 1024. */
#define MEBI 2

/* As in Slurm, a unit that is not larger than the TRES's own unit has no effect. */
static bool read_rate(struct tres_weight *weight, const char *text)
{
    struct slurm_weight read;
    bool in_mebi = !strcasecmp(weight->type, "mem") || !strcasecmp(weight->type, "bb");
    unsigned counted = in_mebi ? MEBI : 0;
    if (!slurm_weight(text, &read) || read.number < 0)
        return false;
    weight->halvings = read.steps > counted ? 10 * (read.steps - counted) : 0;
    if (decimal_parse(text, read.length, &weight->weight))
        return true;
    /*
     * If the number has a sign, hexadecimal digits or more than 18 digits, use the same double as
     * slurmctld.
     */
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.17g", fabs(read.number));
    return decimal_parse(digits, (size_t)length, &weight->weight);
}

/* Returns the weight of a TRES, after adding it if necessary. */
static struct tres_weight *charge_weights_place_of(struct weight_list *list, const char *type,
                                                   const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcasecmp(list->weights[i].type, type) && !strcasecmp(list->weights[i].name, name))
            return &list->weights[i];
    struct tres_weight *weight = memory_append(&list->weights, &list->count);
    *weight = (struct tres_weight){ memory_text(type), memory_text(name), { 0, 0 }, 0 };
    return weight;
}

/* As in Slurm, MAX_TRES_GRES takes precedence over MAX_TRES. */
static bool read_rule(struct charge_weights *weights, const char *word)
{
    if (!strcasecmp(word, "MAX_TRES_GRES"))
        weights->weight_rule = WEIGHTS_MAX_TRES_GRES;
    else if (strcasecmp(word, "MAX_TRES") != 0)
        return false;
    else if (weights->weight_rule == WEIGHTS_SUM)
        weights->weight_rule = WEIGHTS_MAX_TRES;
    return true;
}

/* Parses `TRES=WEIGHT`. */
static bool read_item(struct weight_list *list, char *item, struct text *reason)
{
    char *type, *value = list_part(item, strchr(item, '='), &type);
    char *slash = value ? strchr(type, '/') : NULL;
    if (slash)
        *slash = '\0';
    if (!value || !*type || (slash && !slash[1])) {
        text_add(reason, "each item must be TRES=WEIGHT, such as CPU=1, Mem=0.25G or GRES/gpu=2");
        return false;
    }
    struct tres_weight *weight = charge_weights_place_of(list, type, slash ? slash + 1 : "");
    if (!read_rate(weight, value)) {
        text_format(reason,
                    "the weight of '%s%s%s' must be a number of at least 0; it may have the unit "
                    "K, M, G, T or P",
                    type, slash ? "/" : "", slash ? slash + 1 : "");
        return false;
    }
    if (list->count > WEIGHTS_LIMIT)
        text_format(reason, "the list has more than %d TRES", WEIGHTS_LIMIT);
    return list->count <= WEIGHTS_LIMIT;
}

bool read_tres_rates(void *field, const char *value, struct text *reason)
{
    struct charge_weights *weights = field;
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item)) {
        bool is_word = !strchr(item, '='); /* read_item() overwrites the '=' */
        good = read_rule(weights, item) || read_item(&weights->weights, item, reason);
        if (!good && is_word)
            text_add(reason, ", or MAX_TRES or MAX_TRES_GRES");
    }
    return good;
}

static struct named_weights *add_named_weights(struct charge_weights *weights, const char *name)
{
    struct named_weights *named =
        memory_append(&weights->partition_weights, &weights->partition_weight_count);
    *named = (struct named_weights){ .name = utf8_copy(name, strlen(name)) };
    return named;
}

/* Parses `PARTITION:TRES=WEIGHT TRES=WEIGHT`. */
static bool read_partition(struct charge_weights *pricing, char *item, struct text *reason)
{
    char *name, *rest = NULL, *weights = list_part(item, strchr(item, ':'), &name);
    if (!weights) {
        text_add(reason, "each item must be PARTITION:TRES=WEIGHT; separate the weights of a "
                         "partition by blanks, such as gpu:CPU=1 GRES/gpu=2");
        return false;
    }
    for (size_t i = 0; i < pricing->partition_weight_count; i++)
        if (reads_as(name, strlen(name), pricing->partition_weights[i].name)) {
            text_format(reason, "'%s' is in the list twice", name);
            return false;
        }
    struct named_weights *named = add_named_weights(pricing, name);
    bool good = true;
    for (char *each = strtok_r(weights, " \t", &rest); good && each;
         each = strtok_r(NULL, " \t", &rest))
        good = read_item(&named->list, each, reason);
    return good;
}

bool read_partition_rates(void *field, const char *value, struct text *reason)
{
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item))
        good = read_partition(field, item, reason);
    return good;
}

bool read_rates_of_partition(struct charge_weights *pricing, const char *name, const char *weights,
                             struct text *reason)
{
    struct named_weights *named = add_named_weights(pricing, name);
    bool good = true;
    for (char *item; good && (item = list_next(&weights)); free(item))
        good = read_item(&named->list, item, reason);
    return good;
}

/* Parses `NAME:FACTOR`. */
static bool charge_weights_read_factor(struct factor_list *list, char *item, struct text *reason)
{
    char *name, *factor = list_part(item, strrchr(item, ':'), &name);
    struct named_factor added = { 0 };
    if (!factor || !decimal_parse(factor, strlen(factor), &added.factor)) {
        text_add(reason,
                 "each item must be NAME:FACTOR; the factor is a decimal number of at least "
                 "0 with at most 18 digits");
        return false;
    }
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(name, strlen(name), list->factors[i].name)) {
            text_format(reason, "'%s' is in the list twice", name);
            return false;
        }
    added.name = utf8_copy(name, strlen(name));
    *memory_append(&list->factors, &list->count) = added;
    return true;
}

bool read_factors(void *field, const char *value, struct text *reason)
{
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item))
        good = charge_weights_read_factor(field, item, reason);
    return good;
}
