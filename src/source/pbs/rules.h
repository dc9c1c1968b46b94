/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_RULES_H
#define FAIRMILL_SOURCE_PBS_RULES_H

#include "core/usage/decay_table.h"
#include "settings/pbs_values.h"

struct error;
struct source;

/*
 * OpenPBS's parameters.  A parameter's value is from [pbs] of the settings, otherwise from the
 * import as of a given time, and otherwise OpenPBS's default.
 */
struct pbs_rules {
    char *values[PBS_KEYS]; /* valid for the functions of settings/pbs_values.h */
};

/*
 * Reads the parameters as of `time`.  Returns -1 on error; ERROR_DATA means that an imported value
 * is invalid.  Free them with pbs_rules_free().
 */
int pbs_rules_read(struct pbs_rules *rules, const struct source *source, int64_t time,
                   struct error *err);
/*
 * Returns how usage decays: every fairshare_decay_time by fairshare_decay_factor, in OpenPBS's
 * single precision, from epoch 0.  The half-life is fairshare_decay_time divided by
 * -log2(fairshare_decay_factor), rounded to seconds.
 */
struct decay_cycles pbs_rules_steps(const struct pbs_rules *rules);
void pbs_rules_free(struct pbs_rules *rules);

#endif
