/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_RUN_H
#define FAIRMILL_IMPORT_RUN_H

#include "import/record.h"

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
