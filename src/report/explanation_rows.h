/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_ROWS_H
#define FAIRMILL_REPORT_EXPLANATION_ROWS_H

struct answer;
struct explained;
struct table_layout;
struct weights;

/* What is explained, as rows: the associations on the path to `one`, and on that to `other`.  With
 * weights (or NULL) the rows are those of weights_layout, and JSON has the associations among its
 * facts. */
extern const struct table_layout explanation_layout;
void explanation_add_rows(const struct explained *explained, const struct weights *weights,
                          struct answer *answer);

/* The numbers of both paths, from which each other one follows by hand, and the formulas. */
void explanation_add_table(struct answer *answer, const struct explained *explained);

#endif
