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

/* The rows of fairmill_share_change, in which runs record associations, their shares and parents:
 * all of them at first, then those that have changed or that the source has touched.
 * fairmill_share_state has a hash of the last ones. */

/* All rows of a cluster; to be freed with share_records_free(), which takes NULL. */
struct share_records;
int share_records_read(struct db *db, const char *cluster, struct share_records **records,
                       struct error *err);
void share_records_free(struct share_records *records);
/* Where one is not as it was noted, nothing is told by them but that (past->distrusted).  Else:
 * add to the past what the last run up to its instant saw, and the first run after it. */
void share_records_tell(const struct share_records *records, struct association_history *history);
/* Both, for one past. */
int share_rows_read(struct db *db, const char *cluster, struct association_history *history,
                    struct error *err);

/* The last run that saw the associations; NEVER (-1) where none did. */
int share_rows_last(struct db *db, const char *cluster, int64_t *last, struct error *err);

/* Inside the transaction that publisher_publish() has open: record what is not as it was.  Nothing
 * is written where the tree, as of publication->seen_at, is older than the last record. */
int share_rows_write(const struct publisher *publisher, const struct publication *publication,
                     struct error *err);

/* Likewise: remove them all, since one is not what was noted, and what was seen later hangs on it.
 * Then the run notes all associations as the first one did. */
int share_rows_forget(const struct publisher *publisher, struct error *err);

/* A hash of all associations, their names, shares and parents. */
uint64_t share_rows_hash(const struct tree *tree, const struct names *names);

#endif
