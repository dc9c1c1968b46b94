/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SHARE_ROWS_H
#define FAIRMILL_RESULTS_SHARE_ROWS_H

#include <stdint.h>

struct db;
struct error;
struct names;
struct association_history;
struct publication;
struct publisher;
struct tree;

/*
 * Reads and writes fairmill_share_change, in which runs record associations with their shares and
 * parents.  The first run records all associations.  Later runs record only associations that were
 * changed or modified. fairmill_share_state has a hash of the latest state.
 */

/*
 * Reads all rows of a cluster.  The caller frees them with share_records_free(), which accepts
 * NULL.  Returns -1 on error.
 */
struct share_records;
int share_records_read(struct db *db, const char *cluster, struct share_records **records,
                       struct error *err);
void share_records_free(struct share_records *records);

/*
 * Adds all recorded states to `history`.  Sets its two runs: the last run up to the history's time,
 * and the first run after that time.  If a row is damaged, adds nothing and sets
 * history->distrusted.
 */
void share_records_tell(const struct share_records *records, struct association_history *history);

/* Reads the rows and adds their observations to one history.  Returns -1 on error. */
int share_rows_read(struct db *db, const char *cluster, struct association_history *history,
                    struct error *err);

/*
 * Sets `*last` to the time of the last run that recorded associations, or NEVER (-1).  Returns -1
 * on error.
 */
int share_rows_last(struct db *db, const char *cluster, int64_t *last, struct error *err);

/*
 * Records the associations that changed.  Writes nothing if the tree, as of publication->seen_at,
 * is older than the last record.  Must run inside the transaction that publisher_publish() opened.
 * Returns -1 on error.
 */
int share_rows_write(const struct publisher *publisher, const struct publication *publication,
                     struct error *err);

/*
 * Removes all records of a cluster after a record was damaged, because later records depend on it.
 * The run then records all associations, like a first run.  Must run inside the transaction that
 * publisher_publish() opened.
 */
int share_rows_forget(const struct publisher *publisher, struct error *err);

/* Returns a hash of all associations with their names, shares and parents. */
uint64_t share_rows_hash(const struct tree *tree, const struct names *names);

#endif
