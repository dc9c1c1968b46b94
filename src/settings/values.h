/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_VALUES_H
#define FAIRMILL_SETTINGS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* The longest half-life and age, in seconds: the minutes that slurm.conf's 32 bits can say.  Other
 * spans of time are a century at most. */
#define CENTURY_S ((uint64_t)36525 * 86400)
#define SLURM_LONGEST_S ((uint64_t)UINT32_MAX * 60)

/* How the values of settings are read.  Each reader stores the value in a field of struct settings;
 * where the value is wrong the answer is false, and `reason` says what it must be. */

/* One of the names, in any case; the field is an int, the place among them. */
bool read_choice(int *field, const char *value, const char *const *names, struct text *reason);

/* A number with the type of its field, its range, and a word that stands for a number.  All of them
 * are exact as a double. */
struct number_value {
    enum { VALUE_WHOLE, VALUE_REAL, VALUE_DURATION, VALUE_TIME_STRING } form;
    enum { OF_UNSIGNED, OF_INT64, OF_UINT64, OF_DOUBLE } field;
    double least, most;
    const char *wanted; /* what the value must be */
    const char *word;   /* in any case; NULL: none */
    double of_word;
    const char *above, *below; /* what is wrong out of the range; NULL: `wanted` */
};
bool read_number(void *field, const char *value, const struct number_value *type,
                 struct text *reason);

/* Fields of type const char *, which point to the value. */
bool read_text(void *field, const char *value, struct text *reason);
bool read_given(void *field, const char *value, struct text *reason); /* not empty */
bool read_layout(void *field, const char *value, struct text *reason);
bool read_driver(void *field, const char *value, struct text *reason);

/* unsigned, of PRIVATE_... in settings.h: yes, no, or names with commas between them. */
bool read_private(void *field, const char *value, struct text *reason);
bool read_yes_no(void *field, const char *value, struct text *reason);    /* bool */
bool read_algorithm(void *field, const char *value, struct text *reason); /* struct algorithm * */
bool read_slurm_version(void *field, const char *value, struct text *reason); /* struct release * */

bool read_reset_period(void *field, const char *value, struct text *reason); /* its struct */

/* Fields of [priority]. */

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
