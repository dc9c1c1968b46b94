/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_VALUES_H
#define FAIRMILL_SETTINGS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/*
 * Upper limits in seconds.  SLURM_LONGEST_S is for the half-life and max_age, which slurm.conf
 * stores as 32-bit numbers of minutes.  CENTURY_S is for all other durations.
 */
#define CENTURY_S ((uint64_t)36525 * 86400)
#define SLURM_LONGEST_S ((uint64_t)UINT32_MAX * 60)

/*
 * Parsers of setting values.  Each stores the value in a field of struct settings and returns true.
 * If the value is invalid, it returns false and adds the accepted values to `reason`.
 */

/* Accepts one of the names, ignoring case, and stores its index.  `names` ends with NULL. */
bool read_choice(int *field, const char *value, const char *const *names, struct text *reason);

/* The format, range and field type of a number.  A double represents each valid number exactly. */
struct number_value {
    enum { VALUE_WHOLE, VALUE_REAL, VALUE_DURATION, VALUE_TIME_STRING } form;
    enum { OF_UNSIGNED, OF_INT64, OF_UINT64, OF_DOUBLE } field;
    double least, most;
    const char *wanted; /* the reason if a value is invalid: "must be ..." */
    /* word that is accepted in place of a number, ignoring case; or NULL */
    const char *word;
    double of_word;            /* the number that this word stores */
    const char *above, *below; /* the reasons for values outside the range; NULL for `wanted` */
};
/* Durations are stored in seconds. */
bool read_number(void *field, const char *value, const struct number_value *type,
                 struct text *reason);

/*
 * These fields are of type const char *.  read_layout() and read_driver() store a static name; the
 * other parsers store `value` itself, which must outlive the settings.
 */
bool read_text(void *field, const char *value, struct text *reason);
bool read_given(void *field, const char *value, struct text *reason);       /* rejects "" */
bool read_mail_from(void *field, const char *value, struct text *reason);   /* accepts "" */
bool read_mail_domain(void *field, const char *value, struct text *reason); /* accepts "" */
bool read_mailer(void *field, const char *value, struct text *reason);
bool read_layout(void *field, const char *value, struct text *reason);
bool read_driver(void *field, const char *value, struct text *reason);

/* Accepts yes, no or a comma-separated list of usage and jobs; stores unsigned PRIVATE_ bits. */
bool read_private(void *field, const char *value, struct text *reason);
/* Accepts auto, none, or at most KEPT_TRES_LIMIT different names of TRES; stores the text. */
bool read_tres_names(void *field, const char *value, struct text *reason);
bool read_yes_no(void *field, const char *value, struct text *reason);    /* bool */
bool read_algorithm(void *field, const char *value, struct text *reason); /* struct algorithm * */
bool read_slurm_version(void *field, const char *value, struct text *reason); /* struct release * */

/* Stores a struct reset_period, except its anchor. */
bool read_reset_period(void *field, const char *value, struct text *reason);

/*
 * Parsers for [priority].  The first three only validate the value and store it as text:
 * `CPU=1000,Mem=2000`, `GPU:100, debug:10` and `high:1.0, low:0.25`.
 */
bool read_weight_tres(void *field, const char *value, struct text *reason);
bool read_partition_factors(void *field, const char *value, struct text *reason);
bool read_qos_factors(void *field, const char *value, struct text *reason);
/* Stores a set of enum priority_flag as unsigned. */
bool read_priority_flags(void *field, const char *value, struct text *reason);

/*
 * Parses a TRES weight with an optional unit and converts it to the unit in which slurmdbd counts
 * this TRES.  For mem and bb/, which slurmdbd counts in MiB, `0.25G` is 0.25 / 1024.
 */
bool tres_weight_of(const char *tres, const char *text, double *weight);

/* Returns the bits of the flag with this name, ignoring case, or 0 if it is unknown. */
unsigned priority_flag_named(const char *name, size_t length);
/* Returns true if this PriorityFlags name of slurm.conf selects an algorithm. */
bool flag_is_algorithm(const char *name, size_t length);

#endif
