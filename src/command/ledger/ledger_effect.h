/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_EFFECT_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_EFFECT_H

struct db;
struct error;
struct ledger;
struct source;
struct text;

/* Add what a ledger in place of another changes as of the source's instant: usage and fairshare of
 * each association whose usage differs.  Reads what a run would, and writes nothing. */
int ledger_add_effect(struct text *text, const struct source *source, struct db *results,
                      struct ledger *before, struct ledger *after, struct error *err);

#endif
