/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_VERIFY_H
#define FAIRMILL_RUN_VERIFY_H

#include "results/verify_session.h"

struct settings;
struct text;

/* Comparing what is published and kept of clusters with what a run of the same instant would store.
 * Nothing is written, no lock is taken, and what runs publish meanwhile is not seen. */

/* Both databases: the results in a transaction, in which everything is read. */
struct verifier {
    const struct settings *settings;
    struct db *source, *results;
    char *source_identity;
};
/* `source` may be NULL: it is opened then.  Close it also where this fails; then the source, which
 * may be another session than before, is closed unless it was taken out. */
int verifier_open(struct verifier *verifier, const struct settings *settings, struct db *source,
                  struct error *err);
void verifier_close(struct verifier *verifier);

struct verification {
    bool published;      /* else there is nothing to compare, and the rest is not set */
    bool other_settings; /* the run had others than these, so that nothing was computed */
    int64_t as_of;       /* of the run that published */
    uint64_t rows;       /* of fairmill_fairshare, as computed */
    struct row_differences differences;
};
/* Free the verification also where this fails. */
int verify_cluster(struct verifier *verifier, const char *cluster,
                   struct verification *verification, struct error *err);
/* `58 rows of 2026-11-22T10:00:00, as computed`, or how much differs, where, and why. */
void verification_add_words(struct text *text, const struct verification *verification);
void verification_free(struct verification *verification);

#endif
