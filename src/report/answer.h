/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_ANSWER_H
#define FAIRMILL_REPORT_ANSWER_H

#include "report/table.h"

/*
 * The output of a command.
 *
 * A command adds rows, which report/table.h prints in the format that the options name.  Text
 * output may also have sentences, or a page instead of the rows.  Long output is printed while it
 * is made.  Short output is printed as a whole or not at all.
 */

struct answer;

/*
 * Creates an answer that is printed with `print`.  If `print` is NULL, answer_end() prints nothing,
 * and answer_text() then returns the whole output.  `layout` and `options` must outlive it.  Returns
 * NULL with ERROR_USAGE if the options name a column that does not exist.  The caller frees the
 * answer with answer_destroy(), which accepts NULL.
 */
struct answer *answer_create(const struct table_layout *layout, const struct table_options *options,
                             int (*print)(const struct text *text, struct error *err),
                             struct error *err);
/*
 * Ends the answer and prints the output that was not printed yet.  Returns -1 if printing failed.
 * Later calls do nothing and return 0.
 */
int answer_end(struct answer *answer, struct error *err);
void answer_destroy(struct answer *answer);

/*
 * Returns true if the output is the command's page: the layout has one, and the options ask for
 * text with headings and name no columns.
 */
bool answer_wants_page(const struct answer *answer);
/*
 * Returns true if the output format has facts about clusters (JSON).  If it returns false, the
 * caller need not compute facts that are costly.
 */
bool answer_wants_facts(const struct answer *answer);
/* Returns true for text output, and false for CSV, JSON and output with bars. */
bool answer_is_for_people(const struct answer *answer);

/* Ends the previous cluster, if there is one, and begins `cluster`. */
void answer_cluster(struct answer *answer, const struct table_cluster *cluster);
/* Adds a row to the cluster.  `row` may be reused after the call. */
void answer_row(struct answer *answer, const void *row);
/* Ends the rows of the cluster.  Text that is added later comes after the rows. */
void answer_close(struct answer *answer);
/*
 * Adds a sentence to text output, formatted by text_format_printable().  Other formats, and text
 * without headings, omit it.
 */
void answer_say(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the table of the rows, for a caller that opens and closes its clusters itself. */
struct table *answer_table(struct answer *answer);
/* Returns the text, to which the caller may add pages and plots. */
struct text *answer_text(struct answer *answer);
/* Prints and empties that text if it is long.  answer_end() reports errors. */
void answer_print_if_long(struct answer *answer);

#endif
