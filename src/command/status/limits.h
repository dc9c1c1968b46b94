/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_STATUS_LIMITS_H
#define FAIRMILL_COMMAND_STATUS_LIMITS_H

#include "results/health.h"
#include "util/name_list.h"
#include "util/text.h"

struct error;

/* A limit for a value of a cluster, in the format of monitoring plugins: NAME=RANGE.  RANGE is
 * [@][START:][END].  A value below START or above END exceeds the limit; with @, a value from START
 * to END exceeds it.  START defaults to 0, and ~ means no lower limit. */

struct limit {
    char *name;        /* name of a value, or of a kind of finding */
    const char *range; /* the range as given */
    enum health_level level;
    double start, end; /* infinite: no limit */
    bool inside;
};
struct limits {
    struct limit *limits;
    size_t count;
};

/* Adds a limit of this level for each NAME=RANGE in `given`.  Returns -1 with ERROR_USAGE if one is
 * invalid.  The caller frees `limits` with limits_free(), even on error.  limits_add_age() adds the
 * critical limit of the age that --max-age sets. */
int limits_read(struct limits *limits, const struct name_list *given, enum health_level level,
                struct error *err);
void limits_add_age(struct limits *limits, uint64_t seconds, const char *text);
void limits_free(struct limits *limits);

/* Returns true if there is a limit with this name. */
bool limits_has(const struct limits *limits, const char *name);

/* Checks a cluster against the limits.  Returns its level, and appends its problems to `words`,
 * separated by commas. */
enum health_level limits_judge(const struct limits *limits, const struct cluster_health *cluster,
                               struct text *words);

/* Adds the performance data of a plugin's line: age, findings, lag, and each value with a limit. */
void limits_add_figures(struct text *text, const struct limits *limits,
                        const struct cluster_health *cluster);

/* Adds a name.  Replaces each byte that is in `ends`, and would end the name there, by \xHH. */
void limits_add_name(struct text *text, const char *ends, const char *name);

#endif
