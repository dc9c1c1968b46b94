/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_LINE_QUEUE_H
#define FAIRMILL_IMPORT_LINE_QUEUE_H

#include "import/logs.h"

/* Puts lines of an accounting log together that are one record.
 *
 * The server writes line breaks in users' texts as they are.  So a user can give an account that
 * has whole records in it, of other users, too.  The rest of the true record follows them, and does
 * not begin with a time.  But its fields have the time of the record, and so it finds the line
 * where the record began.  All lines between are part of that user's text.
 *
 * Lines wait in a queue of a megabyte, which is more than a user can give qsub. */

struct line_queue;

struct line_queue *line_queue_create(line_taker *take, void *context);
/* Add a line.  -1 if `take` fails. */
int line_queue_add(struct line_queue *queue, const struct log_file *log, uint64_t number,
                   struct part line, struct error *err);
/* Hand out all lines that wait. */
int line_queue_flush(struct line_queue *queue, const struct log_file *log, struct error *err);
void line_queue_destroy(struct line_queue *queue);

#endif
