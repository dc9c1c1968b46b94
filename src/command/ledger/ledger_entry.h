/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_ENTRY_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_ENTRY_H

#include "command/ledger/ledger_target.h"
#include "command/options.h"

struct ledger_book;
struct permissions;
struct settings;
struct terminology;

/* What `ledger` was asked for, and how an entry is made of it. */

struct ledger_entry_options {
    struct shared_options shared;
    const char *action, *subject; /* credit ... undo, and the amount, job or entry */
    const char *user, *account, *partition;
    const char *why, *at;
    bool all;
    struct refund refund;
    const char *from, *to;
    struct name_list jobs, kinds; /* of list */
};

bool action_is(const struct ledger_entry_options *options, const char *action);

/* Add what an entry does, in a few words. */
void add_entry_words(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms);

/* Fail with the entries that are lost or changed, of the cluster if one is named, if any are. */
int ledger_tell_faults(const struct ledger_book *book, const struct name_list *clusters,
                       struct error *err);

/* Whether this viewer may be told of an entry.  Entries of other users are hidden where their usage
 * is private, and refunds wherever anything is, since the ledger does not know whose job it was. */
bool ledger_may_be_told(const struct permissions *permissions, const struct ledger_record *record);

/* Read --since and --until, once the time zone is set; what is not given is no limit.  ERROR_USAGE.
 */
int take_span(const struct ledger_entry_options *options, int64_t *from, int64_t *to,
              struct error *err);

/* Make the entry, or several of a refund, show what they do, ask, and enter them. */
int entry_make(const struct settings *settings, const struct ledger_entry_options *options,
               struct error *err);

#endif
