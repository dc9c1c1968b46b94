/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "charge_jobs.h"

#include <inttypes.h>
#include <stdbool.h>
#include <time.h>

#include "compute.h"
#include "core/finding.h"
#include "core/ledger.h"
#include "core/usage.h"
#include "results/days.h"
#include "sealing.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/log.h"

/* What becomes of the rows of one reading. */
enum pass {
    PASS_CHARGE,  /* each is charged where it belongs */
    PASS_EXPIRED, /* rows of the kept sums that are behind the horizon now: taken out of them */
    PASS_LATE,    /* rows that the kept sums cannot have yet: only noted as such */
    PASS_GONE,    /* rows that only the kept sums have, behind the horizon: likewise */
    PASS_REFUND,  /* rows of jobs that were refunded: each is taken back, wherever it was charged */
};

/* What a row adds, or takes back, and the sum; NULL where there is nothing to add. */
struct addition {
    struct wide *sum;
    struct charge_term term;
    bool negative;
    uint64_t association;
};

struct charger {
    const char *cluster;
    struct computation *computation;
    struct sealing *sealing;
    struct charging charging;
    struct suspensions suspensions;
    enum pass pass;
    uint64_t cutoff;   /* of rows that ended at it or before nothing is told */
    uint64_t left_out; /* such ones count for their days only */
    struct jobs_seen *seen;
    struct addition waiting;
    const struct ledger_state *ledger;
};

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

static void note_least(uint64_t *least, uint64_t value)
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
        note_least(&seen->oldest_end, job->time_end);
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

static int beyond_range(uint64_t association, struct error *err)
{
    return fail(err, ERROR_DATA,
                "the usage of association %" PRIu64 " is beyond the range of our integers",
                association);
}

static bool takes_back(enum pass pass)
{
    return pass == PASS_EXPIRED || pass == PASS_GONE || pass == PASS_REFUND;
}

static int add_waiting(struct charger *charger, struct error *err)
{
    struct addition *waiting = &charger->waiting;
    if (waiting->sum && !wide_add_product(waiting->sum, waiting->term.units, waiting->term.weight,
                                          waiting->negative))
        return beyond_range(waiting->association, err);
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
    if (add_waiting(charger, err))
        return -1;
    struct wide *sum = sum_of(charger, row);
    __builtin_prefetch(sum, 1);
    charger->waiting =
        (struct addition){ sum, *term, negative != takes_back(charger->pass), row->association };
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
    return days_add(days, sealed || !days->unsealed_is_kept, row->association, term->units, start,
                    end, negative, err);
}

static bool ended_by(const struct charger *charger, const struct job *job, uint64_t instant)
{
    return charger->pass == PASS_CHARGE && job->time_end && job->time_end <= instant;
}

static int take_job(void *context, const struct job_row *row, struct error *err)
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
        note_least(sealed ? &charger->sealing->seal.first_charge : &charger->seen->first_charge,
                   first);
    return term.units ? add_term(charger, row, &term, NULL, err) : 0;
}

/* A suspension is a charge like the job's own, taken back. */
static int take_suspension(void *context, const struct job_row *row,
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

struct job_source {
    const struct settings *settings;
    struct db *db;
};

/* Whether this run makes the kept sums from the beginning. */
static bool sums_all(const struct charger *charger)
{
    const struct sealing *sealing = charger->sealing;
    return sealing && sealing->mode != SEALING_NONE && sealing->anew;
}

/* Where all is read: up to which instant an end leaves nothing that counts, not even for a day. */
static uint64_t first_read(const struct charger *charger, uint64_t cutoff)
{
    const struct days *days = charger->sealing ? charger->sealing->days : NULL;
    bool reach_back = days && days->anew && days->count && days->starts[0] < cutoff;
    return reach_back ? days->starts[0] : cutoff;
}

static int take_rollup(void *context, const struct rollup_row *row, struct error *err)
{
    struct charger *charger = context;
    const struct clock *clock = charger->charging.clock;
    struct days *days = charger->sealing ? charger->sealing->days : NULL;
    struct wide usage;
    if (days && days_add_rollup(days, row->association, &row->rollup, row->price,
                                charger->charging.from, err))
        return -1;
    if (!rollup_usage(clock, &row->rollup, reset_of(charger, row->association, sums_all(charger)),
                      charger->charging.from, row->price, &usage))
        return beyond_range(row->association, err);
    if (wide_is_zero(&usage))
        return 0;
    struct wide *sum = sums_all(charger)
                           ? usage_sums_of(charger->sealing->sums, row->association)
                           : computation_sum_of(charger->computation, row->association);
    uint64_t start = row->rollup.start;
    if (start < clock_start(clock))
        start = clock_start(clock);
    note_least(sums_all(charger) ? &charger->sealing->seal.first_charge
                                 : &charger->seen->first_charge,
               start);
    return wide_add(sum, &usage) ? 0 : beyond_range(row->association, err);
}

/* Where jobs were purged rollups stand for them, up to the first full hour in which no job ended
 * that is not there. */
static int find_purge_end(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                          uint64_t *until, struct error *err)
{
    const struct layout *layout = layout_of(source->settings);
    uint64_t oldest = charger->seen->oldest_end, now = clock_now(charger->charging.clock), from;
    bool purged = false;
    uint64_t hour = oldest / 3600 * 3600 + 3600;
    *until = 0;
    if (oldest > now || hour > now || hour <= cutoff)
        return 0;
    if (layout->find_purge(source->db, source->settings, charger->cluster, cutoff, &purged, err) ||
        (purged && layout->rollup_reach(source->db, charger->cluster, now, &from, until, err)))
        return -1;
    if (*until > hour)
        *until = hour;
    return 0;
}

/* Up to where rollups tell what jobs did; 0: nowhere. */
static int find_rollup_end(struct charger *charger, const struct job_source *source,
                           uint64_t cutoff, uint64_t *until, struct error *err)
{
    const struct layout *layout = layout_of(source->settings);
    uint64_t from, now = clock_now(charger->charging.clock);
    *until = 0;
    if (!layout->read_rollup)
        return 0;
    if (source->settings->usage_source != USAGE_OF_ROLLUPS)
        return find_purge_end(charger, source, cutoff, until, err);
    if (layout->rollup_reach(source->db, charger->cluster, now, &from, until, err))
        return -1;
    if (*until)
        charger->seen->oldest_end = from;
    if (*until > charger->seen->newest)
        charger->seen->newest = *until;
    return 0;
}

/* The part that is told by rollups. */
static int charge_rollups(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                          struct error *err)
{
    struct sealing *sealing = charger->sealing;
    uint64_t *until = &charger->charging.from;
    if (sealing && sealing->mode == SEALING_INCREMENTAL && !sealing->anew) {
        *until = sealing->seal.jobs_from;
        return 0;
    }
    if (find_rollup_end(charger, source, cutoff, until, err))
        return -1;
    if (sums_all(charger))
        sealing->seal.jobs_from = *until;
    if (!*until)
        return 0;
    log_note("%s: usage before %" PRIu64 " is from rollups", charger->cluster, *until);
    return layout_of(source->settings)
        ->read_rollup(source->db, source->settings, charger->cluster,
                      charger->computation->accounting, first_read(charger, cutoff), *until,
                      take_rollup, charger, err);
}

static int read_pass(struct charger *charger, const struct job_source *source, enum pass pass,
                     const struct job_range *range, struct error *err)
{
    const struct settings *settings = source->settings;
    const struct layout *layout = layout_of(settings);
    const struct accounting *accounting = charger->computation->accounting;
    charger->pass = pass;
    charger->suspensions = (struct suspensions){ 0 };
    if (settings->suspended == SUSPENDED_OMITTED && layout->read_suspended &&
        layout->read_suspended(source->db, settings, charger->cluster, accounting, range,
                               take_suspension, charger, err))
        return -1;
    int result = layout->read_jobs(source->db, settings, charger->cluster, accounting, range,
                                   take_job, charger, err);
    log_progress_done();
    return result ? -1 : add_waiting(charger, err);
}

/* Rows that were open when the seal was made and ended below it since.  One that is behind the
 * horizon meanwhile is added nevertheless: then all that is there is taken out again. */
static int read_late(struct charger *charger, const struct job_source *source, enum pass pass,
                     struct error *err)
{
    const struct job_keys *ended = &charger->sealing->ended;
    const struct seal *kept = &charger->sealing->kept->seal;
    const struct days *days = charger->sealing->days;
    uint64_t from = kept->cutoff;
    if (pass == PASS_CHARGE && days && days->count && days->starts[0] < from)
        from = days->starts[0];
    struct job_range late = {
        .from = from + 1, .to = kept->sealed_to, .keys = ended->keys, .key_count = ended->count
    };
    charger->left_out = kept->cutoff;
    int result = ended->count ? read_pass(charger, source, pass, &late, err) : 0;
    charger->left_out = charger->cutoff;
    return result;
}

/* What the kept sums lack, and what they have too much: added to the sums, or noted. */
static int mend_kept(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                     enum pass late, enum pass expired, struct error *err)
{
    const struct seal *kept = &charger->sealing->kept->seal;
    struct job_range gone = { .from = kept->cutoff + 1, .to = cutoff + 1 };
    if (read_late(charger, source, late, err))
        return -1;
    return cutoff > kept->cutoff ? read_pass(charger, source, expired, &gone, err) : 0;
}

/* Whether there is more behind the cutoff than before it. */
static bool has_long_history(const struct charger *charger, uint64_t cutoff)
{
    uint64_t now = clock_now(charger->charging.clock), oldest = charger->seen->oldest_end;
    return oldest < cutoff && cutoff < now && cutoff - oldest > now - cutoff;
}

static int read_all(struct charger *charger, const struct job_source *source, uint64_t cutoff,
                    struct error *err)
{
    struct sealing *sealing = charger->sealing;
    struct job_range range = { .from = first_read(charger, cutoff) + 1,
                               .to = INT64_MAX,
                               .open = true,
                               .most = !has_long_history(charger, cutoff) };
    if (charge_rollups(charger, source, cutoff, err))
        return -1;
    if (source->settings->usage_source == USAGE_OF_ROLLUPS && charger->charging.from > cutoff) {
        range.from = charger->charging.from + 1;
        range.most = false;
    }
    if (sealing && sealing->mode == SEALING_VERIFY &&
        mend_kept(charger, source, cutoff, PASS_LATE, PASS_GONE, err))
        return -1;
    if (sealing && sealing->mode == SEALING_INCREMENTAL) {
        range.most = false;
        if (!sealing->anew) {
            range.from = sealing->kept->seal.sealed_to;
            if (mend_kept(charger, source, cutoff, PASS_CHARGE, PASS_EXPIRED, err))
                return -1;
        }
    }
    return read_pass(charger, source, PASS_CHARGE, &range, err);
}

/* Rows without keys belong to no job that could be named. */
static int take_back_refunded(struct charger *charger, const struct job_source *source,
                              uint64_t cutoff, struct error *err)
{
    const struct job_keys *refunded = &charger->ledger->refunded;
    struct job_range range = { .from = cutoff + 1,
                               .to = INT64_MAX,
                               .open = true,
                               .ids = refunded->keys,
                               .id_count = refunded->count };
    if (!refunded->count || !layout_of(source->settings)->read_open_keys)
        return 0;
    return read_pass(charger, source, PASS_REFUND, &range, err);
}

static int add_adjustments(struct charger *charger, struct error *err)
{
    const struct ledger_state *ledger = charger->ledger;
    for (size_t i = 0; i < ledger->adjustment_count; i++) {
        const struct ledger_entry *each = &ledger->adjustments[i];
        uint128 units;
        bool negative;
        uint128 weight = ledger_weight(ledger, each, charger->charging.clock, &units, &negative);
        if (weight && !wide_add_product(computation_sum_of(charger->computation, each->association),
                                        units, weight, negative))
            return beyond_range(each->association, err);
    }
    return 0;
}

const struct jobs_seen jobs_seen_none = { .oldest_end = UINT64_MAX, .first_charge = UINT64_MAX };

int charge_jobs(struct computation *computation, struct sealing *sealing,
                const struct settings *settings, struct db *source, const char *cluster,
                uint64_t cutoff, struct jobs_seen *seen, struct error *err)
{
    struct job_source from = { settings, source };
    const struct days *days = sealing ? sealing->days : NULL;
    struct charger charger = {
        .cluster = cluster,
        .computation = computation,
        .sealing = sealing,
        .charging = { computation->clock, settings->charge, settings->open_job_cap_s,
                      (int64_t)clock_now(computation->clock) < time(NULL), 0,
                      days && days->count ? days->starts[0] : UINT64_MAX },
        .cutoff = cutoff,
        .left_out = cutoff,
        .seen = seen,
        .ledger = computation->ledger,
    };
    if (read_all(&charger, &from, cutoff, err) ||
        take_back_refunded(&charger, &from, cutoff, err) || add_adjustments(&charger, err))
        return -1;
    if (sealing && sealing->mode != SEALING_NONE)
        note_least(&seen->first_charge, sealing->seal.first_charge);
    return 0;
}
