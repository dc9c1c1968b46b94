/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_VALUE_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parsers for the values of slurm.conf.  Each accepts the same values as Slurm.  Each returns false
 * if Slurm rejects the value or lets it overflow.
 */

#define SLURM_UNLIMITED UINT64_MAX

/*
 * Parses a duration: min, min:sec, hr:min:sec, days-hr, days-hr:min or days-hr:min:sec.  Rounds up
 * to minutes.  For INFINITE, UNLIMITED and -1, stores SLURM_UNLIMITED.
 */
bool slurm_minutes(const char *text, uint64_t *minutes);

/*
 * Parses a number up to `limit`, which may have a plus sign, 0x for hexadecimal or 0 for octal
 * digits.  For INFINITE and UNLIMITED, stores `limit`.  If `limit` is UINT32_MAX, the suffix K
 * multiplies by 1024.
 */
bool slurm_number(const char *text, uint64_t limit, uint64_t *number);

/*
 * Parses a TRES weight: a finite number in strtod()'s format with an optional unit.  Only the first
 * letter of the unit is read, so `0.25GB` means `0.25G`.
 */
struct slurm_weight {
    double number;
    size_t length;  /* of the number, in bytes */
    unsigned steps; /* the unit as a power of 1024: 1 for K, 0 without a unit */
};
bool slurm_weight(const char *text, struct slurm_weight *weight);

bool slurm_boolean(const char *text, bool *value);

/* Parses the count of a generic resource, with an optional suffix K, M, G, T or P. */
bool slurm_count(const char *bytes, size_t length, uint64_t *count);

/* Lists of hosts, such as `login,n[1-4,7],rack[0-1]n[00-15]`. */

struct slurm_hosts {
    void (*take)(void *context, const char *name, size_t length);
    void *context;
    size_t *left; /* the number of names still allowed; slurm_hosts_expand() reduces it */
};

/*
 * Calls `take` for each name of a list, in the order of the list.  Returns NULL, or the description
 * of an error as a static string.  In that case, `take` was already called for the names before the
 * error.
 */
const char *slurm_hosts_expand(struct slurm_hosts *hosts, const char *list);

#endif
