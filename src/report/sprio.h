/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_SPRIO_H
#define FAIRMILL_REPORT_SPRIO_H

#include <stdbool.h>

struct error;
struct prio_list;
struct text;

/* Pending jobs in sprio's format.  Each of its columns has a letter. */

/*
 * Sorts by columns, such as `u,-y`; `-` sorts in descending order.  Tied rows are sorted by job id,
 * and the rows of a job by priority, highest first.  Returns -1 with ERROR_USAGE for an unknown
 * letter.
 */
int prio_list_sort(struct prio_list *list, const char *keys, struct error *err);

/*
 * Returns -1 with ERROR_USAGE if a format is invalid.  As in sprio, a format has columns of the
 * form `%[.][size]letter`, with any text between them.
 */
int sprio_check_format(const char *format, struct error *err);

struct sprio_look {
    const char *format; /* cuts cells that are too wide; NULL: sprio's default, without cuts */
    bool all, normalized, with_users, no_header;
    bool only_weights; /* show the weights instead of the jobs */
};
/* Adds a list to `text`.  Cannot fail, because the format was checked with sprio_check_format(). */
void sprio_print(struct text *text, const struct prio_list *list, const struct sprio_look *look);

#endif
