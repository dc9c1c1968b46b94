/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "settings/priority_keys.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* Slurm's PriorityJobFactor has 16 bits. */
#define FACTOR_AT_MOST 65535

static const struct {
    const char *name;
    unsigned bits;
} flags[] = {
    { "ACCRUE_ALWAYS", PRIORITY_ACCRUE_ALWAYS },
    { "CALCULATE_RUNNING", PRIORITY_CALCULATE_RUNNING },
    { "INCR_ONLY", PRIORITY_INCR_ONLY },
    { "MAX_TRES", PRIORITY_MAX_TRES },
    { "MAX_TRES_GRES", PRIORITY_MAX_TRES_GRES },
    { "NO_NORMAL_ALL", PRIORITY_NO_NORMAL_ALL },
    { "NO_NORMAL_ASSOC", PRIORITY_NO_NORMAL_ASSOC },
    { "NO_NORMAL_PART", PRIORITY_NO_NORMAL_PART },
    { "NO_NORMAL_QOS", PRIORITY_NO_NORMAL_QOS },
    { "NO_NORMAL_TRES", PRIORITY_NO_NORMAL_TRES },
    { "SMALL_RELATIVE_TO_TIME", PRIORITY_SMALL_RELATIVE_TO_TIME },
};
#define FLAGS (sizeof flags / sizeof *flags)

unsigned priority_flag_named(const char *name, size_t length)
{
    for (size_t i = 0; i < FLAGS; i++)
        if (strlen(flags[i].name) == length && !strncasecmp(flags[i].name, name, length))
            return flags[i].bits;
    return 0;
}

bool flag_is_algorithm(const char *name, size_t length)
{
    static const char *const names[] = { "DEPTH_OBLIVIOUS", "FAIR_TREE", "NO_FAIR_TREE", NULL };
    for (int i = 0; names[i]; i++)
        if (strlen(names[i]) == length && !strncasecmp(names[i], name, length))
            return true;
    return false;
}

static int refuse(const struct setting *setting, const char *value, const char *wanted,
                  struct error *err)
{
    return fail(err, ERROR_SETTINGS, "[%s] %s = '%s': %s", setting->section, setting->key, value,
                wanted);
}

static void keep_text(void *field, const char *value)
{
    char **text = field;
    free(*text);
    *text = memory_text(value);
}

int take_weight(const struct setting *setting, void *field, const char *value, struct error *err)
{
    uint64_t weight;
    if (!number_unsigned(value, strlen(value), &weight) || weight > UINT32_MAX)
        return refuse(setting, value, "must be a whole number from 0 to 4294967295", err);
    *(uint64_t *)field = weight;
    return 0;
}

/* Cut the blanks off both ends. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    for (size_t length = strlen(text); length && strchr(" \t", text[length - 1]);)
        text[--length] = '\0';
    return text;
}

/* Part `NAME<sign>VALUE` at the sign; NULL where one is missing. */
static char *part(char *item, char *sign, char **name)
{
    if (!sign)
        return NULL;
    *sign = '\0';
    *name = trimmed(item);
    return **name ? trimmed(sign + 1) : NULL;
}

bool tres_weight_of(const char *tres, const char *text, double *weight)
{
    static const char suffixes[] = "KMGTP";
    size_t length = strlen(text);
    const char *suffix = length ? strchr(suffixes, text[length - 1] & ~0x20) : NULL;
    char *number = memory_bytes(text, suffix ? length - 1 : length);
    bool good = number_real(number, weight);
    free(number);
    bool in_mebi = !strcasecmp(tres, "mem") || !strncasecmp(tres, "bb/", 3);
    for (long steps = suffix ? suffix - suffixes + 1 - (in_mebi ? 2 : 0) : 0; steps > 0; steps--)
        *weight /= 1024;
    return good;
}

int take_tres_weights(const struct setting *setting, void *field, const char *value,
                      struct error *err)
{
    const char *at = value;
    bool good = true;
    for (char *item, *name; good && (item = list_next(&at)); free(item)) {
        const char *weight = part(item, strchr(item, '='), &name);
        double number;
        good = weight && tres_weight_of(name, weight, &number);
    }
    if (!good)
        return refuse(setting, value,
                      "must be TRES=NUMBER, perhaps with K, M, G, T or P behind it, separated by "
                      "commas, such as CPU=1000,Mem=2000,GRES/gpu=3000",
                      err);
    keep_text(field, value);
    return 0;
}

int take_partition_factors(const struct setting *setting, void *field, const char *value,
                           struct error *err)
{
    const char *at = value;
    struct text seen = { 0 };
    bool good = true;
    text_add(&seen, "\n");
    for (char *item, *name; good && (item = list_next(&at)); free(item)) {
        const char *factor = part(item, strrchr(item, ':'), &name);
        uint64_t number;
        good =
            factor && number_unsigned(factor, strlen(factor), &number) && number <= FACTOR_AT_MOST;
        struct text line = { 0 };
        text_format(&line, "\n%s\n", good ? name : "");
        good = good && !strstr(seen.bytes, line.bytes);
        text_add(&seen, line.bytes + 1);
        text_free(&line);
    }
    text_free(&seen);
    if (!good)
        return refuse(setting, value,
                      "must be PARTITION:NUMBER, separated by commas, each number "
                      "up to 65535 and each partition once, such as GPU:100, "
                      "debug:10",
                      err);
    keep_text(field, value);
    return 0;
}

/* Say what is wrong with a flag that is none. */
static int refuse_flag(const struct setting *setting, const char *value, const char *name,
                       struct error *err)
{
    if (flag_is_algorithm(name, strlen(name)))
        return refuse(setting, value, "which algorithm it is, [fairshare] algorithm says", err);
    const char *names[FLAGS + 1] = { NULL };
    for (size_t i = 0; i < FLAGS; i++)
        names[i] = flags[i].name;
    const char *nearest = nearest_word(name, names);
    return fail(err, ERROR_SETTINGS, "[%s] %s = '%s': unknown flag '%s'%s%s%s", setting->section,
                setting->key, value, name, nearest ? "; did you mean '" : "",
                nearest ? nearest : "", nearest ? "'?" : "");
}

int take_priority_flags(const struct setting *setting, void *field, const char *value,
                        struct error *err)
{
    unsigned bits = 0;
    int result = 0;
    const char *at = value;
    for (char *name; !result && (name = list_next(&at)); free(name)) {
        unsigned flag = priority_flag_named(name, strlen(name));
        bits |= flag;
        if (!flag)
            result = refuse_flag(setting, value, name, err);
    }
    *(unsigned *)field = bits;
    return result;
}
