/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_PRIOR_H
#define FAIRMILL_PRIOR_H

#include <stdint.h>

struct error;
struct settings;

/* What is known from the results database of a cluster before it is computed. */
struct prior {
    struct ledger *ledger; /* counts up to now; NULL: an empty one */
    struct past *past;     /* NULL: the instant is now.  Else the associations are those of its
                            * instant, and what runs have noted of them is already in it */
};

/* Read them with a session of their own; `now` NULL is now. */
int prior_read(struct prior *prior, const struct settings *settings, const char *cluster,
               const int64_t *now, struct error *err);
void prior_free(struct prior *prior);

#endif
