/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_USAGE_H
#define FAIRMILL_CORE_USAGE_USAGE_H

#include "core/usage/charge_rates.h"
#include "core/usage/decay_table.h"

/*
 * Computes how much a job row adds to usage.
 *
 * A scan of job rows computes usage in four steps:
 *
 *   1. job_span() derives from a row's times the seconds for which the job may be charged.
 *
 *   2. charge_interval_first() and charge_interval_next() (usage_owners.h) cut these seconds into
 *      charge intervals.  Within an interval, the charge rate and the usage owner are constant.
 *
 *   3. job_charge() computes the charge per second and the weight of the interval after decay
 *      (decay_table.h).  Their product is the usage.
 *
 *   4. Accumulators (compute/accumulators.h) add the product to the association's sum.
 *
 * All sums are exact integers, and they do not depend on the current time until the decay epoch
 * advances.  So neither the order of rows nor the cuts between intervals change a sum.  Two
 * optimizations depend on this:
 *
 *   - The checkpoint (checkpoint.h) stores the sums of jobs that ended long ago.  Later runs
 *     continue from these sums.
 *
 *   - The multi-time accumulator computes usage at several times in one scan.  It adds a job row
 *     once for all times after the job's end.  It charges the row again only for the times at which
 *     the job was still running.
 */

/*
 * The version of the charging rules.  A checkpoint that was stored with another version is invalid,
 * and the next run is full.  Increase it at most once per release, if the release charges any job
 * row differently.  Version 2 (0.3.0): a job without billing is charged 0.
 */
#define CHARGING_RULES 2

/* Slurm's "no value" of a TRES count; the next number means "infinite". */
#define TRES_NO_VALUE UINT64_C(0xfffffffffffffffe)

enum tres_reading { TRES_ABSENT, TRES_FOUND, TRES_UNREADABLE };

/*
 * Reads the count of one TRES from a list `id=count,id=count`.  Other items are not checked.
 * Returns TRES_UNREADABLE if the count is not an unsigned 64-bit number, or is Slurm's value for
 * "no value" or "infinite".
 */
enum tres_reading tres_count(const char *list, size_t length, uint64_t id, uint64_t *count);

/* The settings and the state with which jobs are charged.  Times are in epoch seconds. */
struct charging {
    const struct decay_table *decay;
    enum charge_basis charge;
    uint64_t open_job_cap; /* maximum seconds that an open job is charged beyond its time limit */
    bool in_past;          /* now is a past time; later starts and ends are not findings */
    uint64_t from;         /* jobs are charged from this time on; rollups replace earlier usage */
    uint64_t days_from;    /* usage after this time is added to its day even if its weight is 0 */
};

/* A job row of the accounting database.  Times are in epoch seconds; 0 means unknown. */
struct job {
    uint64_t time_submit, time_start, time_end;
    uint64_t time_limit;    /* minutes; no limit if 0, TIME_LIMIT_NONE or above */
    const char *tres_alloc; /* NULL if the charge rate is the whole charge */
    size_t tres_alloc_length;
    /* Seconds, or 0 for no maximum.  A job that has no end and no limit and has been open for
     * longer is reported as JOB_OPEN_FOR_LONG. */
    uint64_t open_for_long;
};
#define TIME_LIMIT_NONE 0xfffffffeu
/* Tolerance in seconds for job times that are later than now. */
#define CLOCK_SKEW_S 300

enum job_outcome {
    JOB_CHARGED, /* the charge may be 0 */
    /* Charged, but reported as a finding: */
    JOB_CAPPED,            /* open far beyond its limit: charged up to open_job_cap beyond it */
    JOB_ENDS_IN_FUTURE,    /* charged as an open job */
    JOB_OPEN_FOR_LONG,     /* charged as an open job; has no limit that shows if it still runs */
    JOB_ENDS_BEYOND_LIMIT, /* charged up to its end, which is far beyond its limit */
    JOB_OTHER_WEIGHTS, /* charged by its billing, which does not match its partition's weights */
    /* Charged nothing: */
    JOB_ENDS_BEFORE_START,
    JOB_STARTS_IN_FUTURE,
    JOB_TRES_UNREADABLE,
    JOB_CHARGE_TOO_LARGE,
};
static inline bool job_is_charged(enum job_outcome outcome)
{
    return outcome < JOB_ENDS_BEFORE_START;
}

/* The time for which a job may be charged, as of now.  Only job_span() interprets a row's times. */
struct job_span {
    uint64_t start, end; /* the seconds that may be charged; none if end <= start */
    uint64_t ended; /* its time_end; 0 if it is open or ends more than CLOCK_SKEW_S after now */
    enum job_outcome outcome;
};
struct job_span job_span(const struct charging *charging, const struct job *job);
/*
 * The times at which slurmctld registered with slurmdbd.  slurmctld runs a decay cycle when it
 * registers and then once per period, until it is restarted.
 */
struct passes {
    uint64_t *registered; /* ascending */
    size_t count;
};
/*
 * Returns a time at or before `now` that is a whole number of periods after the decay cycle just
 * before `before`.  Cycles are counted from the last registration before `before`.  If `now` is
 * closer to `before` than that registration, cycles are counted backwards from `now`.  The reason
 * is that in some releases, each cycle comes slightly later than a period.
 */
uint64_t passes_newest(const struct passes *passes, uint64_t now, uint64_t period, uint64_t before);
/*
 * Returns the time of slurmctld's last decay cycle before `before`, or 0 if that would be before
 * 1970.  slurmctld runs a cycle every `period` seconds.  The newest cycle was at `newest`.
 */
uint64_t last_pass(uint64_t newest, uint64_t period, uint64_t before);
/*
 * Sets `*span` to the time after the job's end that slurmctld also charged.  The job was suspended
 * until it was cancelled at `noted`.  slurmctld charges suspended jobs in each decay cycle, so this
 * time ends at the last cycle before `noted`.
 */
void job_span_suspended(struct job_span *span, uint64_t noted, uint64_t newest, uint64_t period);
/*
 * Returns the start of the row.  A later row of a resized job starts at its time_submit, which is
 * the time of the resize.
 */
uint64_t job_begin(const struct job *job);

/*
 * A charge: `units` per second times `weight` from the decay table.  If only the weight is 0, the
 * usage is still added to its days.  If only `units` is 0, the job is free, but its usage by TRES
 * counts.  All members are 0 if there is no time to charge.
 */
struct charge_term {
    uint128 units, weight;
    uint64_t narrow;     /* the narrow weight, for usage by TRES */
    uint64_t start, end; /* the first charged second, and the first second after the charged time */
};
enum job_outcome job_charge(const struct charging *charging, const struct job *job,
                            const struct job_span *span, const struct charge_rate *rate,
                            struct charge_term *term);

/*
 * Returns the units charged per second for a list of TRES.  Sets `*outcome` to JOB_CHARGED or
 * JOB_OTHER_WEIGHTS, or to the reason why nothing is charged.
 */
uint128 tres_charge(enum charge_basis charge, const struct charge_rate *rate, const char *list,
                    size_t length, enum job_outcome *outcome);

/*
 * The position in an iteration over the suspended intervals of jobs, which are ordered by job and
 * start.  Initialize it with zeros.
 */
struct suspensions {
    uint64_t key, counted_from, counted_to; /* the used part of the last interval */
};
/*
 * Returns the weight of the suspended interval from `start` to `end`, limited to the time of the
 * job's charge.  Excludes seconds that an earlier interval of the job covered.  If `end` is 0, the
 * interval ends with the job.  If `start` is 0, there is no interval.  If all seconds are excluded,
 * returns 0 and sets `counted_from` to `counted_to`.
 */
uint128 suspensions_weight(struct suspensions *suspensions, const struct decay_table *decay,
                           uint64_t key, const struct charge_term *term, uint64_t start,
                           uint64_t end);

#endif
