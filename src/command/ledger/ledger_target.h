/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_TARGET_H
#define FAIRMILL_COMMAND_LEDGER_TARGET_H

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

/* Read the small tables of the source's cluster, and do what `look` does in the same snapshot. */
typedef int target_looker(void *context, struct accounting *accounting, struct error *err);
int target_in_snapshot(const struct source *source, target_looker *look, void *context,
                       struct error *err);

#endif
