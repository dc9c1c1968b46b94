/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_STANDING_H
#define FAIRMILL_REPORT_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/insight/standing.h"

struct algorithm;
struct names;
struct terminology;
struct text;

/* Sentences about the place of a user, and about the usage of a group.  The report's script has the
 * same sentences (page/sentences.js). */

struct standing_facts {
    const struct standings *standings;
    const struct algorithm *algorithm;
    const struct values *values; /* indexed by node, as published */
    const struct names *names;   /* UTF-8 */
    const struct terminology *terms;
    int64_t as_of;
    /* Places at the end of each of `days` days if the user runs nothing and the others continue;
     * pausing[0] is the place now.  NULL: unknown. */
    const uint32_t *pausing;
    size_t days;
    /* The group's budget is used up now, or at `budget_ends`; 0: neither. */
    bool budget_used_up;
    int64_t budget_ends;
};

/* Adds the sentences about a node other than the root. */
void standing_add_sentences(struct text *text, const struct standing_facts *facts, uint32_t node);

/*
 * Adds the reason on one level as a clause, such as `physics has used 1.60 times its share of
 * science`.
 */
void standing_add_step(struct text *text, const struct standing_facts *facts,
                       const struct standing_step *step);

#endif
