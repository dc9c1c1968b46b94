/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_RULES_H
#define FAIRMILL_SOURCE_PBS_RULES_H

#include "core/usage/decay_table.h"
#include "settings/pbs_values.h"

struct error;
struct source;

/* What counts of OpenPBS's parameters: that of the settings' [pbs]; else what was imported, as of
 * the instant; else OpenPBS's default. */
struct pbs_rules {
    char *values[PBS_KEYS]; /* good, as the readers of settings/pbs_values.h have them */
};

/* ERROR_DATA where what was imported is none. */
int pbs_rules_read(struct pbs_rules *rules, const struct source *source, int64_t time,
                   struct error *err);
/* How usage decays: every fairshare_decay_time by fairshare_decay_factor, of OpenPBS's single
 * precision; the epoch is 0.  The half-life is fairshare_decay_time / -log2 of
 * fairshare_decay_factor, in whole seconds. */
struct decay_cycles pbs_rules_steps(const struct pbs_rules *rules);
void pbs_rules_free(struct pbs_rules *rules);

#endif
