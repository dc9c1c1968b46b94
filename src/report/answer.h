/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_ANSWER_H
#define FAIRMILL_REPORT_ANSWER_H

#include "report/table.h"

/* The one way from a command to its output.  An answer has rows, which report/table.h prints in the
 * form that the options name.  For people it also has sentences, or a page in place of the rows.
 * It is a sink: long outputs are printed while they are made, short ones as a whole or not at all.
 */

struct answer;

/* Begin an answer that `print` prints.  Layout and options must last as long as it.  NULL and
 * ERROR_USAGE: the options choose a column that does not exist. */
struct answer *answer_create(const struct table_layout *layout, const struct table_options *options,
                             int (*print)(const struct text *text, struct error *err),
                             struct error *err);
/* End the answer and print what is not printed yet; once, later calls do nothing. */
int answer_end(struct answer *answer, struct error *err);
void answer_destroy(struct answer *answer);

/* Whether people choose nothing, and the layout has a page for them. */
bool answer_wants_page(const struct answer *answer);
/* Whether the form has facts of clusters: some are costly to find. */
bool answer_wants_facts(const struct answer *answer);
bool answer_is_for_people(const struct answer *answer);

/* Begin a cluster, after the end of the one before. */
void answer_cluster(struct answer *answer, const struct table_cluster *cluster);
/* Add a row to the cluster.  It is not needed afterwards. */
void answer_row(struct answer *answer, const void *row);
/* End the rows of the cluster, so that what is added next follows them. */
void answer_close(struct answer *answer);
/* Add a sentence for people, as text_format_printable() does.  Other forms have none. */
void answer_say(struct answer *answer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The table of the rows, for a report that also prints them elsewhere; it opens and closes
 * clusters. */
struct table *answer_table(struct answer *answer);
/* The text to which pages and plots are added. */
struct text *answer_text(struct answer *answer);

#endif
