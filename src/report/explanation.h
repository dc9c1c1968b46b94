/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_H
#define FAIRMILL_REPORT_EXPLANATION_H

struct explained;
struct text;
struct weights;

/* What people read: numbers from which each other one follows by hand, and what they mean in words.
 * `weights` may be NULL.  A line is no longer than 80 columns where names and numbers let it. */
void explanation_add_page(struct text *text, const struct explained *explained,
                          const struct weights *weights);

#endif
