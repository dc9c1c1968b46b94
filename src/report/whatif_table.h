/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_WHATIF_TABLE_H
#define FAIRMILL_REPORT_WHATIF_TABLE_H

#include <stddef.h>

struct answer;
struct table_layout;
struct whatif;

/*
 * Prints the results of `fairmill whatif`.
 *
 * The rows are the associations that change.  JSON also has the jobs and all other results.  The
 * page has the users who gain or lose, the jobs whose place in the queue changes, and commands to
 * copy.  `top` limits the number of gains, of losses and of jobs.
 */
extern const struct table_layout whatif_layout;
void whatif_print(const struct whatif *whatif, size_t top, struct answer *answer);

#endif
