/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RUN_BACKFILL_TRES_H
#define FAIRMILL_RUN_BACKFILL_TRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;
struct locked_writer;

/*
 * Fills the usage by TRES of days that have none, and that no run computes any more
 * (results/day_fill.h), from the sums that the source keeps after it purged the jobs.  Daily sums
 * are used if all of them begin with a stored day.  Otherwise, the source sums days in another time
 * zone, and hourly sums are used.  A day is filled only if the sums of the source cover it.
 */
struct tres_fill_request {
    const int64_t *since, *until; /* first and last start of a day; NULL means no bound */
    bool dry_run;                 /* only count the days */
};

struct tres_fill_result {
    size_t missing; /* days without usage by TRES that no run computes any more */
    size_t filled;  /* those among them that were filled (would be filled if dry_run) */
};

/*
 * `writer` names the cluster and must be open.  `source` is the accounting database.  Returns -1 on
 * error; days that were written before the error are kept.
 */
int tres_fill(struct locked_writer *writer, struct db *source,
              const struct tres_fill_request *request, struct tres_fill_result *result,
              struct error *err);

#endif
