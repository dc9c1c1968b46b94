/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RECORD_H
#define FAIRMILL_IMPORT_RECORD_H

#include <stdint.h>

#include "source/pbs/fields.h"

/* A line of an accounting log of OpenPBS (its Administrator's Guide, Accounting):
 *
 *     MM/DD/YYYY HH:MM:SS;TYPE;ID;text
 *
 * where the text of most records of jobs is fields, and the time is in the process's time zone.  In
 * the hour that comes twice a year the line before says which it is. */

struct record {
    int64_t time;
    char type;
    struct part id, text;
    struct fields fields; /* of runs: E, R and S; none of other types */
};

/* Read a line without its end; what the record points to is in the line.  It begins as { 0 } and
 * serves line after line, in their order.  -1 where it is no such line (ERROR_DATA). */
int record_read(struct record *record, struct part line, struct error *err);
/* A line that was read before, for its time: the next line's is told by it. */
void record_pass(struct record *record, struct part line);
void record_free(struct record *record);

/* An instant, up to the year 9999; *number is 0 where it is not there. */
int record_number(const struct record *record, const char *key, uint64_t *number,
                  struct error *err);
/* The fields `prefix.NAME=VALUE` as a text of fields `NAME=VALUE`. */
void record_add_resources(const struct record *record, const char *prefix, struct text *text);

#endif
