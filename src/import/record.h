/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RECORD_H
#define FAIRMILL_IMPORT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "source/pbs/fields.h"

/* A line of an accounting log of OpenPBS (its Administrator's Guide, Accounting):
 *
 *     MM/DD/YYYY HH:MM:SS;TYPE;ID;text
 *
 * where the text of most records of jobs is fields, and the time is in the process's time zone.  In
 * the hour that comes twice a year the line before says which it is.
 *
 * The server checks few of the texts that users give it, and escapes none.  A user can write fields
 * into gridname, account and values of Resource_List, which look like the server's own.  But the
 * server writes its fields in one order:
 *
 *     [gridname] user group [account] project ... queue ... ctime qtime etime start exec_host
 *     exec_vnode Resource_List.* session [alt_id] end Exit_status resources_used.* run_count
 *
 * and knows the second in which a run began or ended. */

struct record {
    int64_t time;
    char type;
    struct part id, text;
    struct fields fields; /* of runs: E, R and S; none of other types */
    size_t start;         /* the server's own field `start`; fields.count if there is none */
    size_t session;       /* the first field that can be about used resources */
};

/* Whether a line begins with a time, as all records do. */
bool record_begins(struct part line);
/* Read a line without its end; what the record points to is in the line.  It begins as { 0 } and
 * serves line after line, in their order.  -1 where it is no such line (ERROR_DATA). */
int record_read(struct record *record, struct part line, struct error *err);
/* A line that was read before, for its time: the next line's is told by it. */
void record_pass(struct record *record, struct part line);
void record_free(struct record *record);

/* Find the server's own fields.  `start` is when the run began, as the log said before, or 0. */
void record_locate(struct record *record, uint64_t start);

/* One run of a job of OpenPBS: from a start to an end, a rerun or an abort.  Texts are UTF-8, ''
 * where a log does not say. */

/* What columns of names and of texts hold in the database that holds least: MySQL. */
#define LONGEST_NAME 255
#define LONGEST_TEXT 65535

enum run_text { RUN_EUSER, RUN_EGROUP, RUN_ACCOUNT, RUN_PROJECT, RUN_QUEUE, RUN_TEXTS };

struct run {
    uint64_t key; /* of its row; keys ascend */
    char *job_id;
    const char *state; /* "running", "restarted" (from a checkpoint), "ended", "rerun", "aborted" */
    char *texts[RUN_TEXTS];
    uint64_t ctime, qtime, etime, start, end; /* epoch seconds; `end` 0 while it runs */
    int64_t exit_status;                      /* NO_EXIT_STATUS where there is none */
    char *requested, *used;                   /* resources, as source/pbs/fields.h */
};
#define NO_EXIT_STATUS INT64_MIN

/* What a record of a run says (types S, E and R), with no key; an `end` is the record's own time
 * where it has none.  It is to be freed. */
int run_read(struct run *run, const struct record *record, struct error *err);
void run_free(struct run *run);

/* Cut a text that users choose to LONGEST_NAME: no user must be able to make a record of theirs too
 * long for the database. */
void run_text_cut(char *text);

#endif
