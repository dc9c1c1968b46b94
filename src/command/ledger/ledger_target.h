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

/* Finds the subject of a ledger entry in the accounting database.  Returns -1 with ERROR_USAGE if a
 * name matches nothing. */

/* Finds the association of the record's user, account and partition; it may be deleted.  Without an
 * account in the record, the user must have only one such association, and its account is added to
 * the record.  If there are several, ERROR_USAGE lists them. */
int target_association(const struct source *source, struct ledger_record *record,
                       struct error *err);

/* Fills record->covers with the associations whose usage a reset of the user or account affects.
 * Includes deleted associations whose usage is charged to the user or account.  For a set, the
 * account is known, and only the record's partition is affected. */
int target_covers(const struct source *source, struct ledger_record *record, struct error *err);

/* The jobs of a refund. */

struct refund {
    const char *jobs; /* numbers, separated by commas; NULL: the jobs of a node */
    const char *node;
    int64_t from, to; /* limits, both included, of a period in which the jobs ran on the node */
    /* Results: */
    struct job_keys found; /* in ascending order, without duplicates */
    struct text told;      /* a line for each job, with its user */
};

/* Finds the jobs.  Each job must have rows that began at or before `time`, and the ledger must not
 * already refund all of these rows.  Otherwise, a job given by its number is an error, and a job of
 * a node is omitted.  Returns -1 with ERROR_USAGE if no job remains. */
int refund_find(struct refund *refund, uint64_t time, const struct source *source,
                const struct ledger *ledger, struct error *err);

#endif
