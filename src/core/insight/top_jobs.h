/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_TOP_JOBS_H
#define FAIRMILL_CORE_INSIGHT_TOP_JOBS_H

#include <stddef.h>

#include "core/number/wide.h"

struct charge_term;
struct decay_table;

/* Of many job records the few that weigh most: what each was charged, and what decay has left of
 * it.  Memory grows with the records that were suspended, not with all. */

#define TOP_JOBS_KEPT 10

struct top_job {
    uint64_t id_job, association;
    uint64_t start, end;    /* of the row; end 0 where it is open */
    struct wide used, left; /* sums of a clock that does not decay, and of the run's */
};

struct top_jobs {
    struct top_job kept[TOP_JOBS_KEPT]; /* the heaviest first */
    size_t count;                       /* of these */
    uint64_t seen;                      /* of all records */
    struct wide left;                   /* of all of them */
    struct suspended_jobs *suspensions;
    struct top_job open; /* the record at hand, whose terms are added up ... */
    uint64_t number;     /* ... and its number; 0: there is none */
};

/* A term of the record of this number; those of a record come one after another.  `record` has
 * everything but the sums, which are of its terms.  False where one leaves the integers' range. */
bool top_jobs_add(struct top_jobs *top_jobs, const struct decay_table *plain,
                  const struct charge_term *term, uint64_t number, struct top_job record);
/* Behind the last one; likewise. */
bool top_jobs_end(struct top_jobs *top_jobs);
/* Note what is not charged of a record because the job was suspended for so many seconds.  Call it
 * before top_jobs_add(). */
bool top_jobs_suspend(struct top_jobs *top_jobs, uint64_t id_job, uint64_t start,
                      const struct charge_term *taken_back, uint128 seconds);
void top_jobs_free(struct top_jobs *top_jobs);

/* What was used on each local day, and what decay has left of it.  Memory grows with the days, not
 * with jobs. */

struct usage_day {
    uint64_t first, next;   /* second of the day, and of the one after it */
    struct wide used, left; /* sums of a clock that does not decay, and of the run's */
};

struct daily_usage {
    struct usage_day *days; /* by day */
    size_t count;
};

/* Cut a charge at midnights and add it to its days; `negative`: take it back.  False where a sum
 * leaves the integers' range. */
bool daily_usage_add(struct daily_usage *days, const struct decay_table *plain,
                     const struct decay_table *decay, const struct charge_term *term,
                     bool negative);
/* By what is left of them, the heaviest first; nothing may be added any more. */
void daily_usage_rank(struct daily_usage *days);
void daily_usage_free(struct daily_usage *days);

#endif
