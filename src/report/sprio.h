/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SPRIO_H
#define FAIRMILL_REPORT_SPRIO_H

#include <stdbool.h>

struct error;
struct prio_list;
struct text;

/* Jobs that wait as sprio prints them: its columns have letters. */

/* Sort by letters, `u,-y`: behind `-` the highest comes first.  Equal jobs stand by their ids, and
 * rows of a job by priority.  ERROR_USAGE names a letter that is none. */
int prio_list_sort(struct prio_list *list, const char *keys, struct error *err);

/* ERROR_USAGE where a format is none of sprio's: `%[.][size]letter`, and any text between. */
int sprio_check_format(const char *format, struct error *err);

struct sprio_look {
    const char *format; /* cells that are too wide are cut; NULL: sprio's own, where they are not */
    bool all, normalized, with_users, no_header;
    bool only_weights; /* no jobs */
};
/* The format was checked before, so this cannot fail. */
void sprio_print(struct text *text, const struct prio_list *list, const struct sprio_look *look);

#endif
