/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_WHATIF_TABLE_H
#define FAIRMILL_REPORT_WHATIF_TABLE_H

#include <stddef.h>

struct answer;
struct table_layout;
struct whatif;

/* How `fairmill whatif` prints its answer.  `top`: at most so many rows of each kind. */

/* Rows are the associations that change; JSON also has the jobs and all else.  The page has the
 * users who gain and lose, the jobs that change places, and commands to copy. */
extern const struct table_layout whatif_layout;
void whatif_print(const struct whatif *whatif, size_t top, struct answer *answer);

#endif
