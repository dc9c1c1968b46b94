/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "settings/pricing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/usage/tariff.h"
#include "settings/settings.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* What a suffix stands for are steps of 1024, and some TRES are counted in the second of them. */
static const char suffixes[] = "KMGTP";
#define MEBI 2

/* Cut the blanks off both ends. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    for (size_t length = strlen(text); length && strchr(" \t", text[length - 1]);)
        text[--length] = '\0';
    return text;
}

/* A weight with its suffix.  A suffix that is not above what the TRES is counted in changes
 * nothing, as in Slurm. */
static bool take_weight(struct tres_weight *weight, const char *text)
{
    size_t length = strlen(text);
    char last = length ? text[length - 1] : '\0';
    if (last >= 'a' && last <= 'z')
        last = (char)(last - ('a' - 'A'));
    const char *suffix = last ? strchr(suffixes, last) : NULL;
    if (suffix) {
        bool in_mebi = !strcasecmp(weight->type, "mem") || !strcasecmp(weight->type, "bb");
        long steps = suffix - suffixes + 1 - (in_mebi ? MEBI : 0);
        weight->halvings = steps > 0 ? (unsigned)steps * 10 : 0;
    }
    return decimal_parse(text, length - (suffix != NULL), &weight->weight);
}

/* The place of a TRES among the weights: its own, or a new one. */
static struct tres_weight *place_of(struct weight_list *list, const char *type, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcasecmp(list->weights[i].type, type) && !strcasecmp(list->weights[i].name, name))
            return &list->weights[i];
    list->weights = memory_resized(list->weights, list->count + 1, sizeof *list->weights);
    struct tres_weight *weight = &list->weights[list->count++];
    *weight = (struct tres_weight){ memory_text(type), memory_text(name), { 0, 0 }, 0 };
    return weight;
}

/* The rule that a word of slurm.conf stands for.  Where both are there, MAX_TRES_GRES counts, as in
 * Slurm. */
static bool take_rule(struct pricing *pricing, const char *word)
{
    if (!strcasecmp(word, "MAX_TRES_GRES"))
        pricing->weight_rule = WEIGHTS_MAX_TRES_GRES;
    else if (strcasecmp(word, "MAX_TRES") != 0)
        return false;
    else if (pricing->weight_rule == WEIGHTS_SUM)
        pricing->weight_rule = WEIGHTS_MAX_TRES;
    return true;
}

static bool take_item(struct weight_list *list, char *item, struct text *reason)
{
    char *equals = strchr(item, '=');
    if (equals)
        *equals = '\0';
    char *type = trimmed(item), *slash = strchr(type, '/');
    if (slash)
        *slash = '\0';
    if (!equals || !*type || (slash && !slash[1])) {
        text_add(reason, "each must be TRES=WEIGHT, such as CPU=1, Mem=0.25G or GRES/gpu=2");
        return false;
    }
    struct tres_weight *weight = place_of(list, type, slash ? slash + 1 : "");
    weight->halvings = 0;
    if (!take_weight(weight, trimmed(equals + 1))) {
        text_format(reason,
                    "the weight of '%s%s%s' must be a decimal of at most 18 digits, not below "
                    "0, with K, M, G, T, P or nothing behind it",
                    type, slash ? "/" : "", slash ? slash + 1 : "");
        return false;
    }
    if (list->count > WEIGHTS_LIMIT)
        text_format(reason, "more than %d TRES", WEIGHTS_LIMIT);
    return list->count <= WEIGHTS_LIMIT;
}

bool pricing_take_weights(struct pricing *pricing, const char *value, struct text *reason)
{
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item)) {
        good = take_rule(pricing, item) || take_item(&pricing->weights, item, reason);
        if (!good && !strchr(item, '='))
            text_add(reason, ", or MAX_TRES or MAX_TRES_GRES");
    }
    return good;
}

static struct named_weights *named_weights_of(struct pricing *pricing, const char *name)
{
    pricing->partition_weights =
        memory_resized(pricing->partition_weights, pricing->partition_weight_count + 1,
                       sizeof *pricing->partition_weights);
    struct named_weights *named = &pricing->partition_weights[pricing->partition_weight_count++];
    struct text converted = { 0 };
    text_add_as_utf8(&converted, name, strlen(name));
    *named = (struct named_weights){ .name = converted.bytes };
    return named;
}

/* `PARTITION:TRES=WEIGHT TRES=WEIGHT`. */
static bool take_partition_weights(struct pricing *pricing, char *item, struct text *reason)
{
    char *colon = strchr(item, ':'), *rest = NULL;
    if (colon)
        *colon = '\0';
    const char *name = trimmed(item);
    if (!colon || !*name) {
        text_add(reason, "each must be PARTITION: and its weights with blanks between, such as "
                         "gpu:CPU=1 GRES/gpu=2");
        return false;
    }
    for (size_t i = 0; i < pricing->partition_weight_count; i++)
        if (reads_as(name, strlen(name), pricing->partition_weights[i].name)) {
            text_format(reason, "'%s' is there twice", name);
            return false;
        }
    struct named_weights *named = named_weights_of(pricing, name);
    bool good = true;
    for (char *each = strtok_r(colon + 1, " \t", &rest); good && each;
         each = strtok_r(NULL, " \t", &rest))
        good = take_item(&named->list, each, reason);
    return good;
}

bool pricing_take_partition_weights(struct pricing *pricing, const char *value, struct text *reason)
{
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item))
        good = take_partition_weights(pricing, item, reason);
    return good;
}

static bool take_factor(struct factor_list *list, char *item, struct text *reason)
{
    char *colon = strrchr(item, ':');
    if (colon)
        *colon = '\0';
    const char *name = trimmed(item), *factor = colon ? trimmed(colon + 1) : "";
    struct named_factor added = { 0 };
    if (!colon || !*name || !decimal_parse(factor, strlen(factor), &added.factor)) {
        text_add(reason, "each must be NAME:FACTOR, the factor a decimal of at most 18 digits, not "
                         "below 0");
        return false;
    }
    for (size_t i = 0; i < list->count; i++)
        if (reads_as(name, strlen(name), list->factors[i].name)) {
            text_format(reason, "'%s' is there twice", name);
            return false;
        }
    struct text converted = { 0 };
    text_add_as_utf8(&converted, name, strlen(name));
    added.name = converted.bytes;
    list->factors = memory_resized(list->factors, list->count + 1, sizeof *list->factors);
    list->factors[list->count++] = added;
    return true;
}

bool pricing_take_factors(struct factor_list *list, const char *value, struct text *reason)
{
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item))
        good = take_factor(list, item, reason);
    return good;
}
