/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_PRIORITY_VALUES_H
#define FAIRMILL_SETTINGS_PRIORITY_VALUES_H

#include <stdbool.h>
#include <stddef.h>

struct text;

/* Readers of settings of [priority], as those in settings/values.h. */

/* `CPU=1000,Mem=2000`, checked and kept as text. */
bool read_weight_tres(void *field, const char *value, struct text *reason);
/* `GPU:100, debug:10`, checked and kept as text. */
bool read_partition_factors(void *field, const char *value, struct text *reason);
bool read_qos_factors(void *field, const char *value, struct text *reason);
/* Into an unsigned, bits of enum priority_flag. */
bool read_priority_flags(void *field, const char *value, struct text *reason);

/* A weight of a TRES: `0.25G` is 0.25 for each GiB, where the database counts mem and bb/ in MiB.
 */
bool tres_weight_of(const char *tres, const char *text, double *weight);

/* The bits of the flag with this name, of `length` bytes, in any case; 0: there is none. */
unsigned priority_flag_named(const char *name, size_t length);
/* Whether the name is a flag of slurm.conf that chooses an algorithm. */
bool flag_is_algorithm(const char *name, size_t length);

#endif
