/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "settings/pricing.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/tariff.h"
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
static struct tres_weight *place_of(struct pricing *pricing, const char *type, const char *name)
{
    for (size_t i = 0; i < pricing->weight_count; i++)
        if (!strcasecmp(pricing->weights[i].type, type) &&
            !strcasecmp(pricing->weights[i].name, name))
            return &pricing->weights[i];
    pricing->weights =
        memory_resized(pricing->weights, pricing->weight_count + 1, sizeof *pricing->weights);
    struct tres_weight *weight = &pricing->weights[pricing->weight_count++];
    *weight = (struct tres_weight){ memory_text(type), memory_text(name), { 0, 0 }, 0 };
    return weight;
}

static bool take_item(struct pricing *pricing, char *item, struct text *reason)
{
    if (!strcasecmp(item, "MAX_TRES_GRES")) {
        pricing->weight_rule = WEIGHTS_MAX_TRES_GRES;
        return true;
    }
    if (!strcasecmp(item, "MAX_TRES")) {
        /* Where both are there, the other one counts, as in Slurm. */
        if (pricing->weight_rule == WEIGHTS_SUM)
            pricing->weight_rule = WEIGHTS_MAX_TRES;
        return true;
    }
    char *equals = strchr(item, '=');
    if (equals)
        *equals = '\0';
    char *type = trimmed(item), *slash = strchr(type, '/');
    if (slash)
        *slash = '\0';
    if (!equals || !*type || (slash && !slash[1])) {
        text_add(reason, "each must be TRES=WEIGHT, such as CPU=1, Mem=0.25G or GRES/gpu=2, or "
                         "MAX_TRES or MAX_TRES_GRES");
        return false;
    }
    struct tres_weight *weight = place_of(pricing, type, slash ? slash + 1 : "");
    weight->halvings = 0;
    if (take_weight(weight, trimmed(equals + 1)))
        return true;
    text_format(reason,
                "the weight of '%s%s%s' must be a decimal of at most 18 digits, not below "
                "0, with K, M, G, T, P or nothing behind it",
                type, slash ? "/" : "", slash ? slash + 1 : "");
    return false;
}

bool pricing_take_weights(struct pricing *pricing, const char *value, struct text *reason)
{
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item))
        good = take_item(pricing, item, reason);
    if (good && pricing->weight_count > WEIGHTS_LIMIT) {
        text_format(reason, "more than %d TRES", WEIGHTS_LIMIT);
        good = false;
    }
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
