/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_LEDGER_ROWS_H
#define FAIRMILL_RESULTS_LEDGER_ROWS_H

#include "core/usage/ledger.h"

struct db;
struct error;
struct settings;

/* The ledger's tables: read by runs, and added to by people; nothing here changes or deletes. */

/* An entry with all its columns, also those that no computation needs.  Texts are UTF-8; a name is
 * "" where there is none. */
struct ledger_record {
    struct ledger_entry entry;
    int64_t entered_at;
    char *cluster, *who, *why;
    char *account, *user, *partition;
    uint64_t covers; /* how many associations a reset covers */
};
void ledger_record_free(struct ledger_record *record);

/* A cluster's entries, to be destroyed. */
int ledger_read(struct db *db, const char *cluster, struct ledger **ledger, struct error *err);
/* The same with a session of its own; the ledger is empty where there are no results yet. */
int ledger_look_up(const struct settings *settings, const char *cluster, struct ledger **ledger,
                   struct error *err);

/* Every cluster's entries, by id, to be freed one by one with their array. */
int ledger_read_all(struct db *db, struct ledger_record **records, size_t *count,
                    struct error *err);

/* Add an entry with the next id, and what it covers where it is a reset, in a transaction of its
 * own.  Where that fails, *in_doubt is true if the entry may be there: the answer to COMMIT was
 * lost. */
int ledger_enter(struct db *db, struct ledger_record *record, const uint64_t *covers, size_t count,
                 bool *in_doubt, struct error *err);
/* Whether it is there, by a session that is newer than the lost one.  That it is not there yet
 * proves nothing: the server may be about to commit. */
int ledger_has(struct db *db, const struct ledger_record *record, bool *there, struct error *err);

#endif
