/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_LEDGER_ROWS_H
#define FAIRMILL_RESULTS_LEDGER_ROWS_H

#include "results/ledger_book.h"

struct db;
struct error;
struct settings;

/* The ledger's tables: read by runs, and added to by people; nothing here changes or deletes. */

/* Read all, to be given back.  Entries of a kind that is not known are an error where they are of
 * this cluster (NULL: of any): whoever made them meant them to count. */
int ledger_book_read(struct db *db, const char *cluster, struct ledger_book *book,
                     struct error *err);

/* A cluster's entries, to be destroyed. */
int ledger_read(struct db *db, const char *cluster, struct ledger **ledger, struct error *err);
/* The same with a session of its own; the ledger is empty where there are no results yet. */
int ledger_look_up(const struct settings *settings, const char *cluster, struct ledger **ledger,
                   struct error *err);

/* Add entries with the next ids, and what they cover where they are resets, all or none, in a
 * transaction of their own.  Where that fails, *in_doubt is true if they may be there: the answer
 * to COMMIT was lost. */
int ledger_enter(struct db *db, struct ledger_record *records, size_t count, bool *in_doubt,
                 struct error *err);
/* Whether it is there, by a session that is newer than the lost one.  That it is not there yet
 * proves nothing: the server may be about to commit. */
int ledger_has(struct db *db, const struct ledger_record *record, bool *there, struct error *err);

/* Note, in the caller's transaction, which of a cluster's entries a run has counted. */
int ledger_counted_write(struct db *db, const struct ledger_book *book, const char *cluster,
                         struct error *err);

/* An entry from elsewhere, as it was made there. */
struct ledger_import {
    struct ledger_record record;
    struct ledger_mark mark; /* without the id and the cluster, which the record has */
    size_t line;             /* of the file, for messages */
};
struct ledger_imports {
    const struct ledger_import *list; /* by id, each once */
    size_t count;
    bool dry_run; /* add nothing after all */
};
/* Add those of these that are not there, all or none, in one transaction.  What contradicts the
 * ledger is refused (ERROR_DATA) by its line. */
int ledger_import(struct db *db, const struct ledger_imports *imports, size_t *added,
                  struct error *err);

#endif
