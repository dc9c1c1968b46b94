/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LIST_H
#define FAIRMILL_COMMAND_LEDGER_LIST_H

struct error;
struct ledger_book;
struct ledger_record;
struct name_list;
struct published_filter;
struct settings;
struct table_options;
struct text;
struct words;

/* Add what an entry does, in a few words. */
void add_entry_words(struct text *text, const struct ledger_record *record,
                     const struct words *words);

/* Fail with the entries that are lost or changed, of the cluster where one is named, if any are. */
int ledger_tell_faults(const struct ledger_book *book, const struct name_list *clusters,
                       struct error *err);

/* Print the entries of the ledger that the filter wants and the caller may see. */
int ledger_print(const struct settings *settings, const struct published_filter *filter,
                 const struct table_options *options, struct error *err);

#endif
