/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_VERIFY_SESSION_H
#define FAIRMILL_RESULTS_VERIFY_SESSION_H

#include <stdbool.h>

#include "results/row_differences.h"

struct db;
struct error;

/*
 * The verifier: a database session that compares rows instead of writing them.
 *
 * A run that publishes into this session writes nothing.  Each row that it would write is compared
 * with the stored row, and each stored row that the run would only remove is a difference.  So the
 * modules that write rows are the only definition of correct rows.
 *
 * Queries go to the results database.  The session `stored` must have begun its transaction and
 * must remain open until verify_session_close().
 */

struct db *verify_session_open(struct db *stored, const char *cluster);

/*
 * Ends the comparison after the run has published, and sets `*differences` to the differences that
 * were found.  Pass true as `checkpoint_damaged` if the checkpoint's rows do not match their
 * hashes.  The caller frees the differences with row_differences_free().  Returns -1 on error.
 */
int verify_session_end(struct db *witness, bool checkpoint_damaged,
                       struct row_differences *differences, struct error *err);

/* Frees the verifier; accepts NULL.  The session `stored` stays open. */
void verify_session_close(struct db *witness);

#endif
