/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_VERIFY_H
#define FAIRMILL_RUN_VERIFY_H

#include "results/verify_session.h"

struct settings;
struct text;

/*
 * Compares the published and stored rows of clusters with the rows that a run for the same time
 * would store.  Writes nothing and takes no lock.  Rows that a run publishes meanwhile are not
 * visible to it.
 */

/* The sessions on both databases.  The results are read in one transaction. */
struct verifier {
    const struct settings *settings;
    struct db *source, *results;
    char *source_identity;
};
/*
 * Opens the databases.  If `source` is not NULL, uses it instead of opening one.  Returns -1 on
 * error; the caller must call verifier_close() in this case, too.
 *
 * verifier_close() closes verifier->source.  After a reconnect, verifier->source is a new session,
 * and `source` is already closed.  To keep the session open, set verifier->source to NULL before
 * the call.
 */
int verifier_open(struct verifier *verifier, const struct settings *settings, struct db *source,
                  struct error *err);
void verifier_close(struct verifier *verifier);

struct verification {
    bool published; /* if false, there is nothing to compare, and the other members are not set */
    bool other_settings; /* the published run had different settings, so nothing was computed */
    int64_t as_of;       /* time of the published run */
    uint64_t rows;       /* number of computed rows of fairmill_fairshare */
    struct row_differences differences;
};
/* Compares the rows of a cluster and fills `verification`.  Returns -1 on error.  The caller must
 * call verification_free(), even on error. */
int verify_cluster(struct verifier *verifier, const char *cluster,
                   struct verification *verification, struct error *err);
/*
 * Adds a summary: `58 rows of 2026-11-22T10:00:00, as computed`, or how many rows differ, in which
 * tables and why.
 */
void verification_add_words(struct text *text, const struct verification *verification);
void verification_free(struct verification *verification);

#endif
