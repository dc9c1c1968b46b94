/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_H
#define FAIRMILL_REPORT_EXPLANATION_H

struct answer;
struct explained;
struct weights;

/* Answer with an explanation.  Rows are those of report/explanation_rows.h.  The page has numbers
 * from which each other one follows by hand, and says in words what they mean; a line is no longer
 * than 80 columns where names and numbers let it.  `weights` may be NULL. */
void explanation_answer(const struct explained *explained, const struct weights *weights,
                        struct answer *answer);

#endif
