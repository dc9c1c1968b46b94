/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "compute/charge_row.h"

#include <inttypes.h>

#include "compute/charge_jobs.h"
#include "compute/compute.h"
#include "core/finding.h"
#include "core/usage/ledger.h"
#include "results/days.h"
#include "compute/seal_plan.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/log.h"

static void add_finding(struct findings *findings, const struct charger *charger,
                        const struct job_row *row, uint64_t ends, enum job_outcome outcome)
{
    const struct job *job = &row->job;
    const char *tres = job->tres_alloc ? job->tres_alloc : "";
    int shown_length = (int)(job->tres_alloc_length < 80 ? job->tres_alloc_length : 80);
    switch (outcome) {
    case JOB_CHARGED:
        break;
    case JOB_CAPPED:
        findings_add_ended(findings, FINDING_JOB_CAPPED, row->id_job, ends,
                           "open since %" PRIu64 ", time limit %" PRIu64 " minutes",
                           job->time_start, job->time_limit);
        break;
    case JOB_ENDS_BEFORE_START:
        findings_add_ended(findings, FINDING_JOB_ENDS_BEFORE_START, row->id_job, ends,
                           "time_start %" PRIu64 ", time_end %" PRIu64, job->time_start,
                           job->time_end);
        break;
    case JOB_STARTS_IN_FUTURE:
        findings_add_ended(findings, FINDING_JOB_STARTS_IN_FUTURE, row->id_job, ends,
                           "time_start %" PRIu64 ", now %" PRIu64, job->time_start,
                           clock_now(charger->charging.clock));
        break;
    case JOB_TRES_UNREADABLE:
        findings_add_ended(findings, FINDING_JOB_TRES_UNREADABLE, row->id_job, ends,
                           "tres_alloc '%.*s'", shown_length, tres);
        break;
    case JOB_CHARGE_TOO_LARGE:
        findings_add_ended(findings, FINDING_JOB_CHARGE_TOO_LARGE, row->id_job, ends,
                           "tres_alloc '%.*s'", shown_length, tres);
        break;
    }
}

/* Of a row below the seal it is known when it ended, which is when it is to be forgotten. */
static void note_outcome(struct charger *charger, const struct job_row *row, bool sealed,
                         enum job_outcome outcome)
{
    if (outcome == JOB_CHARGED || charger->pass != PASS_CHARGE)
        return;
    if (sealed)
        add_finding(charger->sealing->findings, charger, row, row->job.time_end, outcome);
    else
        add_finding(charger->computation->findings, charger, row, 0, outcome);
}

void charge_note_least(uint64_t *least, uint64_t value)
{
    if (value < *least)
        *least = value;
}

static void note_times(struct charger *charger, const struct job *job)
{
    struct jobs_seen *seen = charger->seen;
    uint64_t newest = job->time_end ? job->time_end : job->time_start;
    if (job->time_end && job->time_end < job->time_start)
        return;
    if (newest > clock_now(charger->charging.clock))
        newest = job->time_start;
    if (newest > seen->newest && newest <= clock_now(charger->charging.clock))
        seen->newest = newest;
    if (job->time_end)
        charge_note_least(&seen->oldest_end, job->time_end);
}

/* Whether a row belongs to the sums that are kept. */
static bool is_sealed(const struct charger *charger, const struct job *job)
{
    const struct sealing *sealing = charger->sealing;
    return job->time_end && sealing && job->time_end < sealing->seal.sealed_to;
}

/* Before when nothing of an association counts.  Kept sums know resets within their reach only: a
 * later one leaves all of them out, which sealing_fold() does. */
static uint64_t reset_of(const struct charger *charger, uint64_t association, bool sealed)
{
    if (!charger->ledger->reset_count)
        return 0;
    return ledger_reset_before(charger->ledger, association,
                               sealed ? seal_reach(&charger->sealing->seal) : UINT64_MAX);
}

/* Take from a charge what was before the association's reset; all of it leaves nothing. */
static void leave_out_reset(const struct charger *charger, const struct job_row *row,
                            struct charge_term *term)
{
    bool sealed = charger->pass != PASS_REFUND && is_sealed(charger, &row->job);
    uint64_t reset = reset_of(charger, row->association, sealed);
    if (reset <= term->start)
        return;
    term->weight = clock_weight(charger->charging.clock, reset, term->end);
    term->start = reset;
    if (!term->weight)
        *term = (struct charge_term){ 0 };
}

/* The sum of the association's rows that the row belongs to; it holds until the next is found. */
static struct wide *sum_of(struct charger *charger, const struct job_row *row)
{
    if (charger->pass == PASS_LATE || charger->pass == PASS_GONE)
        return usage_sums_of(charger->sealing->late, row->association);
    if (charger->pass != PASS_REFUND && is_sealed(charger, &row->job))
        return usage_sums_of(charger->sealing->sums, row->association);
    return computation_sum_of(charger->computation, row->association);
}

int charge_beyond_range(uint64_t association, struct error *err)
{
    return fail(err, ERROR_DATA,
                "the usage of association %" PRIu64 " is beyond the range of our integers",
                association);
}

static bool takes_back(enum charge_pass pass)
{
    return pass == PASS_EXPIRED || pass == PASS_GONE || pass == PASS_REFUND;
}

int charge_row_end(struct charger *charger, struct error *err)
{
    struct charge_addition *waiting = &charger->waiting;
    if (waiting->sum && !wide_add_product(waiting->sum, waiting->term.units, waiting->term.weight,
                                          waiting->negative))
        return charge_beyond_range(waiting->association, err);
    waiting->sum = NULL;
    return 0;
}

static bool is_refunded(const struct charger *charger, const struct job_row *row)
{
    const struct job *job = &row->job;
    uint64_t begin = job->time_start > job->time_submit ? job->time_start : job->time_submit;
    return ledger_refunds(charger->ledger, row->id_job, begin);
}

/* Whether a reading of refunded jobs came upon a row that was not. */
static bool is_passed_over(const struct charger *charger, const struct job_row *row)
{
    return charger->pass == PASS_REFUND && !is_refunded(charger, row);
}

/* Very many associations' sums don't stay in the processor's caches, and to wait for one would be
 * the dearest part of a row.  So it is fetched while the next row is read. */
static int add_term(struct charger *charger, const struct job_row *row,
                    const struct charge_term *term, const struct suspension *suspension,
                    struct error *err)
{
    const struct charge_watcher *watcher = charger->computation->watcher;
    if (watcher && charger->pass == PASS_CHARGE && !is_refunded(charger, row))
        watcher->see(watcher->context, row, term, suspension);
    bool negative = suspension != NULL;
    if (charge_row_end(charger, err))
        return -1;
    struct wide *sum = sum_of(charger, row);
    __builtin_prefetch(sum, 1);
    charger->waiting = (struct charge_addition){ sum, *term, negative != takes_back(charger->pass),
                                                 row->association };
    return 0;
}

/* What a job does on its days.  Those of the kept sums that are behind the horizon now, or late,
 * are behind the days, or are read once more. */
static int add_days(struct charger *charger, const struct job_row *row, bool sealed,
                    const struct charge_term *term, uint64_t start, uint64_t end, bool negative,
                    struct error *err)
{
    struct days *days = charger->sealing ? charger->sealing->days : NULL;
    if (!days || charger->pass != PASS_CHARGE || !term->units)
        return 0;
    struct usage_rate rate = { row->association, term->units, negative };
    return days_add(days, sealed || !days->unsealed_is_kept, &rate, start, end, err);
}

static bool ended_by(const struct charger *charger, const struct job *job, uint64_t instant)
{
    return charger->pass == PASS_CHARGE && job->time_end && job->time_end <= instant;
}

int charge_row_job(void *context, const struct job_row *row, struct error *err)
{
    struct charger *charger = context;
    if (is_passed_over(charger, row))
        return 0;
    bool sealed = is_sealed(charger, &row->job);
    bool old = ended_by(charger, &row->job, charger->cutoff);
    if (charger->pass == PASS_CHARGE) {
        if (++charger->seen->count % 65536 == 0)
            log_progress(charger->cluster, charger->seen->count, "jobs read");
        if (!old)
            note_times(charger, &row->job);
    }

    struct charge_term term;
    enum job_outcome outcome = job_charge(&charger->charging, &row->job, row->tariff, &term);
    if (!old)
        note_outcome(charger, row, sealed, outcome);
    if (add_days(charger, row, sealed, &term, term.start, term.end, false, err))
        return -1;
    if (ended_by(charger, &row->job, charger->left_out) || !term.weight)
        return 0;
    uint64_t first = term.start; /* also where somebody was reset */
    leave_out_reset(charger, row, &term);
    if (charger->pass == PASS_CHARGE && !old)
        charge_note_least(
            sealed ? &charger->sealing->seal.first_charge : &charger->seen->first_charge, first);
    return term.units ? add_term(charger, row, &term, NULL, err) : 0;
}

int charge_row_suspension(void *context, const struct job_row *row,
                          const struct suspension *suspension, struct error *err)
{
    struct charger *charger = context;
    struct charge_term term;
    if (is_passed_over(charger, row))
        return 0;
    job_charge(&charger->charging, &row->job, row->tariff, &term);
    if (!term.units)
        return 0;
    term.weight = suspensions_weight(&charger->suspensions, charger->charging.clock,
                                     suspension->key, &term, suspension->start, suspension->end);
    if (add_days(charger, row, is_sealed(charger, &row->job), &term,
                 charger->suspensions.counted_from, charger->suspensions.counted_to, true, err))
        return -1;
    if (ended_by(charger, &row->job, charger->left_out) || !term.weight)
        return 0;
    term.start = charger->suspensions.counted_from;
    term.end = charger->suspensions.counted_to;
    leave_out_reset(charger, row, &term);
    return term.units ? add_term(charger, row, &term, suspension, err) : 0;
}

bool charge_sums_all(const struct charger *charger)
{
    const struct sealing *sealing = charger->sealing;
    return sealing && sealing->mode != SEALING_NONE && sealing->anew;
}

int charge_row_rollup(void *context, const struct rollup_row *row, struct error *err)
{
    struct charger *charger = context;
    const struct clock *clock = charger->charging.clock;
    struct days *days = charger->sealing ? charger->sealing->days : NULL;
    struct wide usage;
    if (days && days_add_rollup(days, row->association, &row->rollup, row->price,
                                charger->charging.from, err))
        return -1;
    if (!rollup_usage(clock, &row->rollup,
                      reset_of(charger, row->association, charge_sums_all(charger)),
                      charger->charging.from, row->price, &usage))
        return charge_beyond_range(row->association, err);
    if (wide_is_zero(&usage))
        return 0;
    struct wide *sum = charge_sums_all(charger)
                           ? usage_sums_of(charger->sealing->sums, row->association)
                           : computation_sum_of(charger->computation, row->association);
    uint64_t start = row->rollup.start;
    if (start < clock_start(clock))
        start = clock_start(clock);
    charge_note_least(charge_sums_all(charger) ? &charger->sealing->seal.first_charge
                                               : &charger->seen->first_charge,
                      start);
    return wide_add(sum, &usage) ? 0 : charge_beyond_range(row->association, err);
}
