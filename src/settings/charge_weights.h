/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_CHARGE_WEIGHTS_H
#define FAIRMILL_SETTINGS_CHARGE_WEIGHTS_H

#include <stdbool.h>

struct charge_weights;
struct text;

/* Readers of settings that say what things cost, as those in settings/values.h. */

/* `CPU=1.0,Mem=0.25G,GRES/gpu=2.0` as in slurm.conf, into a struct charge_weights.  MAX_TRES or
 * MAX_TRES_GRES among them chooses that rule.  Where a TRES is there twice its last weight counts.
 */
bool read_tres_rates(void *pricing, const char *value, struct text *reason);

/* `gpu:CPU=1 GRES/gpu=2, debug:CPU=0.5`: the weights of single partitions, into a struct
 * charge_weights.
 */
bool read_partition_rates(void *pricing, const char *value, struct text *reason);

/* The weights of one partition as TRESBillingWeights of slurm.conf has them, whatever bytes the
 * partition's name has; the caller names no partition twice. */
bool read_rates_of_partition(struct charge_weights *pricing, const char *name, const char *weights,
                             struct text *reason);

/* `high:2, low:0.5`, into a struct factor_list.  The last colon of an item parts name and factor.
 */
bool read_factors(void *list, const char *value, struct text *reason);

#endif
