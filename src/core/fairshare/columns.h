/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_COLUMNS_H
#define FAIRMILL_CORE_COLUMNS_H

#include "core/fairshare/algorithm.h"

/* The columns that several algorithms have in their explanations (struct explain_column).  A cell
 * without a value stays empty. */

/* Digits of results, which nothing else is computed from, and of settings. */
#define RESULT_DIGITS 6
#define SETTING_DIGITS 15

typedef void add_cell(struct text *text, const struct explain_context *context, uint32_t node);

add_cell add_shares;      /* `shares/level's shares` */
add_cell add_shares_norm; /* the product of these along the path */
add_cell add_usage;       /* TRES-seconds */
add_cell add_usage_norm;
add_cell add_effective_usage;
add_cell add_factor;

/* An amount of usage, with two digits more than other numbers have. */
void add_usage_figure(struct text *text, const struct explain_context *context,
                      const struct wide *usage);

const struct node *context_node(const struct explain_context *context, uint32_t node);
const struct values *context_values(const struct explain_context *context, uint32_t node);

#endif
