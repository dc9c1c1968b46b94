/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_TARGET_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_TARGET_H

#include <stdint.h>

#include "core/usage/checkpoint.h"
#include "util/text.h"

struct accounting;
struct error;
struct ledger;
struct ledger_record;
struct source;

/* What an entry of the ledger is about, found in the accounting database.  Where nothing answers to
 * its names, ERROR_USAGE says so. */

/* The association of the record's user, account and partition, one that was deleted too.  Without
 * an account it is the only one that the user has, and the record gets its account; ERROR_USAGE
 * names them where there are several. */
int target_association(const struct source *source, struct ledger_record *record,
                       struct error *err);

/* Give the record the associations whose usage a reset of its user, or of its account, is about:
 * with those that were deleted and whose usage counts there.  A set, whose account is known, is
 * about its partition only. */
int target_covers(const struct source *source, struct ledger_record *record, struct error *err);

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
int refund_find(struct refund *refund, uint64_t time, const struct source *source,
                const struct ledger *ledger, struct error *err);

#endif
