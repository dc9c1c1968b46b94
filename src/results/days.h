/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_DAYS_H
#define FAIRMILL_RESULTS_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/usage/day_sums.h"

struct day_spool;
struct error;
struct publisher;
struct rollup;

/* What associations used on each day, for fairmill_usage_day: gathered while jobs are read, written
 * with what the run publishes.
 *
 * A day's row is the sum over all jobs, of which a run that goes on from the seal reads few.  So it
 * adds to the stored rows what was sealed since, takes away what the run before had counted of jobs
 * that were not sealed (fairmill_usage_open), and adds what these are now.  These are integers, so
 * that a full run finds the same. */

/* What a run has gathered.  Days are those of the process's time zone. */
struct days {
    uint64_t *starts; /* where each day begins, and behind the last where that ends */
    size_t count;
    uint64_t now;
    bool anew;             /* all jobs were read; else those that were not sealed */
    bool unsealed_is_kept; /* there is a seal, on which the next run will go on */
    bool may_look_back;    /* the run was asked for an instant, which may be before others */
    uint64_t oldest_end;   /* of all job rows; UINT64_MAX where none has ended */
    size_t last;           /* the day found last */
    size_t earliest;       /* the first day with a sum; `count`: none has */
    struct day_spool *sealed, *open;
};

/* The days that begin at `from` or later, up to now. */
struct days *days_create(uint64_t from, uint64_t now);
void days_destroy(struct days *days);

/* Add what a job used from `start` to `end`, or take it back. */
int days_add(struct days *days, bool sealed, const struct usage_rate *rate, uint64_t start,
             uint64_t end, struct error *err);
/* Add a rollup, which stands for jobs that were purged, up to `until`. */
int days_add_rollup(struct days *days, uint64_t id, const struct rollup *rollup, uint128 price,
                    uint64_t until, struct error *err);

/* Inside the transaction that publisher_publish() has open; may be called again. */
int days_write(const struct publisher *publisher, struct days *days, struct error *err);

/* Add the sums of a day in `sealed` or `open` to `into`; day by day, as day_spool_take(). */
int days_take(struct days *days, struct day_spool *spool, size_t day, struct day_sums *into,
              struct error *err);

#endif
