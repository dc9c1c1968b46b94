/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_H
#define FAIRMILL_COMMAND_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct ledger;
struct ledger_record;
struct published_filter;
struct settings;
struct table_options;
struct source;
struct text;

/* What the parts of `fairmill ledger` share, and who prints its commands. */

/* What credits and debits may be: a decimal that comes to a whole number of TRES-seconds above 0,
 * so that an entry is an integer. */
bool amount_parse(const char *text, size_t length, uint64_t unit_s, uint64_t *seconds);

/* Add what an entry does, in a few words. */
void add_entry_words(struct text *text, const struct ledger_record *record);

/* Print the entries of the ledger that the filter wants and the caller may see. */
int ledger_print(const struct settings *settings, const struct published_filter *filter,
                 const struct table_options *options, struct error *err);

/* Add what a ledger in place of another changes as of the source's instant: usage and fairshare of
 * each association whose usage is another.  Reads what a run would, and writes nothing. */
int ledger_add_effect(struct text *text, const struct source *source, struct db *results,
                      struct ledger *before, struct ledger *after, struct error *err);

#endif
