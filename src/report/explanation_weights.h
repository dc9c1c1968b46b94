/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_EXPLANATION_WEIGHTS_H
#define FAIRMILL_REPORT_EXPLANATION_WEIGHTS_H

struct explained;
struct json_t;
struct table_layout;
struct text;
struct weights;

/* What weighs most: the heaviest job records and days of `one`, and its siblings. */

void weights_add_page(struct text *text, const struct explained *explained,
                      const struct weights *weights);
/* The job records are rows of this layout; the rest is facts of JSON. */
extern const struct table_layout weights_layout;
void weights_add_facts(struct json_t *facts, const struct explained *explained,
                       const struct weights *weights);

#endif
