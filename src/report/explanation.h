/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_H
#define FAIRMILL_REPORT_EXPLANATION_H

#include <stddef.h>
#include <stdint.h>

#include "core/insight/explain.h"

struct clock;
struct top_jobs;
struct daily_usage;
struct json_t;
struct names;
struct text;
struct weights;

/* What `fairmill explain` prints: numbers from which each other one follows by hand, and what they
 * mean in words. */

struct explained {
    const char *cluster;
    int64_t as_of;
    const struct names *names; /* UTF-8 */
    const struct explain_input *input;
    const struct explanation *explanation;
    const char *login; /* the only user whose jobs and rows are told unasked; NULL: all are */
};

/* For people; a line is no longer than 80 columns where names and numbers let it. */
void explanation_add(struct text *text, const struct explained *explained);
/* For programs: one object.  `weights` may be NULL. */
void explanation_add_json(struct text *text, const struct explained *explained,
                          const struct weights *weights);

/* What weighs most: the heaviest job records and days of `one`, and its siblings. */
struct weights {
    const struct top_jobs *top_jobs;
    const struct daily_usage *days;
    const struct clock *plain, *clock; /* of the records' sums */
    char **users;                      /* of each record kept, UTF-8 */
};
void explanation_add_weights(struct text *text, const struct explained *explained,
                             const struct weights *weights);
/* The same as members `jobs`, `days` and `siblings` of an object. */
void explanation_set_weights(struct json_t *json, const struct explained *explained,
                             const struct weights *weights);

/* The parts. */

/* The ways from the root with every number on them. */
void explanation_add_table(struct text *text, const struct explained *explained);
/* `user 'u' of account 'a'`, `account 'a'`: whatever tells it from all others; the name only where
 * that is enough between the two that it is about. */
void explanation_add_who(struct text *text, const struct explained *explained, uint32_t node);
void explanation_add_short(struct text *text, const struct explained *explained, uint32_t node);

#endif
