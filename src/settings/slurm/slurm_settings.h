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

/* Translates values of slurm.conf into values of fairmill's settings, and back. */

struct slurm_setting {
    char *value; /* in the format of fairmill.conf, or NULL if the key is missing */
    struct slurm_place place;
    const char *key; /* of slurm.conf */
};

/* Returns true if slurm.conf has a key for this setting. */
bool slurm_has_setting(const struct setting *setting);
/*
 * Adds to `text` the equivalent of a value in slurm.conf, such as `PriorityMaxAge=7-0`.  Returns
 * false if slurm.conf has no equivalent.
 */
bool slurm_setting_add(struct text *text, const struct setting *setting, const char *value);
/*
 * Finds the value of a setting in slurm.conf.  The caller frees found->value.  Fails with
 * ERROR_SETTINGS if the value is invalid; the message names the file and the line.
 */
int slurm_setting_find(struct slurm_setting *found, const struct slurm_conf *conf,
                       const struct setting *setting, struct error *err);

/*
 * Stores the value that slurm_setting_find() found for a setting.  Reads weights and factors of
 * partitions from settings->slurm, because their text in `origin` may be ambiguous.
 */
int slurm_setting_assign(struct settings *settings, const struct setting *setting,
                         const struct setting_origin *origin, struct error *err);
/* Adds the TRESBillingWeights of all partitions.  Fails with ERROR_SETTINGS if they are invalid. */
int slurm_read_billing_weights(struct charge_weights *weights, const struct slurm_conf *conf,
                               struct error *err);

/* Slurm's default of PriorityCalcPeriod. */
#define CALC_PERIOD_S 300
/*
 * Returns PriorityCalcPeriod in seconds.  Returns Slurm's default if the key is missing, or 0 if
 * its value is invalid.
 */
uint64_t slurm_calc_period(const struct slurm_conf *conf);
/*
 * Returns the length of slurmctld's decay cycle in seconds.  Returns Slurm's default if `conf` is
 * NULL, or if PriorityCalcPeriod is missing or invalid.
 */
uint64_t slurm_pass_period(const struct slurm_conf *conf);

/* Returns true if AccountingStorageEnforce includes limits. */
bool slurm_enforces_limits(const struct slurm_conf *conf);

/*
 * Iterates over the names in PriorityFlags that fairmill does not know.  Set `*at` to the value
 * first.  Returns the next name and sets `*length` to its length in bytes.  Returns NULL at the
 * end.
 */
const char *slurm_flag_unknown(const char **at, size_t *length);

#endif
