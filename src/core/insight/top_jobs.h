/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_TOP_JOBS_H
#define FAIRMILL_CORE_INSIGHT_TOP_JOBS_H

#include <stddef.h>

#include "core/number/wide.h"

struct charge_term;
struct decay_table;

/* Selects, in a scan of job records, the records with the most remaining usage.  Sums the usage and
 * the remaining usage of each record.  Memory grows with the number of suspended records, not with
 * all records. */

#define TOP_JOBS_KEPT 10

struct top_job {
    uint64_t id_job, association;
    uint64_t start, end;    /* of the row; `end` is 0 if the row is open */
    struct wide used, left; /* in units of the undecayed table, and of the run's decay table */
};

struct top_jobs {
    struct top_job kept[TOP_JOBS_KEPT]; /* largest contributors first */
    size_t count;                       /* number of elements of `kept` */
    uint64_t seen;                      /* number of all records */
    struct wide left;                   /* remaining usage of all records */
    struct suspended_jobs *suspensions;
    struct top_job open; /* the record whose terms are being added */
    uint64_t number;     /* number of the record in `open`, or 0 */
};

/* Adds the charge `term` to job record `number`.  Call it for all terms of one record before the
 * next record.  `record` has the ids and times of the job record; `used` and `left` in it are
 * ignored.  `plain` is the table without decay.  Returns false if a sum leaves the range of the
 * integers. */
bool top_jobs_add(struct top_jobs *top_jobs, const struct decay_table *plain,
                  const struct charge_term *term, uint64_t number, struct top_job record);
/* Finishes the last record.  Returns false if a sum leaves the range of the integers. */
bool top_jobs_end(struct top_jobs *top_jobs);
/* Subtracts the charge `taken_back` from a record because the job was suspended for `seconds`
 * seconds.  Must be called before top_jobs_add() for that record.  Returns false if a sum leaves
 * the range of the integers. */
bool top_jobs_suspend(struct top_jobs *top_jobs, uint64_t id_job, uint64_t start,
                      const struct charge_term *taken_back, uint128 seconds);
void top_jobs_free(struct top_jobs *top_jobs);

/* The usage of each local day, and its remaining usage.  Memory grows with the number of days, not
 * jobs. */

struct usage_day {
    uint64_t first, next;   /* first second of the day, and of the next day */
    struct wide used, left; /* in units of the undecayed table, and of the run's decay table */
};

struct daily_usage {
    struct usage_day *days; /* sorted by day, until daily_usage_rank() */
    size_t count;
};

/* Splits a charge at midnights and adds the parts to their days, or subtracts them if `negative`.
 * Returns false if a sum leaves the range of the integers. */
bool daily_usage_add(struct daily_usage *days, const struct decay_table *plain,
                     const struct decay_table *decay, const struct charge_term *term,
                     bool negative);
/* Sorts the days by remaining usage, largest first.  Nothing may be added afterwards. */
void daily_usage_rank(struct daily_usage *days);
void daily_usage_free(struct daily_usage *days);

#endif
