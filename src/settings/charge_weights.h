/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_CHARGE_WEIGHTS_H
#define FAIRMILL_SETTINGS_CHARGE_WEIGHTS_H

#include <stdbool.h>

struct charge_weights;
struct text;

/* Parsers of the settings for charges, with the contract of the parsers in settings/values.h. */

/*
 * Parses `CPU=1.0,Mem=0.25G,GRES/gpu=2.0`, as in slurm.conf, into a struct charge_weights.  An item
 * MAX_TRES or MAX_TRES_GRES selects that rule.  If a TRES is repeated, the last weight is used.
 */
bool read_tres_rates(void *pricing, const char *value, struct text *reason);

/*
 * Parses `gpu:CPU=1 GRES/gpu=2, debug:CPU=0.5`, the weights by partition, into a struct
 * charge_weights.
 */
bool read_partition_rates(void *pricing, const char *value, struct text *reason);

/*
 * Adds the weights of one partition, as in TRESBillingWeights of slurm.conf.  The name may contain
 * any bytes.  The caller must not add a partition twice.
 */
bool read_rates_of_partition(struct charge_weights *pricing, const char *name, const char *weights,
                             struct text *reason);

/* Parses `high:2, low:0.5` into a struct factor_list.  A name may contain colons. */
bool read_factors(void *list, const char *value, struct text *reason);

#endif
