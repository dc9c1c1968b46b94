/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_H
#define FAIRMILL_CORE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"

/* What one job row adds to usage. */

/* The ids that every slurmdbd gives these TRES. */
enum { TRES_CPU = 1, TRES_BILLING = 5 };

enum tres_reading { TRES_ABSENT, TRES_FOUND, TRES_UNREADABLE };

/* The count of one TRES in a list `id=count,id=count`.  Only that TRES is judged: its count is
 * unreadable where it is no unsigned 64-bit number, or one of the two that stand for "no value"
 * and "infinite". */
enum tres_reading tres_count(const char *list, size_t length, uint64_t id, uint64_t *count);

/* A price: what one TRES costs each second, in units (UNITS_PER_TRES).  At PRICE_TOO_LARGE or
 * above, which is also what a charge must stay below, nothing is charged. */
#define PRICE_TOO_LARGE ((uint128)1 << 104)

/* The price at this factor, rounded once, half to even.  The factor is the decimal with the
 * fewest digits that reads as this double; one that is negative or no number is 1. */
uint128 price_of_factor(double factor);

enum charge { CHARGE_BILLING, CHARGE_CPU };

/* How jobs are charged. */
struct charging {
    const struct clock *clock;
    enum charge charge;
    uint64_t open_job_cap; /* seconds that an open job is charged beyond its time limit */
    bool in_past;          /* now is before the wall clock: what starts after it is no riddle */
};

/* A job row as the source has it; times are epoch seconds, 0 where there is none. */
struct job {
    uint64_t time_submit, time_start, time_end;
    uint64_t time_limit;    /* minutes; 0 or from TIME_LIMIT_NONE on: no limit */
    const char *tres_alloc; /* NULL: the price is the whole charge */
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

/* What the job adds: `units` a second times `weight` of the clock, both 0 where it is nothing. */
struct charge_term {
    uint128 units, weight;
    uint64_t start; /* the first second that counts */
};
enum job_outcome job_charge(const struct charging *charging, const struct job *job, uint128 price,
                            struct charge_term *term);

#endif
