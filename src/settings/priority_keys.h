/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_PRIORITY_KEYS_H
#define FAIRMILL_SETTINGS_PRIORITY_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct setting;

/* How the values of [priority] are read: functions for the table of settings. */

int take_weight(const struct setting *setting, void *field, const char *value, struct error *err);
/* `CPU=1000,Mem=2000`, kept as text. */
int take_tres_weights(const struct setting *setting, void *field, const char *value,
                      struct error *err);
/* `GPU:100, debug:10`, kept as text. */
int take_partition_factors(const struct setting *setting, void *field, const char *value,
                           struct error *err);
int take_priority_flags(const struct setting *setting, void *field, const char *value,
                        struct error *err);

/* A weight of a TRES: `0.25G` is 0.25 for each GiB, where the database counts mem and bb/ in MiB.
 */
bool tres_weight_of(const char *tres, const char *text, double *weight);

/* The bits of a flag's name, of so many bytes, in any case; 0 where there is no such flag. */
unsigned priority_flag_named(const char *name, size_t length);
/* Whether it is one of slurm.conf's flags that choose an algorithm. */
bool flag_is_algorithm(const char *name, size_t length);

#endif
