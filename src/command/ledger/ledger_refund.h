/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_REFUND_H
#define FAIRMILL_COMMAND_LEDGER_REFUND_H

#include <stdint.h>

struct error;
struct job_keys;
struct ledger;
struct source;
struct text;

/* Which jobs a refund is about. */

struct refund {
    const char *jobs; /* numbers with commas between them; NULL: those of a node */
    const char *node;
    int64_t from, to; /* between which a part of them ran there, both included */
};

/* Find the jobs, by ascending number and each once, and tell of each in a line whose it was.  Each
 * has rows that began up to `instant`, and the ledger does not refund all of these already: numbers
 * are refused where that is not so (ERROR_USAGE), and of a node's jobs those are left out.
 * ERROR_USAGE also where there is none. */
int refund_find(struct job_keys *jobs, struct text *told, const struct refund *refund,
                uint64_t instant, const struct source *source, const struct ledger *ledger,
                struct error *err);

#endif
