/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_MEMORIES_H
#define FAIRMILL_COMMAND_MEMORIES_H

#include <stdint.h>

#include "compute.h"

struct error;
struct settings;

/* What a run would know from the results database before it computes a cluster: the ledger, and of
 * an instant that is over what earlier runs noted. */

struct memories {
    struct remembered remembered;
    struct ledger *ledger;
};

/* Read them with a session of their own; `now` NULL is now. */
int memories_read(struct memories *memories, const struct settings *settings, const char *cluster,
                  const int64_t *now, struct error *err);
void memories_free(struct memories *memories);

#endif
