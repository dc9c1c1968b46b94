/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SETTINGS_H
#define FAIRMILL_SETTINGS_SLURM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/slurm/slurm_file.h"

struct error;
struct setting;
struct slurm_conf;
struct text;

/* What a slurm.conf says, in the words of our settings. */

struct slurm_setting {
    char *value; /* NULL: nothing is said; to be freed */
    struct slurm_place place;
    const char *key; /* as slurm.conf spells it */
};

/* Whether slurm.conf has a word for this setting. */
bool slurm_has_setting(const struct setting *setting);
/* Add what slurm.conf would say for a value of it; false where it has no word for that. */
bool slurm_setting_add(struct text *text, const struct setting *setting, const char *value);
/* What it says of it.  ERROR_SETTINGS names file and line. */
int slurm_setting_find(struct slurm_setting *found, const struct slurm_conf *conf,
                       const struct setting *setting, struct error *err);

/* PriorityCalcPeriod in seconds, Slurm's default where it is not there; 0 where it is none. */
uint64_t slurm_calc_period(const struct slurm_conf *conf);

/* Whether AccountingStorageEnforce has limits enforced; by default it has not. */
bool slurm_enforces_limits(const struct slurm_conf *conf);

/* Step through names of PriorityFlags that are not known here: *at starts as the value.  NULL where
 * there is none left. */
const char *slurm_flag_unknown(const char **at, size_t *length);

#endif
