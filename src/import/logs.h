/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_LOGS_H
#define FAIRMILL_IMPORT_LOGS_H

#include <stddef.h>
#include <stdint.h>

#include "source/pbs/fields.h"

/*
 * OpenPBS writes its accounting logs to a directory, one file a day.  A file is named YYYYMMDD, or
 * YYYYMMDD.gz if it is compressed with gzip.
 */

/* A log, and how much of it was read. */
struct log_file {
    char name[9];
    char *path;
    uint64_t bytes, lines; /* of complete lines, uncompressed */
    char digest[33];       /* hash of these bytes, or "" if nothing was read */
    /* Size, time and inode of the file.  If they are the same, the file has not changed. */
    char stored[80];
};

/*
 * Lists the logs in a directory in ascending order of name.  Marks all of them as not read.  Fails
 * with ERROR_DATA if a day has both a compressed and an uncompressed log.  Ignores other files.
 */
struct log_list {
    struct log_file *files;
    size_t count;
};
int log_list_read(struct log_list *list, const char *directory, struct error *err);
void log_list_free(struct log_list *list);

/*
 * Passes the lines of a log to `take`, without their newlines.  Lines that an earlier import read
 * have the number 0.  Updates `log` with the amount that was read.  A last line without a newline
 * is left for the next call.  `take` may return -1 to stop.  Fails with ERROR_DATA if the part that
 * an earlier import read is missing or has changed.
 */
typedef int line_taker(void *context, const struct log_file *log, uint64_t number, struct part line,
                       struct error *err);
int log_read(struct log_file *log, line_taker *take, void *context, struct error *err);

/* Sets `stored` to the log's current size, time and inode, as log_read() sets it in `log`. */
int log_stored(const struct log_file *log, char stored[80], struct error *err);

/*
 * Joins the lines of an accounting log that belong to one record.
 *
 * The server writes newlines in users' texts unchanged.  So a user can set an account that contains
 * whole records, even of other users.  The true record then ends with a continuation line, which
 * does not begin with a time.  But the fields in the continuation line contain the time of the
 * record, which identifies the line where the record began.  All lines between these two are part
 * of the user's text.
 *
 * Lines wait in a queue of one megabyte, which is more than a user can pass to qsub.
 */

struct line_queue;

struct line_queue *line_queue_create(line_taker *take, void *context);
/* Adds a line.  Returns -1 if `take` fails. */
int line_queue_add(struct line_queue *queue, const struct log_file *log, uint64_t number,
                   struct part line, struct error *err);
/* Passes all waiting lines to `take`. */
int line_queue_flush(struct line_queue *queue, const struct log_file *log, struct error *err);
void line_queue_destroy(struct line_queue *queue);

#endif
