/* SPDX-License-Identifier: MIT */
#include "settings/priority_values.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "settings/settings.h"
#include "settings/slurm/slurm_value.h"
#include "settings/values.h"
#include "util/index.h"
#include "util/memory.h"
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

bool tres_weight_of(const char *tres, const char *text, double *weight)
{
    struct slurm_weight read;
    bool in_mebi = !strcasecmp(tres, "mem") || !strncasecmp(tres, "bb/", 3);
    if (!slurm_weight(text, &read))
        return false;
    *weight = read.number;
    for (unsigned i = in_mebi ? 2 : 0; i < read.steps; i++)
        *weight /= 1024;
    return true;
}

bool read_weight_tres(void *field, const char *value, struct text *reason)
{
    const char *at = value;
    bool good = true;
    for (char *item, *name; good && (item = list_next(&at)); free(item)) {
        const char *weight = list_part(item, strchr(item, '='), &name);
        double number;
        good = weight && tres_weight_of(name, weight, &number);
    }
    if (good)
        return read_text(field, value, reason);
    text_add(reason, "must be TRES=NUMBER, perhaps with K, M, G, T or P behind it, separated by "
                     "commas, such as CPU=1000,Mem=2000,GRES/gpu=3000");
    return false;
}

/* What is seen of a list of factors. */
struct factors_seen {
    struct names *names; /* each is there once */
    bool any_point, any_above_1;
};

/* `NAME:NUMBER`: with a point a factor as seed 002 has it, from 0.0 to 1.0. */
static bool check_factor(char *item, struct factors_seen *seen)
{
    char *name;
    double number;
    const char *factor = list_part(item, strrchr(item, ':'), &name);
    uint32_t count = names_count(seen->names);
    if (!factor || factor[strspn(factor, "0123456789.")] || !number_real(factor, &number) ||
        number > FACTOR_AT_MOST)
        return false;
    seen->any_point |= strchr(factor, '.') != NULL;
    seen->any_above_1 |= number > 1;
    return names_add(seen->names, name, strlen(name)) == count;
}

/* Whether a list has good factors; `given`: none is above 1. */
static bool check_factors(const char *value, bool given)
{
    struct factors_seen seen = { .names = names_create() };
    bool good = true;
    for (char *item; good && (item = list_next(&value)); free(item))
        good = check_factor(item, &seen);
    names_destroy(seen.names);
    return good && !(seen.any_above_1 && (given || seen.any_point));
}

bool read_partition_factors(void *field, const char *value, struct text *reason)
{
    if (check_factors(value, false))
        return read_text(field, value, reason);
    text_add(reason,
             "must be PARTITION:NUMBER, separated by commas, each partition once: whole numbers up "
             "to 65535, such as GPU:100, debug:10, or all from 0.0 to 1.0, such as GPU:0.5");
    return false;
}

bool read_qos_factors(void *field, const char *value, struct text *reason)
{
    if (check_factors(value, true))
        return read_text(field, value, reason);
    text_add(reason, "must be QOS:NUMBER, separated by commas, each from 0.0 to 1.0 and each QOS "
                     "once, such as high:1.0, low:0.25");
    return false;
}

/* Say what is wrong with a name that is no flag. */
static void explain_unknown(struct text *reason, const char *name)
{
    if (flag_is_algorithm(name, strlen(name))) {
        text_add(reason, "which algorithm it is, [fairshare] algorithm says");
        return;
    }
    const char *names[FLAGS + 1] = { NULL };
    for (size_t i = 0; i < FLAGS; i++)
        names[i] = flags[i].name;
    const char *nearest = nearest_word(name, names);
    text_format(reason, "unknown flag '%s'", name);
    if (nearest)
        text_format(reason, "; did you mean '%s'?", nearest);
}

bool read_priority_flags(void *field, const char *value, struct text *reason)
{
    unsigned bits = 0;
    bool good = true;
    for (char *name; good && (name = list_next(&value)); free(name)) {
        unsigned flag = priority_flag_named(name, strlen(name));
        bits |= flag;
        good = flag != 0;
        if (!good)
            explain_unknown(reason, name);
    }
    *(unsigned *)field = bits;
    return good;
}
