/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_FAILURE_H
#define FAIRMILL_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct findings;
struct publisher;
struct run_session;

/* Every run that could open the results leaves a row that says how it ended, a refused one too, so
 * that whoever looks at the results learns of it.  A run that found another one at work leaves
 * none.  A row that cannot be written is no failure of the run: failure_unrecorded() notes it. */

struct failure {
    const struct error *reason;
    int64_t began;                   /* in clock_milliseconds() */
    const struct findings *findings; /* what it found all the same; NULL: none */
    bool is_there;                   /* the cluster was found in the accounting database */
};

/* Sets *session->options->unrecorded, unless another run is at work. */
void failure_unrecorded(const struct run_session *session, const struct error *reason);

/* Of a cluster whose lock this run has taken, and of one whose lock it has not. */
void failure_record(struct run_session *session, struct publisher *publisher,
                    const struct failure *failure);
void failure_record_of(struct run_session *session, const char *cluster,
                       const struct failure *failure);
/* Of all clusters that the run was about, before any was begun: those that were asked for, else
 * those that runs with this source were about last.  Where the results know none of them it is a
 * row of the cluster ''. */
void failure_record_all(struct run_session *session, const struct failure *failure);

#endif
