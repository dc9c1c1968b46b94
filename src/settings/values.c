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
