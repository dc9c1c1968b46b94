/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_EFFECT_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_EFFECT_H

struct db;
struct error;
struct ledger;
struct source;
struct text;

/* Adds a table of the associations whose usage changes if the ledger `after` replaces the ledger
 * `before`, with their usage and fairshare.  Computes both at the source's time.  Reads the same
 * data as a run, and writes nothing.  Returns -1 on error. */
int ledger_add_effect(struct text *text, const struct source *source, struct db *results,
                      struct ledger *before, struct ledger *after, struct error *err);

#endif
