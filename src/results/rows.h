/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ROWS_H
#define FAIRMILL_RESULTS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"

struct findings;
struct publication;
struct publisher;
struct run_record;
struct text;

/* The rows that a run writes, inside the transaction that publisher_publish() has open. */

int rows_write_fairshare(const struct publisher *publisher, const struct publication *publication,
                         int64_t as_of, struct error *err);
/* Findings that are there keep their first_seen and count the runs that saw them; at most
 * FINDINGS_PER_KIND of a kind stay, those seen last. */
int rows_write_findings(const struct publisher *publisher, const struct findings *findings,
                        int64_t as_of, struct error *err);
int rows_write_run(const struct publisher *publisher, const struct run_record *record,
                   const char *status, struct error *err);

/* Run a query that answers with one integer at most; *found is whether it did. */
int rows_read_integer(struct db *db, const char *sql, const struct db_value *arguments,
                      size_t count, int64_t *integer, bool *found, struct error *err);

/* A name as UTF-8.  Nearly all are that already; `converted` holds the others. */
struct db_value rows_name(const char *name, struct text *converted);

#endif
