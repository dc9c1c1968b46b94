/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_ENTRY_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_ENTRY_H

#include "command/ledger/ledger_target.h"
#include "command/options.h"

struct ledger_book;
struct permissions;
struct settings;
struct terminology;

/* Defines the options of `ledger`, and makes ledger entries from them. */

struct ledger_entry_options {
    struct shared_options shared;
    /* the action, such as credit or undo; its amount, job, entry or file */
    const char *action, *subject;
    const char *user, *account, *partition;
    const char *why;
    bool all;
    struct refund refund;
    struct option_time at;
    struct option_time from, to;  /* INT64_MIN and INT64_MAX: no limit */
    struct name_list jobs, kinds; /* filters of `ledger list` */
};

/* Returns true if `action`, such as `credit` or `undo`, is the action on the command line. */
bool action_is(const struct ledger_entry_options *options, const char *action);

/* Adds a short description of the entry, such as `refund job 4711`. */
void add_entry_words(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms);

/* Returns -1 with an error that lists lost and changed entries, if there are any; if `clusters`
 * names one cluster, only its entries. */
int ledger_tell_faults(const struct ledger_book *book, const struct name_list *clusters,
                       struct error *err);

/* Returns true if the user may see the entry.  Entries of other users are hidden if their usage is
 * private.  Refunds are hidden if anything is private, because the ledger does not contain the user
 * of a job. */
bool ledger_may_be_told(const struct permissions *permissions, const struct ledger_record *record);

/* Makes an entry, or several for a refund.  Shows the effect and asks for confirmation, and then
 * writes the entries to the ledger.  With --yes, only writes; with --dry-run, only shows the
 * effect.  Returns -1 on error or without confirmation. */
int entry_make(const struct settings *settings, const struct ledger_entry_options *options,
               struct error *err);

#endif
