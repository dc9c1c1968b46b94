/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_LEDGER_ROWS_H
#define FAIRMILL_RESULTS_LEDGER_ROWS_H

#include "results/ledger_book.h"

struct db;
struct error;
struct settings;

/*
 * The tables of the ledger.  Runs read them, and users add entries.  Nothing here changes or
 * deletes entries.  Functions return -1 on error.
 */

/*
 * Reads the whole ledger.  The caller frees it with ledger_book_free().  Fails if an entry of this
 * cluster has an unknown kind, because such an entry was meant to change usage.  If `cluster` is
 * NULL, this applies to the entries of all clusters.
 */
int ledger_book_read(struct db *db, const char *cluster, struct ledger_book *book,
                     struct error *err);

/* Reads a cluster's entries.  The caller frees them with ledger_destroy(). */
int ledger_read(struct db *db, const char *cluster, struct ledger **ledger, struct error *err);

/* Reads a cluster's entries with a new session.  Without result tables, the ledger is empty. */
int ledger_look_up(const struct settings *settings, const char *cluster, struct ledger **ledger,
                   struct error *err);

/*
 * Adds entries with the next ids, and the associations that they cover, in a transaction of their
 * own.  Adds either all entries or none.  If the call fails, `*in_doubt` is true if the entries may
 * exist because the response to COMMIT was lost.
 */
int ledger_enter(struct db *db, struct ledger_record *records, size_t count, bool *in_doubt,
                 struct error *err);

/*
 * Sets `*there` to whether the ledger contains the entry.  If ledger_enter() set `*in_doubt`, use a
 * new session.  Even if the entry is missing now, the server may still commit it.
 */
int ledger_has(struct db *db, const struct ledger_record *record, bool *there, struct error *err);

/*
 * Records the entries of a cluster that a run has applied.  Must run inside the caller's
 * transaction.
 */
int ledger_counted_write(struct db *db, const struct ledger_book *book, const char *cluster,
                         struct error *err);

/* An entry from an export file, with the hashes in that file. */
struct ledger_import {
    struct ledger_record record;
    struct ledger_mark mark; /* without id and cluster, which `record` has */
    size_t line;             /* line in the file, for messages */
};
struct ledger_imports {
    const struct ledger_import *list; /* in ascending order of id, each id once */
    size_t count;
    bool dry_run; /* check only; add nothing */
};

/*
 * Adds the entries that the ledger lacks in one transaction: either all of these entries or none.
 * Sets `*added` to the number of entries that were added.  Fails with ERROR_DATA and the number of
 * the line if an entry contradicts the ledger.
 */
int ledger_import(struct db *db, const struct ledger_imports *imports, size_t *added,
                  struct error *err);

#endif
