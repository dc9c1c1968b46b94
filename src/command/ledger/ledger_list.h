/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_LIST_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_LIST_H

#include "results/published.h"

struct error;
struct ledger_book;
struct ledger_record;
struct settings;
struct table_options;
struct text;
struct permissions;
struct terminology;

/* Add what an entry does, in a few words. */
void add_entry_words(struct text *text, const struct ledger_record *record,
                     const struct terminology *terms);

/* Fail with the entries that are lost or changed, of the cluster where one is named, if any are. */
int ledger_tell_faults(const struct ledger_book *book, const struct name_list *clusters,
                       struct error *err);

/* Whether this viewer may be told of an entry.  Entries of other users are hidden where their usage
 * is private, and refunds wherever anything is, since the ledger does not know whose job it was. */
bool ledger_may_be_told(const struct permissions *permissions, const struct ledger_record *record);

/* Which entries are wanted. */
struct ledger_filter {
    struct published_filter names;
    const char *partition;        /* NULL: any, and none */
    struct name_list jobs, kinds; /* an empty list: all */
    int64_t from, to;             /* of their instants, both included */
};

/* Print the entries of the ledger that the filter wants and the caller may see. */
int ledger_print(const struct settings *settings, const struct ledger_filter *filter,
                 const struct table_options *options, struct error *err);

#endif
