/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_PBS_VALUES_H
#define FAIRMILL_SETTINGS_PBS_VALUES_H

#include <stdbool.h>

struct text;

/* What OpenPBS's sched_config and its server say of fairshare, which [pbs] of the settings may say
 * instead. */
enum pbs_key {
    PBS_USAGE_RES,
    PBS_ENTITY,
    PBS_DECAY_TIME,
    PBS_DECAY_FACTOR,
    PBS_UNKNOWN_SHARES,
    PBS_ENFORCE_NO_SHARES,
    PBS_SCHED_KEYS, /* those of sched_config */
    PBS_SORT_FORMULA = PBS_SCHED_KEYS,
    PBS_SORT_THRESHOLD,
    PBS_KEYS
};
/* Those of the server and of the scheduler object. */
#define SERVER_KEYS (PBS_KEYS - PBS_SCHED_KEYS)
/* By key: its name, and OpenPBS's default. */
extern const struct pbs_default {
    const char *name, *value;
} pbs_defaults[PBS_KEYS];

/* As settings/values.h has it; fields of type const char *.  "" is good, and says nothing. */
bool read_pbs_formula(void *field, const char *value, struct text *reason);
bool read_pbs_entity(void *field, const char *value, struct text *reason);
bool read_pbs_decay_time(void *field, const char *value, struct text *reason);
bool read_pbs_decay_factor(void *field, const char *value, struct text *reason);
bool read_pbs_shares(void *field, const char *value, struct text *reason);
bool read_pbs_truth(void *field, const char *value, struct text *reason); /* true or false */
bool read_pbs_number(void *field, const char *value, struct text *reason);

#endif
