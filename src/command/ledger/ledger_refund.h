/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_REFUND_H
#define FAIRMILL_COMMAND_LEDGER_REFUND_H

#include <stdint.h>

#include "core/usage/seal.h"
#include "util/text.h"

struct error;
struct ledger;
struct source;

/* Which jobs a refund is about. */

struct refund {
    const char *jobs; /* numbers with commas between them; NULL: those of a node */
    const char *node;
    int64_t from, to; /* between which a part of them ran there, both included */
    /* What was found. */
    struct job_keys found; /* by ascending number, each once */
    struct text told;      /* a line of each, with whose it was */
};

/* Find the jobs.  Each has rows that began up to `instant`, and the ledger does not refund all of
 * these already: numbers are refused where that is not so (ERROR_USAGE), and of a node's jobs those
 * are left out. ERROR_USAGE also where there is none. */
int refund_find(struct refund *refund, uint64_t instant, const struct source *source,
                const struct ledger *ledger, struct error *err);

#endif
