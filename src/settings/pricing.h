/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_PRICING_H
#define FAIRMILL_SETTINGS_PRICING_H

#include <stdbool.h>

struct factor_list;
struct pricing;
struct text;

/* Settings that say what things cost.  Where one is wrong the answer is false, and `reason` says
 * what it must be. */

/* `CPU=1.0,Mem=0.25G,GRES/gpu=2.0` as in slurm.conf, with MAX_TRES or MAX_TRES_GRES among them for
 * that rule.  Of a TRES that is there twice the last weight counts. */
bool pricing_take_weights(struct pricing *pricing, const char *value, struct text *reason);

/* `gpu:CPU=1 GRES/gpu=2, debug:CPU=0.5`: the weights of single partitions. */
bool pricing_take_partition_weights(struct pricing *pricing, const char *value,
                                    struct text *reason);

/* `high:2, low:0.5`; the last colon of each parts name and factor. */
bool pricing_take_factors(struct factor_list *list, const char *value, struct text *reason);

#endif
