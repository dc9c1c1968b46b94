/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_H
#define FAIRMILL_REPORT_EXPLANATION_H

#include <stddef.h>
#include <stdint.h>

#include "core/explain.h"

struct names;
struct text;

/* What `fairmill explain` prints: numbers from which each other one follows by hand, and what they
 * mean in words. */

struct explained {
    const char *cluster;
    int64_t as_of;
    const struct names *names; /* UTF-8 */
    const struct case_file *file;
    const struct explanation *explanation;
};

/* For people; a line is no longer than 80 columns where names and numbers let it. */
void explanation_add(struct text *text, const struct explained *explained);
/* For programs: one object. */
void explanation_add_json(struct text *text, const struct explained *explained);

/* The parts. */

/* The ways from the root with every number on them. */
void explanation_add_table(struct text *text, const struct explained *explained);
/* `user 'u' of account 'a'`, `account 'a'`: whatever tells it from all others; the name only where
 * that is enough between the two that it is about. */
void explanation_add_who(struct text *text, const struct explained *explained, uint32_t node);
void explanation_add_short(struct text *text, const struct explained *explained, uint32_t node);
/* A number with so many significant digits and without zeros at its end; `inf`; "" for NULL. */
void text_add_figure(struct text *text, double number, int digits);

#endif
