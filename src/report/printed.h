/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PRINTED_H
#define FAIRMILL_REPORT_PRINTED_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

/* What commands of Slurm and OpenPBS print: text in lines, and numbers of which digits are left
 * out. */

struct span {
    const char *bytes;
    size_t length;
};
struct span span_trimmed(struct span span);
bool span_begins(struct span span, const char *text);
/* Whether it is that text, in letters of either case. */
bool span_is(struct span span, const char *text);
/* The part before the next `end`, or all of it; `rest` is what is behind. */
struct span span_until(struct span span, char end, struct span *rest);
/* Where a text is in it: a span that begins there; NULL bytes where it is not. */
struct span span_find(struct span span, const char *text);
/* Copies in an arena, as they are and in UTF-8. */
const char *span_copy(struct arena *arena, struct span span);
const char *span_utf8(struct arena *arena, struct span span);
/* The next word between blanks; empty at the end. */
struct span span_word(struct span span, struct span *rest);

/* Where the number that was printed is: not below `low`, not above `high`.  Both are NAN where
 * nothing was printed, both infinite where `inf` was. */
struct printed_number {
    double low, high;
};
#define NOT_PRINTED ((struct printed_number){ NAN, NAN })
#define PRINTED_CUT (-1)

/* Read a number that was rounded to so many decimals, or with PRINTED_CUT cut to an integer.  One
 * with other digits was printed to all that a double has.  False where it is none. */
bool printed_number_read(struct printed_number *number, struct span span, int decimals);
bool printed_is_there(const struct printed_number *number);
/* The middle of it. */
double printed_middle(const struct printed_number *number);

/* Which command printed it, as it begins. */
enum print_kind {
    PRINT_OF_SSHARE,
    PRINT_OF_JSON,      /* sshare --json; or YAML */
    PRINT_OF_ASSOC_MGR, /* scontrol show assoc_mgr */
    PRINT_OF_SPRIO,
    PRINT_OF_PBSFS, /* pbsfs -p or -g, of OpenPBS */
};
enum print_kind print_kind_of(struct span text);

/* ERROR_DATA: what is wrong with that line, or what the span in it is not. */
int printed_wrong(unsigned line, const char *what, struct error *err);
int printed_no_such(unsigned line, struct span span, const char *what, struct error *err);

#endif
