/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_FORMULA_LIST_H
#define FAIRMILL_REPORT_FORMULA_LIST_H

#include <stdbool.h>

struct error;
struct formula;
struct prio_list;
struct table_options;
struct text;

/*
 * Pending jobs, ordered by a formula: OpenPBS's job_sort_formula, or the formula of `prio
 * --formula`.
 */

/*
 * Evaluates a formula for each job and stores the value in `what_if`.  If the formula has no value
 * for a job, `what_if` is NAN and `why` has the reason.  Returns -1 with ERROR_USAGE if the formula
 * has a name that a job does not have, or is too long for so large a list.
 */
int formula_list_value(struct prio_list *list, struct formula *formula, struct error *err);

/*
 * Sorts by `what_if` if `by_value`, otherwise in OpenPBS's order.  The next job to run comes first;
 * jobs that cannot run come last.
 */
void formula_list_sort(struct prio_list *list, bool by_value);

/* Adds the list as a table in text.  Returns -1 on error. */
int formula_list_print(struct text *text, const struct prio_list *list,
                       const struct table_options *options, struct error *err);

#endif
