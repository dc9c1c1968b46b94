/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_TARGET_H
#define FAIRMILL_COMMAND_LEDGER_TARGET_H

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

/* See that the record's job has rows that began up to the record's instant, and that the ledger
 * does not refund all of them already. */
int target_job(const struct source *source, const struct ledger_record *record,
               const struct ledger *ledger, struct error *err);

#endif
