/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_VERIFY_SESSION_H
#define FAIRMILL_RESULTS_VERIFY_SESSION_H

#include <stdbool.h>

#include "results/row_differences.h"

struct db;
struct error;

/* A session that compares.  A run that publishes into it writes nothing: each row that it would
 * write is compared with the one that is stored, and what it would remove should not be there.  So
 * what is right is said in one place, by those who write it.  Its queries are answered by the
 * results database, whose session must have begun its transaction, and must last as long. */

struct db *verify_session_open(struct db *stored, const char *cluster);
/* Once the run has published: say what differs.  `seal_damaged`: the seal's rows were found not to
 * be what was stored. */
int verify_session_end(struct db *witness, bool checkpoint_damaged,
                       struct row_differences *differences, struct error *err);
/* Takes NULL; the session that it asks stays open. */
void verify_session_close(struct db *witness);

#endif
