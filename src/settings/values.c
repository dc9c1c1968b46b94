/* SPDX-License-Identifier: MIT */
#include "settings/values.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fairshare/fairshare.h"
#include "core/fairshare/release.h"
#include "core/usage/calendar.h"
#include "db/db.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_value.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* A century. */
#define LONGEST_S ((uint64_t)36525 * 86400)

static bool refuse(struct text *reason, const char *wanted)
{
    text_add(reason, wanted);
    return false;
}

/* Say which names it could have been. */
static bool refuse_name(struct text *reason, const char *what, const char *const *names)
{
    text_add(reason, what);
    for (int i = 0; names[i]; i++)
        text_format(reason, "%s '%s'", i ? "," : "", names[i]);
    return false;
}

bool read_choice(int *field, const char *value, const char *const *names, struct text *reason)
{
    for (int i = 0; names[i]; i++)
        if (!strcasecmp(names[i], value)) {
            *field = i;
            return true;
        }
    return refuse_name(reason, "must be one of", names);
}

bool read_text(void *field, const char *value, struct text *reason)
{
    (void)reason;
    *(const char **)field = value;
    return true;
}

bool read_given(void *field, const char *value, struct text *reason)
{
    return *value ? read_text(field, value, reason) : refuse(reason, "must not be empty");
}

bool read_layout(void *field, const char *value, struct text *reason)
{
    const char *names[8] = { NULL };
    int place;
    for (size_t i = 0; source_types[i].name; i++)
        names[i] = source_types[i].name;
    return read_choice(&place, value, names, reason) && read_text(field, value, reason);
}

bool read_driver(void *field, const char *value, struct text *reason)
{
    const char *names[16] = { NULL };
    for (size_t i = 0; i < 15 && db_drivers[i]; i++) {
        names[i] = db_drivers[i]->name;
        if (!strcasecmp(value, names[i]))
            return read_text(field, names[i], reason);
    }
    return refuse_name(reason, "this build has", names);
}

bool read_yes_no(void *field, const char *value, struct text *reason)
{
    static const char *const names[] = { "no", "yes", NULL };
    int place = 0;
    if (!read_choice(&place, value, names, reason))
        return false;
    *(bool *)field = place == 1;
    return true;
}

bool read_private(void *field, const char *value, struct text *reason)
{
    static const char *const names[] = { "no", "usage", "jobs", "yes", NULL }; /* by their bits */
    unsigned private = 0;
    bool read = true;
    int place, count = 0, nothing = 0;
    for (char *item; read && (item = list_next(&value)); free(item)) {
        read = read_choice(&place, item, names, reason);
        private |= (unsigned)place;
        nothing += read && !place;
        count++;
    }
    if (read && (!count || (nothing && count > 1))) {
        text_add(reason, "must be usage, jobs, or both with a comma between them, yes or no");
        read = false;
    }
    if (read)
        *(unsigned *)field = private;
    return read;
}

bool read_algorithm(void *field, const char *value, struct text *reason)
{
    const char *names[16] = { NULL };
    for (size_t i = 0; i < 15 && algorithms[i]; i++) {
        names[i] = algorithms[i]->name;
        if (!strcasecmp(value, names[i])) {
            *(const struct algorithm **)field = algorithms[i];
            return true;
        }
    }
    return refuse_name(reason, "must be one of", names);
}

bool read_slurm_version(void *field, const char *value, struct text *reason)
{
    const struct release **release = field;
    *release = release_named(value);
    if (*release || !strcasecmp(value, "auto"))
        return true;
    text_add(reason, "must be auto or one of");
    for (const struct release *each = releases; each->name; each++)
        text_format(reason, "%s %s", each == releases ? "" : ",", each->name);
    return false;
}

bool read_port(void *field, const char *value, struct text *reason)
{
    uint64_t port;
    if (!number_unsigned(value, strlen(value), &port) || port > 65535)
        return refuse(reason, "must be a port number, 1 to 65535 (0: the usual one)");
    *(unsigned *)field = (unsigned)port;
    return true;
}

static bool read_span(void *field, const char *value, uint64_t longest_s, struct text *reason)
{
    uint64_t seconds;
    if (!time_string_parse(value, &seconds))
        return refuse(
            reason,
            "must be a number with s, m, h, d or w behind it, or a time string: min, hr:min:00, "
            "days-hr:min:00 or days-hr");
    if (seconds > longest_s)
        return refuse(reason, longest_s == LONGEST_S ? "is more than a century"
                                                     : "is more than 4294967295 minutes");
    *(uint64_t *)field = seconds;
    return true;
}

bool read_time_string(void *field, const char *value, struct text *reason)
{
    return read_span(field, value, LONGEST_S, reason);
}

bool read_half_life(void *field, const char *value, struct text *reason)
{
    return read_span(field, value, SLURM_LONGEST_S, reason);
}

bool read_age(void *field, const char *value, struct text *reason)
{
    if (!strcasecmp(value, "infinite")) {
        *(uint64_t *)field = (uint32_t)-60;
        return true;
    }
    bool good = read_half_life(field, value, reason);
    if (!good)
        text_add(reason, ", or infinite");
    return good;
}

bool read_horizon(void *field, const char *value, struct text *reason)
{
    if (!strcasecmp(value, "none")) {
        *(uint64_t *)field = 0;
        return true;
    }
    if (!read_time_string(field, value, reason))
        return false;
    return *(uint64_t *)field || refuse(reason, "must be none or above 0");
}

bool read_duration(void *field, const char *value, struct text *reason)
{
    uint64_t seconds;
    if (!duration_parse(value, &seconds) || seconds > LONGEST_S)
        return refuse(reason, "must be a number with s, m, h, d or w behind it");
    *(uint64_t *)field = seconds;
    return true;
}

bool read_deadline(void *field, const char *value, struct text *reason)
{
    uint64_t seconds;
    if (!duration_parse(value, &seconds) || seconds == 0 || seconds > 86400)
        return refuse(reason, "must be a number with s, m, h, d or w behind it, up to a day");
    *(uint64_t *)field = seconds;
    return true;
}

bool read_max_lag(void *field, const char *value, struct text *reason)
{
    uint64_t seconds;
    if (!strcasecmp(value, "none")) {
        *(int64_t *)field = -1;
        return true;
    }
    if (!duration_parse(value, &seconds) || seconds > LONGEST_S)
        return refuse(reason, "must be none or a number with s, m, h, d or w behind it");
    *(int64_t *)field = (int64_t)seconds;
    return true;
}

bool read_reset_period(void *field, const char *value, struct text *reason)
{
    static const char *const names[] = { "none",      "daily",  "weekly", "monthly",
                                         "quarterly", "yearly", NULL };
    struct reset_period *period = field;
    for (int i = 0; names[i]; i++)
        if (!strcasecmp(names[i], value)) {
            period->unit = (enum reset_unit)i;
            return true;
        }
    period->unit = RESET_EVERY;
    if (time_string_parse(value, &period->span) && period->span && period->span <= LONGEST_S)
        return true;
    return refuse(
        reason,
        "must be none, daily, weekly, monthly, quarterly, yearly, a number with s, m, h, d or w "
        "behind it, or a time string (min, hr:min:00, days-hr:min:00, days-hr)");
}

bool read_days(void *field, const char *value, struct text *reason)
{
    uint64_t days;
    if (!number_unsigned(value, strlen(value), &days) || days > LONGEST_S / 86400)
        return refuse(reason, "must be a number of days");
    *(uint64_t *)field = days;
    return true;
}

bool read_weight(void *field, const char *value, struct text *reason)
{
    uint64_t weight;
    if (!number_unsigned(value, strlen(value), &weight) || weight > UINT32_MAX)
        return refuse(reason, "must be a whole number from 0 to 4294967295");
    *(uint64_t *)field = weight;
    return true;
}

static bool read_number(double *field, const char *value, const double range[2])
{
    double number;
    if (!number_real(value, &number) || number < range[0] || number > range[1])
        return false;
    *field = number;
    return true;
}

bool read_dampening(void *field, const char *value, struct text *reason)
{
    return read_number(field, value, (const double[]){ 1, 65535 }) ||
           refuse(reason, "must be a number from 1 to 65535");
}

bool read_capacity(void *field, const char *value, struct text *reason)
{
    if (!strcasecmp(value, "auto")) {
        *(double *)field = 0;
        return true;
    }
    return read_number(field, value, (const double[]){ 1e-9, 1e18 }) ||
           refuse(reason, "must be auto or a number above 0");
}

bool read_half_lives(void *field, const char *value, struct text *reason)
{
    return read_number(field, value, (const double[]){ 1e-9, 1e9 }) ||
           refuse(reason, "must be a number above 0");
}

bool read_minimum_usage(void *field, const char *value, struct text *reason)
{
    return read_number(field, value, (const double[]){ 0, 1e15 }) ||
           refuse(reason, "must be a number from 0 to 1e15");
}

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
