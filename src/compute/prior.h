/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_PRIOR_H
#define FAIRMILL_PRIOR_H

#include <stdbool.h>
#include <stdint.h>

struct db;
struct error;
struct factor_past;
struct ledger;
struct past;
struct settings;

/* What is known from the results database of a cluster before it is computed. */
struct prior {
    struct ledger *ledger;       /* counts up to now; NULL: an empty one */
    struct factor_past *factors; /* NULL: runs have noted none */
    struct past *unseen;         /* the time that no run saw, and of which the states of
                                  * associations are to be recorded; NULL: there is none */
    struct past *past; /* NULL: the instant is now.  Else the associations are those of its
                        * instant, and what runs have noted of them is already in it */
};

/* Nothing is known but the ledger that is there; `now` NULL is now. */
void prior_begin(struct prior *prior, const int64_t *now);
/* Read all but the ledger; what is there of it goes. */
int prior_read_notes(struct prior *prior, struct db *results, const char *cluster,
                     const int64_t *now, struct error *err);
/* Read which time no run saw: before the first one, or since the last one. */
int prior_read_unseen(struct prior *prior, struct db *results, const char *cluster,
                      const int64_t *now, struct error *err);
/* Read them with a session of their own; without result tables there is nothing. */
int prior_read(struct prior *prior, const struct settings *settings, const char *cluster,
               const int64_t *now, struct error *err);
void prior_free(struct prior *prior);

#endif
