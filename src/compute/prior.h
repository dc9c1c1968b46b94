/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_MEMORIES_H
#define FAIRMILL_COMMAND_MEMORIES_H

#include <stdint.h>

#include "compute/compute.h"

struct error;
struct settings;

/* What a run would know from the results database before it computes a cluster: the ledger, and of
 * an instant that is over what earlier runs noted. */

struct prior {
    struct remembered remembered;
    struct ledger *ledger;
};

/* Read them with a session of their own; `now` NULL is now. */
int prior_read(struct prior *prior, const struct settings *settings, const char *cluster,
               const int64_t *now, struct error *err);
void prior_free(struct prior *prior);

#endif
