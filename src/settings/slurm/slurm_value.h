/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SLURM_SLURM_VALUE_H
#define FAIRMILL_SETTINGS_SLURM_SLURM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How slurm.conf writes its values.  Each reader accepts what Slurm accepts, and answers false
 * where Slurm refuses the value or would let it overflow. */

#define SLURM_UNLIMITED UINT64_MAX

/* A span of time: min, min:sec, hr:min:sec, days-hr, days-hr:min or days-hr:min:sec, rounded up to
 * minutes; INFINITE, UNLIMITED or -1. */
bool slurm_minutes(const char *text, uint64_t *minutes);

/* A number up to a limit, also with a plus sign, hexadecimal with 0x or octal with 0; INFINITE or
 * UNLIMITED is the limit.  One of 32 bits may end with K, which is 1024. */
bool slurm_number(const char *text, uint64_t limit, uint64_t *number);

/* The weight of a TRES: a finite number as strtod() reads it, and what its unit says.  Of a unit
 * only the first letter counts: `0.25GB` is `0.25G`. */
struct slurm_weight {
    double number;
    size_t length;  /* of the number, in bytes */
    unsigned steps; /* of 1024 that the unit stands for: 1 for K; 0 for none */
};
bool slurm_weight(const char *text, struct slurm_weight *weight);

bool slurm_boolean(const char *text, bool *value);

/* How many of a generic resource: a number that may end with K, M, G, T or P. */
bool slurm_count(const char *bytes, size_t length, uint64_t *count);

/* Lists of hosts, such as `login,n[1-4,7],rack[0-1]n[00-15]`. */

struct slurm_hosts {
    void (*take)(void *context, const char *name, size_t length);
    void *context;
    size_t *left; /* how many more names there may be; it is counted down */
};

/* Call `take` for every name of a list, in its order.  Returns NULL, or what is wrong with the
 * list; names before the mistake were taken by then. */
const char *slurm_hosts_expand(struct slurm_hosts *hosts, const char *list);

#endif
