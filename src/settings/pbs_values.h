/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_PBS_VALUES_H
#define FAIRMILL_SETTINGS_PBS_VALUES_H

#include <stdbool.h>

struct text;

/* OpenPBS's fairshare parameters in sched_config and the server, which [pbs] can override. */
enum pbs_key {
    PBS_USAGE_RES,
    PBS_ENTITY,
    PBS_DECAY_TIME,
    PBS_DECAY_FACTOR,
    PBS_UNKNOWN_SHARES,
    PBS_ENFORCE_NO_SHARES,
    PBS_SCHED_KEYS, /* the number of keys in sched_config */
    PBS_SORT_FORMULA = PBS_SCHED_KEYS,
    PBS_SORT_THRESHOLD,
    PBS_KEYS
};
/* The number of keys in the server and in the scheduler object. */
#define SERVER_KEYS (PBS_KEYS - PBS_SCHED_KEYS)
/* The name and OpenPBS's default of each key. */
extern const struct pbs_default {
    const char *name, *value;
} pbs_defaults[PBS_KEYS];

/*
 * Parsers with the contract of settings/values.h, for fields of type const char *.  They accept "",
 * which means that the key is not set.
 */
bool read_pbs_formula(void *field, const char *value, struct text *reason);
bool read_pbs_entity(void *field, const char *value, struct text *reason);
bool read_pbs_decay_time(void *field, const char *value, struct text *reason);
bool read_pbs_decay_factor(void *field, const char *value, struct text *reason);
bool read_pbs_shares(void *field, const char *value, struct text *reason);
bool read_pbs_truth(void *field, const char *value, struct text *reason); /* stores true or false */
bool read_pbs_number(void *field, const char *value, struct text *reason);

#endif
