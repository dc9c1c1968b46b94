/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_ROWS_H
#define FAIRMILL_REPORT_EXPLANATION_ROWS_H

struct explained;
struct table;
struct table_layout;
struct weights;

/* What is explained, as rows: the associations on the path to `one`, and on that to `other`.  With
 * weights (or NULL) the rows are those of weights_layout, and JSON has the associations among its
 * facts. */
extern const struct table_layout explanation_layout;
void explanation_print(const struct explained *explained, const struct weights *weights,
                       struct table *table);

#endif
