/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SHARE_ROWS_H
#define FAIRMILL_RESULTS_SHARE_ROWS_H

#include <stdint.h>

struct db;
struct error;
struct names;
struct past;
struct publication;
struct publisher;
struct tree;

/* The rows of fairmill_share_change, in which runs note what associations there are, their shares
 * and parents, and from then on what has changed; fairmill_share_state has what they last knew, as
 * a hash. */

/* Tell the past of everything that runs noted. */
int share_rows_read(struct db *db, const char *cluster, struct past *past, struct error *err);

/* Inside the publishing transaction: note what is not as it was.  `seen_at` is when the source had
 * it so; what is older than the last note is left alone. */
int share_rows_write(const struct publisher *publisher, const struct publication *publication,
                     int64_t seen_at, struct error *err);

/* A hash of all associations, their names, shares and parents. */
uint64_t share_rows_hash(const struct tree *tree, const struct names *names);

#endif
