/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_WHATIF_TABLE_H
#define FAIRMILL_REPORT_WHATIF_TABLE_H

#include <stddef.h>

struct table;
struct table_layout;
struct text;
struct whatif;

/* How `fairmill whatif` prints its answer.  `top`: at most so many rows of each kind. */

/* The associations that change; JSON has the jobs and all else besides. */
extern const struct table_layout whatif_layout;
void whatif_print(const struct whatif *whatif, size_t top, struct table *table);

/* The page for people: who gains and loses, which jobs change places, and commands to copy. */
void whatif_add_page(struct text *text, const struct whatif *whatif, size_t top);

#endif
