/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LEDGER_LEDGER_EFFECT_H
#define FAIRMILL_COMMAND_LEDGER_LEDGER_EFFECT_H

#include <stdbool.h>

struct db;
struct error;
struct ledger;
struct source;
struct ledger_record;
struct settings;
struct text;

/* Adds a table of the associations whose usage changes if the ledger `after` replaces the ledger
 * `before`, with their usage and fairshare.  Computes both at the source's time.  Reads the same
 * data as a run, and writes nothing.  Returns -1 on error. */
int ledger_add_effect(struct text *text, const struct source *source, struct db *results,
                      struct ledger *before, struct ledger *after, struct error *err);

/*
 * Adds that Slurm does not know the entry, and for a reset that applies from now on the sacctmgr
 * command that resets Slurm's usage.  Adds nothing for other schedulers.
 */
void ledger_add_slurm_note(struct text *text, const struct settings *settings,
                           const struct ledger_record *record, bool from_now_on);

#endif
