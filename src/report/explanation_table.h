/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_TABLE_H
#define FAIRMILL_REPORT_EXPLANATION_TABLE_H

struct explained;
struct text;

/* For people: the paths from the root, with the numbers that the algorithm makes its result of, and
 * the formulas, so that each number follows from others by hand. */
void explanation_add_table(struct text *text, const struct explained *explained);

#endif
