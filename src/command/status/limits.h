/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_STATUS_LIMITS_H
#define FAIRMILL_COMMAND_STATUS_LIMITS_H

#include "results/health.h"
#include "util/name_list.h"
#include "util/text.h"

struct error;

/* Limits that somebody sets for what is known of a cluster, in the form that monitors' plugins
 * have: NAME=RANGE, where RANGE is [@][START:][END].  It is exceeded by what is below START (0; ~:
 * there is none) or above END, with @ by what is not. */

struct limit {
    char *name;        /* of a figure, or of a kind of findings */
    const char *range; /* as it was given */
    enum health_level level;
    double start, end; /* infinite: none */
    bool inside;
};
struct limits {
    struct limit *limits;
    size_t count;
};

/* Read a list of options, or one limit of the age, as --max-age has it. */
int limits_read(struct limits *limits, const struct name_list *given, enum health_level level,
                struct error *err);
void limits_add_age(struct limits *limits, uint64_t seconds, const char *text);
void limits_free(struct limits *limits);

/* Whether there is one of this name. */
bool limits_has(const struct limits *limits, const char *name);

/* How the cluster is under these limits; what is wrong is added in words, between commas. */
enum health_level limits_judge(const struct limits *limits, const struct cluster_health *cluster,
                               struct text *words);

/* The cluster's figures behind the bar of a plugin's line: age, findings and lag, and all that have
 * limits. */
void limits_add_figures(struct text *text, const struct limits *limits,
                        const struct cluster_health *cluster);

/* Add a name with \xHH in place of each byte that is among `ends`, which would end the name there.
 */
void limits_add_name(struct text *text, const char *ends, const char *name);

#endif
