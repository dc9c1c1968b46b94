/* SPDX-License-Identifier: MIT */
#include "core/fairshare/release.h"

#include <stddef.h>
#include <string.h>

const struct release releases[] = {
    { "20.11", SLURM_20_11 },
    { "21.08", SLURM_21_08 },
    { "22.05", SLURM_22_05 },
    { "23.02", SLURM_23_02 },
    { "23.11", SLURM_23_11 },
    { "24.05", SLURM_24_05 },
    { "24.11", SLURM_24_11 },
    { "25.05", SLURM_25_05 },
    { "25.11", SLURM_25_11 },
    { "26.05", SLURM_26_05 },
    { NULL, 0 },
};

/* A release follows a rule if it is not older than `since` and is older than `until`.  0 means no
 * limit. */
static const struct {
    uint64_t since, until;
} rules[] = {
    [RULE_ROOTS_FACTOR] = { SLURM_25_11, 0 },
    [RULE_ACCOUNTS_LEFT_OUT] = { SLURM_25_11, 0 },
    [RULE_LEAST_ACCRUE_LIMIT] = { SLURM_24_05, 0 },
    [RULE_SPLIT_TASKS_HIDDEN] = { SLURM_24_11, 0 },
    [RULE_PRIORITY_TYPE_NEEDED] = { 0, SLURM_23_11 },
    [RULE_SPRIO_NAMES_QOS] = { SLURM_23_02, 0 },
    [RULE_SPEC_CPUS_LEFT_OUT] = { SLURM_22_05, 0 },
    [RULE_DIRECT_USERS_COORDINATE] = { SLURM_25_05, 0 },
};

bool release_follows(const struct release *release, enum release_rule rule)
{
    return release && release->protocol >= rules[rule].since &&
           (!rules[rule].until || release->protocol < rules[rule].until);
}

const struct release *release_named(const char *version)
{
    for (const struct release *each = releases; each->name; each++) {
        size_t length = strlen(each->name);
        if (!strncmp(version, each->name, length) && (!version[length] || version[length] == '.'))
            return each;
    }
    return NULL;
}

const struct release *release_of_protocol(uint64_t protocol)
{
    const struct release *found = releases;
    for (const struct release *each = releases; each->name; each++)
        if (each->protocol <= protocol)
            found = each;
    return found;
}
