/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_SETTINGS_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "settings/slurm/slurm_conf.h"

struct charge_weights;
struct setting;
struct setting_origin;
struct settings;
struct slurm_conf;
struct text;

/* The values of a slurm.conf, as our settings write them. */

struct slurm_setting {
    char *value; /* as our settings write it, to be freed; NULL: slurm.conf has none */
    struct slurm_place place;
    const char *key; /* as slurm.conf spells it */
};

/* Whether slurm.conf has a key for this setting. */
bool slurm_has_setting(const struct setting *setting);
/* Add what one would write in slurm.conf for a value of this setting; false where nothing fits. */
bool slurm_setting_add(struct text *text, const struct setting *setting, const char *value);
/* What a slurm.conf has for this setting.  ERROR_SETTINGS names file and line. */
int slurm_setting_find(struct slurm_setting *found, const struct slurm_conf *conf,
                       const struct setting *setting, struct error *err);

/* Assign what a slurm.conf has for a setting; partitions are taken from settings->slurm, not from
 * the origin's text, which is for people. */
int slurm_setting_assign(struct settings *settings, const struct setting *setting,
                         const struct setting_origin *origin, struct error *err);
/* Add the TRESBillingWeights of all partitions to a pricing. */
int slurm_read_billing_weights(struct charge_weights *weights, const struct slurm_conf *conf,
                               struct error *err);

/* Slurm's default of PriorityCalcPeriod. */
#define CALC_PERIOD_S 300
/* PriorityCalcPeriod in seconds; Slurm's default where it is not given, 0 where it is no time. */
uint64_t slurm_calc_period(const struct slurm_conf *conf);
/* The seconds between slurmctld's passes; the default without a slurm.conf (NULL), and for a
 * PriorityCalcPeriod that cannot be read. */
uint64_t slurm_pass_period(const struct slurm_conf *conf);

/* Whether AccountingStorageEnforce enforces limits; by default it does not. */
bool slurm_enforces_limits(const struct slurm_conf *conf);

/* Step through the names of PriorityFlags that fairmill does not know: *at starts as the value.
 * Returns the next one, of *length bytes, or NULL. */
const char *slurm_flag_unknown(const char **at, size_t *length);

#endif
