/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_FORMULA_LIST_H
#define FAIRMILL_REPORT_FORMULA_LIST_H

#include <stdbool.h>

struct error;
struct formula;
struct prio_list;
struct table_options;
struct text;

/* Jobs that wait, in the order that a formula makes of them: that of OpenPBS, or one that somebody
 * wishes for. */

/* Evaluate a formula for each job, into what_if.  ERROR_USAGE names what no job has. */
int formula_list_value(struct prio_list *list, struct formula *formula, struct error *err);

/* By what_if, or by OpenPBS's order: who runs first comes first, who does not run last. */
void formula_list_sort(struct prio_list *list, bool by_value);

/* The table for people. */
int formula_list_print(struct text *text, const struct prio_list *list,
                       const struct table_options *options, struct error *err);

#endif
