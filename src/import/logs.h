/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_LOGS_H
#define FAIRMILL_IMPORT_LOGS_H

#include <stddef.h>
#include <stdint.h>

#include "source/pbs/fields.h"

/* A folder of OpenPBS's accounting logs: a file a day, named YYYYMMDD, perhaps packed by gzip and
 * then named YYYYMMDD.gz. */

/* A log, and how far it was read. */
struct log_file {
    char name[9];
    char *path;
    uint64_t bytes, lines; /* whole ones, unpacked */
    char digest[33];       /* of these bytes; "": nothing was read */
    char stored[80];       /* how the file lay on the disk; while that stays nothing is new in it */
};

/* The logs of a folder by name; nothing was read of them.  A day that is there packed and unpacked
 * is refused (ERROR_DATA); other files are left alone. */
struct log_list {
    struct log_file *files;
    size_t count;
};
int log_list_read(struct log_list *list, const char *directory, struct error *err);
void log_list_free(struct log_list *list);

/* Hand out the lines of a log, without their ends, those that were read before with the number 0,
 * and say in `log` how far it was read now; a last line that has no end yet is left for the next
 * time.  `take` fails to end it all.  ERROR_DATA where what was read is not there any more as it
 * was. */
typedef int line_taker(void *context, const struct log_file *log, uint64_t number, struct part line,
                       struct error *err);
int log_read(struct log_file *log, line_taker *take, void *context, struct error *err);

/* How the log lies on the disk now: what log_read() would put into `stored`. */
int log_stored(const struct log_file *log, char stored[80], struct error *err);

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
