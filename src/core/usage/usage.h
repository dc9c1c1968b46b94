/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_H
#define FAIRMILL_CORE_USAGE_H

#include "core/usage/clock.h"
#include "core/usage/tariff.h"

/* What one job row adds to usage. */

enum tres_reading { TRES_ABSENT, TRES_FOUND, TRES_UNREADABLE };

/* The count of one TRES in a list `id=count,id=count`.  Only that TRES is checked: its count is
 * unreadable where it is no unsigned 64-bit number, or one of the two that stand for "no value"
 * and "infinite". */
enum tres_reading tres_count(const char *list, size_t length, uint64_t id, uint64_t *count);

/* How jobs are charged. */
struct charging {
    const struct clock *clock;
    enum charge_basis charge;
    uint64_t open_job_cap; /* seconds that an open job is charged beyond its time limit */
    bool in_past;       /* now is before the wall clock: jobs that start after it are nothing odd */
    uint64_t from;      /* before this instant rollups count instead of jobs */
    uint64_t days_from; /* what was used after it counts for its day, whatever the clock says */
};

/* A job row as the source has it; times are epoch seconds, 0 where there is none. */
struct job {
    uint64_t time_submit, time_start, time_end;
    uint64_t time_limit;    /* minutes; 0 or from TIME_LIMIT_NONE on: no limit */
    const char *tres_alloc; /* NULL: the tariff's price is the whole charge */
    size_t tres_alloc_length;
};
#define TIME_LIMIT_NONE 0xfffffffeu

enum job_outcome {
    JOB_CHARGED, /* perhaps with nothing */
    JOB_CAPPED,  /* charged, but open far beyond its limit */
    /* These charge nothing: */
    JOB_ENDS_BEFORE_START,
    JOB_STARTS_IN_FUTURE,
    JOB_TRES_UNREADABLE,
    JOB_CHARGE_TOO_LARGE,
};

/* What the job adds: `units` a second times `weight` of the clock, both 0 where it is nothing.
 * Where only the weight is 0, it still counts for its days. */
struct charge_term {
    uint128 units, weight;
    uint64_t start, end; /* the first second that counts, and the first that does not any more */
};
enum job_outcome job_charge(const struct charging *charging, const struct job *job,
                            const struct tariff *tariff, struct charge_term *term);

/* What a list of TRES is charged each second; *outcome is JOB_CHARGED, or why it is nothing. */
uint128 tres_charge(enum charge_basis charge, const struct tariff *tariff, const char *list,
                    size_t length, enum job_outcome *outcome);

/* A walk through the times when jobs were suspended, job by job and within a job by ascending
 * start.  Zeroed, it is at its beginning. */
struct suspensions {
    uint64_t key, counted_from, counted_to; /* what of an interval counted last */
};
/* How much of the weight of a job's term goes to the interval, of which no second counts twice.
 * An end of 0 is the job's own, and a start of 0 is no interval.  Where nothing of it counts,
 * counted_from becomes counted_to. */
uint128 suspensions_weight(struct suspensions *suspensions, const struct clock *clock, uint64_t key,
                           const struct charge_term *term, uint64_t start, uint64_t end);

#endif
