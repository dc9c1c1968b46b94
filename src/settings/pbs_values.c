/* SPDX-License-Identifier: MIT */
#include "settings/pbs_values.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/formula/formula.h"
#include "core/usage/entity.h"
#include "util/error.h"
#include "util/number.h"
#include "util/text.h"

const struct pbs_default pbs_defaults[PBS_KEYS] = {
    [PBS_USAGE_RES] = { "fairshare_usage_res", "cput" },
    [PBS_ENTITY] = { "fairshare_entity", "euser" },
    [PBS_DECAY_TIME] = { "fairshare_decay_time", "24:00:00" },
    [PBS_DECAY_FACTOR] = { "fairshare_decay_factor", "0.5" },
    [PBS_UNKNOWN_SHARES] = { "unknown_shares", "0" },
    [PBS_ENFORCE_NO_SHARES] = { "fairshare_enforce_no_shares", "true" },
    [PBS_SORT_FORMULA] = { "job_sort_formula", "" },
    [PBS_SORT_THRESHOLD] = { "job_sort_formula_threshold", "" },
};

static bool pbs_value_take(void *field, const char *value, bool good, struct text *reason,
                           const char *why)
{
    if (*value && !good) {
        text_add(reason, why);
        return false;
    }
    *(const char **)field = value;
    return true;
}

bool read_pbs_formula(void *field, const char *value, struct text *reason)
{
    struct error err;
    if (!*value)
        return pbs_value_take(field, value, true, reason, "");
    struct formula *formula = formula_create(value, &err);
    formula_destroy(formula);
    return pbs_value_take(field, value, formula != NULL, reason, formula ? "" : err.message);
}

bool read_pbs_entity(void *field, const char *value, struct text *reason)
{
    return pbs_value_take(field, value, entity_kind_of(value) < ENTITY_KINDS, reason,
                          "must be euser, egroup, Account_Name, queue or egroup:euser");
}

bool read_pbs_decay_time(void *field, const char *value, struct text *reason)
{
    uint64_t seconds;
    return pbs_value_take(field, value, clock_span_parse(value, strlen(value), &seconds) && seconds,
                          reason, "must be a time above 0, as HH:MM:SS, MM:SS or seconds");
}

bool read_pbs_decay_factor(void *field, const char *value, struct text *reason)
{
    double factor;
    return pbs_value_take(field, value, number_real(value, &factor) && factor > 0 && factor < 1,
                          reason, "must be a number above 0 and below 1");
}

bool read_pbs_shares(void *field, const char *value, struct text *reason)
{
    uint64_t shares;
    return pbs_value_take(field, value,
                          number_unsigned(value, strlen(value), &shares) && shares <= INT32_MAX,
                          reason, "must be a whole number from 0 to 2147483647");
}

bool read_pbs_truth(void *field, const char *value, struct text *reason)
{
    uint64_t number;
    bool is_number = number_unsigned(value, strlen(value), &number);
    bool truth = is_number ? number > 0 : !strcasecmp(value, "true");
    if (*value && !is_number && !truth && strcasecmp(value, "false") != 0)
        return pbs_value_take(field, value, false, reason, "must be true or false");
    *(const char **)field = !*value ? "" : truth ? "true" : "false";
    return true;
}

bool read_pbs_number(void *field, const char *value, struct text *reason)
{
    double number;
    return pbs_value_take(field, value, number_real(value, &number) && isfinite(number), reason,
                          "must be a number");
}
