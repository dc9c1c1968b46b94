/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RECORD_H
#define FAIRMILL_IMPORT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "source/pbs/fields.h"

/*
 * A line of OpenPBS's accounting logs, as described in its Administrator's Guide, section
 * Accounting:
 *
 *       MM/DD/YYYY HH:MM:SS;TYPE;ID;text
 *
 * The text of most job records consists of fields.  The time is in the process's time zone.  If
 * clocks are set back, an hour occurs twice; the time of the previous line determines which of the
 * two is meant.
 *
 * The server checks few of the texts that users set, and escapes none of these texts.  In gridname,
 * account and values of Resource_List, a user can write fields that look like the server's own.
 * But the server knows the second in which a job execution (see struct run) began or ended, and it
 * writes its fields in this order:
 *
 *       [gridname] user group [account] project ... queue ... ctime qtime etime start exec_host
 *       exec_vnode Resource_List.* session [alt_id] end Exit_status resources_used.* run_count
 */

struct record {
    int64_t time;
    char type;
    struct part id, text;
    struct fields fields; /* of types E, R and S, which describe executions; empty for others */
    size_t start;         /* index of the server's own field `start`, or fields.count */
    size_t session;       /* index of the first field that may describe used resources */
};

/* Returns true if a line begins with a time, as all records do. */
bool record_begins(struct part line);
/*
 * Reads a line without its newline.  The record points into the line.  The time of a line may
 * depend on the previous line.  So set `record` to { 0 } before the first line, and use it for all
 * lines in their order.  Fails with ERROR_DATA if the line is invalid.
 */
int record_read(struct record *record, struct part line, struct error *err);
/*
 * Reads only the time of a line that was read before, because the time of the next line may depend
 * on this time.
 */
void record_pass(struct record *record, struct part line);
void record_free(struct record *record);

/*
 * Sets `start` and `session`, which separate the server's own fields from fields that users wrote.
 * `start` is the start of the job execution according to an earlier record, in epoch seconds.  Pass
 * 0 if no earlier record has it.
 */
void record_locate(struct record *record, uint64_t start);

/*
 * Here `struct run` is a job execution: one execution of a PBS job, from a start to an end, a rerun
 * or an abort.  A job has several executions if it is rerun.  Texts are UTF-8, and "" if the log
 * does not contain them.
 */

/*
 * Maximum lengths, in bytes, of names and of texts.  They are the limits of MySQL, which are the
 * lowest of all supported database systems.
 */
#define LONGEST_NAME 255
#define LONGEST_TEXT 65535

enum run_text { RUN_EUSER, RUN_EGROUP, RUN_ACCOUNT, RUN_PROJECT, RUN_QUEUE, RUN_TEXTS };

struct run {
    uint64_t key; /* key of its row; job executions that are recorded later have larger keys */
    char *job_id;
    const char *state; /* "running", "restarted" (from a checkpoint), "ended", "rerun", "aborted" */
    char *texts[RUN_TEXTS];
    uint64_t ctime, qtime, etime, start, end; /* epoch seconds; `end` is 0 if not ended */
    int64_t exit_status;                      /* or NO_EXIT_STATUS */
    char *requested, *used;                   /* resources, in the format of source/pbs/fields.h */
};
#define NO_EXIT_STATUS INT64_MIN

/*
 * Sets `*run` to the job execution that a record of type S, E or R describes, without the key.  If
 * a record of type E or R lacks the end, the execution ends at the record's time.  The caller frees
 * the content with run_free().  Fails with ERROR_DATA if the record is incomplete or a name is too
 * long.
 */
int run_read(struct run *run, const struct record *record, struct error *err);
void run_free(struct run *run);

/*
 * Cuts a text to LONGEST_NAME bytes.  Used for texts that users choose, so that a user cannot make
 * a record too long for the database.
 */
void run_text_cut(char *text);

#endif
