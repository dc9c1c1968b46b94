/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PRINTED_H
#define FAIRMILL_REPORT_PRINTED_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

/*
 * Helpers that read the output of Slurm's and OpenPBS's commands: lines of text, and numbers that
 * were rounded or truncated.
 */

struct span {
    const char *bytes;
    size_t length;
};
/* Removes spaces and tabs from both ends, and carriage returns from the end. */
struct span span_trimmed(struct span span);
bool span_begins(struct span span, const char *text);
/* Returns true if the span equals `text`, ignoring case. */
bool span_is(struct span span, const char *text);
/*
 * Returns the part before the first `end`, or the whole span if it has no `end`.  Sets `*rest` to
 * the part after `end`, which is empty if there is no `end`.
 */
struct span span_until(struct span span, char end, struct span *rest);
/*
 * Returns the part that begins with the first occurrence of `text`.  Its bytes are NULL if the text
 * does not occur.
 */
struct span span_find(struct span span, const char *text);
/* Copy a span into an arena, as bytes or converted to UTF-8. */
const char *span_copy(struct arena *arena, struct span span);
const char *span_utf8(struct arena *arena, struct span span);
/* Returns the first word, which ends at a space or tab, and sets `*rest` to the text after it.  The
 * word is empty if no word is left. */
struct span span_word(struct span span, struct span *rest);

/*
 * The bounds of a number before it was printed.  Both are NAN if no number was printed, and
 * infinite if `inf` was.
 */
struct printed_number {
    double low, high;
};
#define NOT_PRINTED ((struct printed_number){ NAN, NAN })
#define PRINTED_CUT (-1)

/*
 * Reads a number that was rounded to `decimals` decimals.  With PRINTED_CUT, an integer was
 * truncated, and any other number was rounded to its last decimal.  A number with an
 * exponent was rounded to its digits.  Any other number is taken to be exact to the precision of a
 * double.  Returns false if the text is not a number.  An empty text gives NOT_PRINTED.
 */
bool printed_number_read(struct printed_number *number, struct span span, int decimals);
/* Returns true if a number was printed, and false for NOT_PRINTED. */
bool printed_is_there(const struct printed_number *number);
/* Returns the mean of the bounds; infinite if they are infinite. */
double printed_middle(const struct printed_number *number);

/* The command that printed a text. */
enum print_kind {
    PRINT_OF_SSHARE,
    PRINT_OF_JSON,      /* sshare --json; or YAML */
    PRINT_OF_ASSOC_MGR, /* scontrol show assoc_mgr */
    PRINT_OF_SPRIO,
    PRINT_OF_PBSFS, /* pbsfs -p or -g, of OpenPBS */
};
/* Recognizes the command by the first line of its output. */
enum print_kind print_kind_of(struct span text);

/*
 * Return -1 with ERROR_DATA and a message that names the line.  For printed_wrong(), `what`
 * describes the fault.  For printed_no_such(), `span` is the text that is not a valid `what`.
 */
int printed_wrong(unsigned line, const char *what, struct error *err);
int printed_no_such(unsigned line, struct span span, const char *what, struct error *err);

#endif
