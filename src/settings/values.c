/* SPDX-License-Identifier: MIT */
#include "settings/values.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/fairshare/fairshare.h"
#include "core/fairshare/release.h"
#include "core/usage/kept_tres.h"
#include "db/db.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "settings/slurm/slurm_value.h"
#include "util/calendar.h"
#include "util/index.h"
#include "util/mail_address.h"
#include "util/number.h"
#include "util/text.h"

static bool settings_value_refuse(struct text *reason, const char *wanted)
{
    text_add(reason, wanted);
    return false;
}

static bool settings_value_refuse_name(struct text *reason, const char *what,
                                       const char *const *names)
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
    return settings_value_refuse_name(reason, "must be one of", names);
}

bool read_text(void *field, const char *value, struct text *reason)
{
    (void)reason;
    *(const char **)field = value;
    return true;
}

bool read_given(void *field, const char *value, struct text *reason)
{
    return *value ? read_text(field, value, reason)
                  : settings_value_refuse(reason, "must not be empty");
}

bool read_mail_from(void *field, const char *value, struct text *reason)
{
    return !*value || mail_address_is_plain(value)
               ? read_text(field, value, reason)
               : settings_value_refuse(reason, "must be a plain address such as "
                                               "fairshare@hpc.example.org");
}

bool read_mail_domain(void *field, const char *value, struct text *reason)
{
    return !*value || mail_domain_is_plain(value)
               ? read_text(field, value, reason)
               : settings_value_refuse(reason, "must be a domain such as hpc.example.org");
}

bool read_mailer(void *field, const char *value, struct text *reason)
{
    return *value == '/'
               ? read_text(field, value, reason)
               : settings_value_refuse(reason, "must be the absolute path of a program, followed "
                                               "by its arguments");
}

bool read_layout(void *field, const char *value, struct text *reason)
{
    const char *names[8] = { NULL };
    int place = 0;
    for (size_t i = 0; source_types[i].name; i++)
        names[i] = source_types[i].name;
    return read_choice(&place, value, names, reason) && read_text(field, names[place], reason);
}

bool read_driver(void *field, const char *value, struct text *reason)
{
    const char *names[16] = { NULL };
    for (size_t i = 0; i < 15 && db_drivers[i]; i++) {
        names[i] = db_drivers[i]->name;
        if (!strcasecmp(value, names[i]))
            return read_text(field, names[i], reason);
    }
    return settings_value_refuse_name(reason, "must be one of the drivers in this build:", names);
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

bool read_tres_names(void *field, const char *value, struct text *reason)
{
    struct text seen = { 0 };
    const char *at = value;
    size_t count = 0;
    bool good = true;
    text_add(&seen, ",");
    for (char *item; good && (item = list_next(&at)); free(item), count++) {
        struct text known = { 0 };
        text_format(&known, ",%s,", item);
        good = !strcasestr(seen.bytes, known.bytes);
        if (!good)
            text_format(reason, "'%s' is in the list twice", item);
        text_format(&seen, "%s,", item);
        text_free(&known);
    }
    if (good && (!count || count > KEPT_TRES_LIMIT)) {
        text_format(reason, "must be auto, none, or up to %d TRES such as cpu, gres/gpu",
                    KEPT_TRES_LIMIT);
        good = false;
    }
    text_free(&seen);
    *(const char **)field = value;
    return good;
}

bool read_private(void *field, const char *value, struct text *reason)
{
    /* indexed by PRIVATE_ bits */
    static const char *const names[] = { "no", "usage", "jobs", "yes", NULL };
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
        text_add(reason, "must be yes, no, usage, jobs, or usage and jobs separated by a comma");
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
    return settings_value_refuse_name(reason, "must be one of", names);
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

static bool settings_value_parse_number(const char *value, const struct number_value *type,
                                        double *number)
{
    uint64_t whole;
    bool good = false;
    switch (type->form) {
    case VALUE_REAL:
        return number_real(value, number);
    case VALUE_WHOLE:
        good = number_unsigned(value, strlen(value), &whole);
        break;
    case VALUE_DURATION:
        good = duration_parse(value, &whole);
        break;
    case VALUE_TIME_STRING:
        good = time_string_parse(value, &whole);
        break;
    }
    *number = good ? (double)whole : 0;
    return good;
}

static void store_number(void *field, const struct number_value *type, double number)
{
    switch (type->field) {
    case OF_UNSIGNED:
        *(unsigned *)field = (unsigned)number;
        break;
    case OF_INT64:
        *(int64_t *)field = (int64_t)number;
        break;
    case OF_UINT64:
        *(uint64_t *)field = (uint64_t)number;
        break;
    case OF_DOUBLE:
        *(double *)field = number;
        break;
    }
}

bool read_number(void *field, const char *value, const struct number_value *type,
                 struct text *reason)
{
    double number;
    if (type->word && !strcasecmp(value, type->word))
        number = type->of_word;
    else if (!settings_value_parse_number(value, type, &number))
        return settings_value_refuse(reason, type->wanted);
    else if (number < type->least)
        return settings_value_refuse(reason, type->below ? type->below : type->wanted);
    else if (number > type->most)
        return settings_value_refuse(reason, type->above ? type->above : type->wanted);
    store_number(field, type, number);
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
    if (!time_string_parse(value, &period->span))
        return settings_value_refuse(
            reason, "must be none, daily, weekly, monthly, quarterly, yearly, a duration such as "
                    "90d, or a time string (min, hr:min:00, days-hr:min:00, days-hr)");
    if (!period->span || period->span > CENTURY_S)
        return settings_value_refuse(reason, "must be none, or above 0 and at most a century");
    return true;
}

/* Slurm stores PriorityJobFactor as a 16-bit number. */
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
    text_add(reason, "must be a comma-separated list of TRES=NUMBER, such as "
                     "CPU=1000,Mem=2000,GRES/gpu=3000; a number may have the unit K, M, G, T or P");
    return false;
}

/* Properties of the items that were read. */
struct factors_seen {
    struct names *names; /* to reject duplicates */
    bool any_point, any_above_1;
};

/*
 * Checks one `NAME:NUMBER`.  A number with a point is a factor from 0.0 to 1.0 according to the
 * document of Slurm 2.0; a number without a point is Slurm's PriorityJobFactor.
 */
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

/* Returns true if the list is valid.  If `given` is true, no factor may be above 1. */
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
    text_add(
        reason,
        "must be a comma-separated list of PARTITION:NUMBER without duplicates; use whole numbers "
        "up to 65535, such as GPU:100, debug:10, or numbers from 0.0 to 1.0, such as GPU:0.5");
    return false;
}

bool read_qos_factors(void *field, const char *value, struct text *reason)
{
    if (check_factors(value, true))
        return read_text(field, value, reason);
    text_add(reason,
             "must be a comma-separated list of QOS:NUMBER without duplicates, with numbers "
             "from 0.0 to 1.0, such as high:1.0, low:0.25");
    return false;
}

static void explain_unknown(struct text *reason, const char *name)
{
    if (flag_is_algorithm(name, strlen(name))) {
        text_format(reason, "'%s' selects an algorithm; set [fairshare] algorithm instead", name);
        return;
    }
    const char *names[FLAGS + 1] = { NULL };
    for (size_t i = 0; i < FLAGS; i++)
        names[i] = flags[i].name;
    const char *nearest = nearest_word(name, names);
    text_format(reason, "unknown flag '%s'", name);
    if (nearest)
        text_format(reason, "; did you mean '%s'?", nearest);
    else
        text_add(reason, "; fairmill.conf(5) lists the flags");
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
