/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_FORMULA_PARSE_H
#define FAIRMILL_CORE_FORMULA_PARSE_H

struct error;
struct formula;

/* Make the steps of formula->text, with the numbers and names in it, and count the places that the
 * stack needs.  ERROR_SETTINGS, with the column, where it is no formula. */
int formula_parse(struct formula *formula, struct error *err);

#endif
