/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_USAGE_USAGE_H
#define FAIRMILL_CORE_USAGE_USAGE_H

#include "core/usage/charge_rates.h"
#include "core/usage/decay_table.h"

/* What one job row adds to usage. */

/* The number of the charging rules.  A checkpoint that was stored under another number is invalid,
 * and the next run is full.  Raise it in each release that charges any job row differently from the
 * release before; once per release is enough.  2: an absent billing is 0 (0.3.0). */
#define CHARGING_RULES 2

enum tres_reading { TRES_ABSENT, TRES_FOUND, TRES_UNREADABLE };

/* The count of one TRES in a list `id=count,id=count`.  Only that TRES is checked: its count is
 * unreadable where it is no unsigned 64-bit number, or one of the two that stand for "no value"
 * and "infinite". */
enum tres_reading tres_count(const char *list, size_t length, uint64_t id, uint64_t *count);

/* How jobs are charged. */
struct charging {
    const struct decay_table *decay;
    enum charge_basis charge;
    uint64_t open_job_cap; /* seconds that an open job is charged beyond its time limit */
    bool in_past;          /* now is before the wall clock: what jobs do after it is nothing odd */
    uint64_t from;         /* before this instant rollups count instead of jobs */
    uint64_t days_from;    /* what was used after it counts for its day, whatever the clock says */
};

/* A job row as the source has it; times are epoch seconds, 0 where there is none. */
struct job {
    uint64_t time_submit, time_start, time_end;
    uint64_t time_limit;    /* minutes; 0 or from TIME_LIMIT_NONE on: no limit */
    const char *tres_alloc; /* NULL: the tariff's price is the whole charge */
    size_t tres_alloc_length;
    uint64_t open_for_long; /* seconds after which it is a finding if it has no end and no limit; 0:
                             * never */
};
#define TIME_LIMIT_NONE 0xfffffffeu
/* A job's times may be this much later than our clock before they are called odd. */
#define CLOCK_SKEW_S 300

enum job_outcome {
    JOB_CHARGED, /* perhaps with nothing */
    /* These are charged, too: */
    JOB_CAPPED,            /* up to open_job_cap, as it is open far beyond its limit */
    JOB_ENDS_IN_FUTURE,    /* as one that is open */
    JOB_OPEN_FOR_LONG,     /* as any open job; it has no limit to tell whether it still runs */
    JOB_ENDS_BEYOND_LIMIT, /* up to its end, which is far beyond its limit */
    JOB_OTHER_WEIGHTS,     /* by its billing, which is not what its partition's weights make */
    /* These charge nothing: */
    JOB_ENDS_BEFORE_START,
    JOB_STARTS_IN_FUTURE,
    JOB_TRES_UNREADABLE,
    JOB_CHARGE_TOO_LARGE,
};
static inline bool job_is_charged(enum job_outcome outcome)
{
    return outcome < JOB_ENDS_BEFORE_START;
}

/* What the times of a job's row say, as of now.  Nothing else judges them. */
struct job_span {
    uint64_t start, end; /* the seconds that it may be charged for; none where end <= start */
    uint64_t ended;      /* its time_end; 0 where it is open, also where that is yet to come, which
                          * a run of that instant cannot have known */
    enum job_outcome outcome;
};
struct job_span job_span(const struct charging *charging, const struct job *job);
/* What tells when slurmctld's passes were.  It makes one when it registers, and then one in each
 * period, until it starts again. */
struct passes {
    uint64_t *registered; /* when it registered, ascending */
    size_t count;
};
/* A time up to now that is whole periods from the passes just before `before`.  They are counted
 * from the last registration before, or are taken to lead up to now: from what is nearer, as passes
 * of some releases come a little later each time. */
uint64_t passes_newest(const struct passes *passes, uint64_t now, uint64_t period, uint64_t before);
/* The last of slurmctld's passes before an instant, where the newest was at `newest` and they are a
 * period apart. */
uint64_t last_pass(uint64_t newest, uint64_t period, uint64_t before);
/* Make it the time behind the job's end that slurmctld has charged, too, where the job was
 * suspended from then on, and cancelled at `noted`.  Suspended jobs go on being charged,
 * in passes, so it is the time up to the last pass. */
void job_span_suspended(struct job_span *span, uint64_t noted, uint64_t newest, uint64_t period);
/* When the row begins: a resized job's later row does at the resize, which is its time_submit. */
uint64_t job_begin(const struct job *job);

/* What the job adds over its span: `units` a second times `weight` of the clock, both 0 where it is
 * nothing.  Where only the weight is 0, it still counts for its days. */
struct charge_term {
    uint128 units, weight;
    uint64_t start, end; /* the first second that counts, and the first that does not any more */
};
enum job_outcome job_charge(const struct charging *charging, const struct job *job,
                            const struct job_span *span, const struct charge_rate *rate,
                            struct charge_term *term);

/* What a list of TRES is charged each second; *outcome is JOB_CHARGED, JOB_OTHER_WEIGHTS, or why it
 * is nothing. */
uint128 tres_charge(enum charge_basis charge, const struct charge_rate *rate, const char *list,
                    size_t length, enum job_outcome *outcome);

/* A walk through the times when jobs were suspended, job by job and within a job by ascending
 * start.  Zeroed, it is at its beginning. */
struct suspensions {
    uint64_t key, counted_from, counted_to; /* what of an interval counted last */
};
/* How much of the weight of a job's term goes to the interval, of which no second counts twice.
 * An end of 0 is the job's own, and a start of 0 is no interval.  Where nothing of it counts,
 * counted_from becomes counted_to. */
uint128 suspensions_weight(struct suspensions *suspensions, const struct decay_table *decay,
                           uint64_t key, const struct charge_term *term, uint64_t start,
                           uint64_t end);

#endif
