/* SPDX-License-Identifier: MIT */
#include "compute/stepped_usage.h"

#include <math.h>
#include <stdlib.h>

#include "compute/charge.h"
#include "compute/computation.h"
#include "core/usage/ledger.h"
#include "core/usage/steps.h"
#include "core/usage/usage_owners.h"
#include "settings/settings.h"
#include "source/reading.h"
#include "util/memory.h"

/*
 * CANDIDATES_AT_MOST is the maximum number of candidates for the newest step, spread over the
 * period.  WITNESSES_AT_MOST is the maximum number of sample users.  Each of their jobs is charged
 * once for every candidate.  A sample user with more than WITNESS_JOBS_AT_MOST jobs is ignored.
 */
#define CANDIDATES_AT_MOST 900
#define WITNESSES_AT_MOST 64
#define WITNESS_JOBS_AT_MOST 2000

struct stepped_candidate {
    uint64_t newest, reset;
};

/* A sample user: a user with known usage. */
struct witness {
    uint32_t node, jobs;
    double high;
    double blur;    /* largest error of the user's usage if steps are one second early or late */
    double dearest; /* largest remaining usage of one second of one job */
};

struct stepped_reader {
    const struct computation *computation;
    const struct settings *settings; /* settings of the computation */
    const struct tree *tree;         /* tree of the computation */
    struct steps *steps;
    struct steps *passes; /* steps without the charge at the end of a job */
    uint64_t now;
    uint64_t noted; /* row.noted of the current row: when the job was cancelled, if it was suspended
                     * until then; otherwise 0 */
    struct stepped_candidate *candidates;
    size_t candidate_count;
    struct stepped_candidate found; /* the chosen candidate */
    /* Set only while the newest step is searched.  `witness_of` maps a node to the index of its
     * sample user, and `witnesses` contains the sample users.  `sums` contains the usage of each
     * sample user for each candidate. */
    uint32_t *witness_of;
    struct witness *witnesses;
    double *sums;
    struct stepped_usage *stepped;
};

/* Returns the TRES that the job is charged per second at this rate, or 0 if nothing is charged. */
static double stepped_charge_of(const struct stepped_reader *reader, const struct job *job,
                                const struct charge_rate *rate)
{
    enum job_outcome outcome = JOB_CHARGED;
    uint128 units = job->tres_alloc ? tres_charge(reader->settings->charge, rate, job->tres_alloc,
                                                  job->tres_alloc_length, &outcome)
                                    : rate->rate;
    return (double)units / (double)UNITS_PER_TRES;
}

/*
 * Returns the worth of a job (core/usage/steps.h) without the time before `time`.  If a rate or
 * owner changes at `time` while the job runs, the change applies to the whole charge of the next
 * step.  So `time` is moved back to the step before.
 */
static double worth_from(const struct stepped_reader *reader,
                         const struct stepped_candidate *candidate, const struct job_span *span,
                         uint64_t time)
{
    uint64_t newest = candidate->newest, period = reader->stepped->period;
    if (time >= span->end)
        return 0;
    if (time > span->start) {
        uint64_t steps = time < newest ? (newest - time + period - 1) / period : 0;
        time = steps * period < newest ? newest - steps * period : 0;
    }
    if (time < span->start)
        time = span->start;
    return steps_worth(reader->steps, newest, candidate->reset, time, span->ended);
}

/*
 * For a job that was cancelled while suspended: returns the worth of the time that decay cycles
 * charged after its end.  Includes only the part that belongs to the interval.
 */
static double worth_behind(const struct stepped_reader *reader,
                           const struct stepped_candidate *candidate, const struct job_span *span,
                           const struct slice *interval)
{
    uint64_t newest = candidate->newest;
    uint64_t last = last_pass(newest, reader->stepped->period, reader->noted);
    if (last <= span->ended || interval->start >= last)
        return 0;
    double most = steps_worth(reader->passes, newest, candidate->reset, span->start, last + 1) -
                  steps_worth(reader->steps, newest, candidate->reset, span->start, span->ended);
    uint64_t end = interval->end < last ? interval->end : last;
    return most * (double)(end - interval->start) / (double)(last - span->ended);
}

static double worth_of(const struct stepped_reader *reader,
                       const struct stepped_candidate *candidate, const struct job_span *span,
                       const struct slice *interval)
{
    if (reader->noted)
        return worth_behind(reader, candidate, span, interval);
    return worth_from(reader, candidate, span, interval->start) -
           worth_from(reader, candidate, span, interval->end);
}

/* Returns the last reset of an association in fairmill's ledger, or 0. */
static uint64_t stepped_reset_of(const struct stepped_reader *reader, uint32_t node)
{
    const struct ledger_state *ledger = reader->stepped->ledger;
    uint64_t own = ledger_reset_before(ledger, reader->tree->nodes[node].id, UINT64_MAX);
    return own > ledger->cluster_reset ? own : ledger->cluster_reset;
}

static uint64_t stepped_later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns the fraction that remains of a second at the end of the interval. */
static double decay_of(const struct stepped_reader *reader, const struct slice *interval)
{
    return steps_decay(reader->steps, reader->now - interval->end);
}

/*
 * Returns the error of the interval's usage if steps are one second early or late.  In that case,
 * one second at each end of the interval was charged one step earlier or later.  The error is the
 * decay of these two seconds in one period.
 */
static double blur_of(const struct stepped_reader *reader, const struct slice *interval)
{
    return 2 * (1 - steps_decay(reader->steps, reader->stepped->period)) *
           decay_of(reader, interval);
}

/*
 * Returns the error for a job that ended in the second of a step.  It is unknown whether this step
 * already decayed the charge for the job's last seconds.
 */
static double blur_at_step(const struct stepped_reader *reader, const struct job_span *span,
                           const struct slice *interval)
{
    uint64_t newest = reader->candidates[0].newest, period = reader->stepped->period;
    if (!span->ended || span->ended > newest || (newest - span->ended) % period)
        return 0;
    uint64_t seconds =
        interval->end - interval->start < period ? interval->end - interval->start : period;
    return (double)seconds * steps_decay(reader->steps, seconds) * decay_of(reader, interval) *
           (1 - steps_decay(reader->steps, period));
}

/* Adds the usage of an interval for every candidate. */
static void try_interval(struct stepped_reader *reader, const struct job_span *span,
                         const struct slice *interval, uint32_t node, double charge)
{
    if (reader->witness_of[node] == NO_NODE)
        return;
    struct witness *session = &reader->witnesses[reader->witness_of[node]];
    if (++session->jobs > WITNESS_JOBS_AT_MOST)
        return;
    double *sums = &reader->sums[reader->witness_of[node] * reader->candidate_count];
    for (size_t i = 0; i < reader->candidate_count; i++)
        sums[i] += charge * worth_of(reader, &reader->candidates[i], span, interval);
    session->blur += charge * blur_of(reader, interval);
    session->dearest = fmax(session->dearest, charge * decay_of(reader, interval));
}

/* Returns the number of seconds of the interval that are at or after `time`. */
static double seconds_since(const struct slice *interval, uint64_t time)
{
    uint64_t start = interval->start > time ? interval->start : time;
    return interval->end > start ? (double)(interval->end - start) : 0;
}

/* Returns the worth of the part of the interval from `time` on. */
static double worth_since(const struct stepped_reader *reader,
                          const struct stepped_candidate *candidate, const struct job_span *span,
                          const struct slice *interval, uint64_t time)
{
    if (reader->noted)
        return time <= interval->start ? worth_behind(reader, candidate, span, interval) : 0;
    return worth_from(reader, candidate, span, stepped_later_of(interval->start, time)) -
           worth_from(reader, candidate, span, stepped_later_of(interval->end, time));
}

/*
 * Returns the worth of the part of an interval that was charged after a reset.  This is 0 for a job
 * that ended at or before the reset.
 */
static double worth_after_reset(const struct stepped_reader *reader, const struct job_span *span,
                                const struct slice *interval, uint64_t reset)
{
    bool gone = span->ended && span->ended <= reset;
    return gone ? 0 : worth_since(reader, &reader->found, span, interval, reset);
}

static void add_after_reset(const struct stepped_reader *reader, const struct job_span *span,
                            const struct slice *interval, uint32_t node, double charge)
{
    struct stepped_usage *stepped = reader->stepped;
    uint64_t reset = stepped_reset_of(reader, node), period = stepped->period;
    if (!reset)
        return;
    stepped->after_reset[node] += charge * worth_after_reset(reader, span, interval, reset);
    stepped->around_reset[node].high +=
        charge * worth_after_reset(reader, span, interval, reset > period ? reset - period : 0);
    stepped->around_reset[node].low +=
        charge * worth_after_reset(reader, span, interval, reset + period);
}

static void add_interval(struct stepped_reader *reader, const struct job *job,
                         const struct job_span *span, const struct slice *interval)
{
    struct stepped_usage *stepped = reader->stepped;
    double charge = stepped_charge_of(reader, job, interval->rate);
    uint32_t node = tree_place(reader->tree, interval->association);
    if (!(charge > 0) || node == NO_NODE)
        return;
    if (reader->witness_of) {
        try_interval(reader, span, interval, node, charge);
        return;
    }
    uint64_t newest = reader->candidates[0].newest, period = stepped->period;
    double worth = charge * worth_of(reader, &reader->candidates[0], span, interval);
    stepped->usage[node] += worth;
    add_after_reset(reader, span, interval, node, charge);
    if (!(worth > 0))
        return;
    stepped->blur[node] +=
        charge * (blur_of(reader, interval) + blur_at_step(reader, span, interval));
    stepped->fresh[node] += charge * seconds_since(interval, newest > period ? newest - period : 0);
    if (span->ended && span->ended <= reader->now)
        stepped->late[node] += charge * seconds_since(interval, newest);
}

static void stepped_add_job(struct stepped_reader *reader, const struct job_row *row)
{
    const struct computation *computation = reader->computation;
    const struct charging charging = { .decay = computation->decay };
    struct job_span span = job_span(&charging, &row->job);
    /* A job that ends at `now` or later has not been cancelled yet at `now`. */
    if (!span.start || (row->noted && span.ended >= reader->now))
        return;
    uint64_t start = row->noted ? span.ended : span.start;
    reader->noted = row->noted;
    /* An open job is not capped. */
    span.end = span.ended && span.ended < reader->now ? span.ended : reader->now;
    if (row->noted)
        span.end = stepped_later_of(row->noted < reader->now ? row->noted : reader->now, start + 1);
    struct slice interval =
        charge_interval_first(start, span.end, row->rate, row->association,
                              usage_owners_find(computation->owners, row->association));
    do
        add_interval(reader, &row->job, &span, &interval);
    while (charge_interval_next(&interval, span.end));
}

/* Returns a time such that jobs that ended before it have no remaining usage, for any candidate. */
static uint64_t oldest_of(const struct stepped_reader *reader, const struct decay_table *decay)
{
    const struct reset_period *reset = &reader->settings->reset_period;
    uint64_t period = reader->stepped->period;
    if (reset->unit == RESET_NEVER || reader->now < period)
        return decay_table_start(decay);
    uint64_t oldest = calendar_last_reset(reset, reader->now - period);
    return oldest > period ? oldest - period : 0;
}

static int stepped_add_jobs(struct stepped_reader *reader, struct job_reading *reading,
                            struct error *err)
{
    struct job_row row, again;
    int got;
    while ((got = job_reading_next(reading, &row, err)) > 0) {
        uint64_t period = reader->stepped->period, end = row.job.time_end;
        stepped_add_job(reader, &row);
        if (row.resized_to && end && end <= reader->now &&
            charge_again_row(&row, last_pass(reader->candidates[0].newest, period, end), &again))
            stepped_add_job(reader, &again);
    }
    job_reading_end(reading);
    return got;
}

static int stepped_read_jobs(struct stepped_reader *reader, struct error *err)
{
    const struct computation *computation = reader->computation;
    const struct source *source = &computation->source;
    const struct accounting *accounting = computation->accounting;
    struct job_range range = { .from = oldest_of(reader, computation->decay) + 1,
                               .to = INT64_MAX,
                               .open = true,
                               .most = true };
    if (stepped_add_jobs(reader, source->layout->jobs(source, accounting, &range), err))
        return -1;
    return accounting->tells_cancelled
               ? stepped_add_jobs(
                     reader, source->layout->past->cancelled(source, accounting, range.from), err)
               : 0;
}

static struct stepped_candidate candidate_at(const struct settings *settings, uint64_t newest)
{
    return (struct stepped_candidate){ newest,
                                       calendar_last_reset(&settings->reset_period, newest) };
}

static void list_candidates(struct stepped_reader *reader)
{
    uint64_t period = reader->stepped->period;
    uint64_t stride = (period + CANDIDATES_AT_MOST - 1) / CANDIDATES_AT_MOST;
    reader->candidate_count = (size_t)((period + stride - 1) / stride);
    reader->candidates = memory_zeroed(reader->candidate_count, sizeof *reader->candidates);
    for (size_t i = 0; i < reader->candidate_count; i++)
        reader->candidates[i] = candidate_at(reader->settings, reader->now - i * stride);
}

static int stepped_by_usage(const void *a, const void *b)
{
    const struct witness *one = a, *other = b;
    if (one->high != other->high)
        return one->high > other->high ? -1 : 1;
    return (one->node > other->node) - (one->node < other->node);
}

/*
 * Returns the sample users.  Half of the sample users are the users with the most usage.  The other
 * half are taken evenly from the remaining users, who may have fewer jobs.
 */
static struct witness *list_witnesses(const struct tree *tree, const struct usage_bounds *bounds,
                                      size_t *count)
{
    struct witness *list = memory_zeroed(tree->count, sizeof *list);
    size_t half = WITNESSES_AT_MOST / 2, all = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user && bounds[i].low > 0)
            list[all++] = (struct witness){ .node = i, .high = bounds[i].high };
    qsort(list, all, sizeof *list, stepped_by_usage);
    *count = all < WITNESSES_AT_MOST ? all : WITNESSES_AT_MOST;
    for (size_t i = half; all > WITNESSES_AT_MOST && i < WITNESSES_AT_MOST; i++)
        list[i] = list[half + (i - half) * (all - half) / half];
    return list;
}

/* Returns the distance of a value from its bounds.  Returns 0 if the distance is at most `blur`. */
static double stepped_miss_of(const struct usage_bounds *bounds, double value, double blur)
{
    double miss = value < bounds->low    ? bounds->low - value
                  : value > bounds->high ? value - bounds->high
                                         : 0;
    return miss > blur ? miss : 0;
}

/*
 * Returns the index of the candidate that gives most sample users their known usage.  Among ties,
 * the smallest sum of differences decides, and then the latest time.  In this sum, the difference
 * of a user is at most one second of the user's most expensive job.
 */
static size_t best_candidate(const struct stepped_reader *reader, size_t count,
                             const struct usage_bounds *bounds)
{
    size_t width = reader->candidate_count, best = 0, most = 0;
    double least = INFINITY;
    for (size_t j = 0; j < width; j++) {
        size_t right = 0;
        double misses = 0;
        for (size_t i = 0; i < count; i++) {
            const struct witness *session = &reader->witnesses[i];
            double miss =
                stepped_miss_of(&bounds[session->node], reader->sums[i * width + j], session->blur);
            if (session->jobs > WITNESS_JOBS_AT_MOST)
                continue;
            right += !(miss > 0);
            misses += fmin(miss, session->dearest);
        }
        if (right > most || (right == most && misses < least)) {
            most = right;
            least = misses;
            best = j;
        }
    }
    return best;
}

/* Scans the jobs, computes the usage of the sample users for each candidate, and sets
 * stepped->newest to the time of the best candidate.  Returns -1 on error. */
static int find_newest(struct stepped_reader *reader, const struct usage_bounds *bounds,
                       struct error *err)
{
    size_t count;
    reader->witnesses = list_witnesses(reader->tree, bounds, &count);
    list_candidates(reader);
    reader->witness_of = memory_zeroed(reader->tree->count, sizeof *reader->witness_of);
    reader->sums = memory_zeroed((count + 1) * reader->candidate_count, sizeof *reader->sums);
    for (uint32_t i = 0; i < reader->tree->count; i++)
        reader->witness_of[i] = NO_NODE;
    for (uint32_t i = 0; i < count; i++)
        reader->witness_of[reader->witnesses[i].node] = i;
    int result = stepped_read_jobs(reader, err);
    if (!result)
        reader->stepped->newest = reader->candidates[best_candidate(reader, count, bounds)].newest;
    free(reader->candidates);
    free(reader->witness_of);
    free(reader->witnesses);
    free(reader->sums);
    reader->candidates = NULL;
    reader->witness_of = NULL;
    return result;
}

/* Adds the errors and recent charges of each node to its ancestors. */
static void stepped_roll_up(const struct tree *tree, struct stepped_usage *stepped)
{
    for (uint32_t i = tree->count; i-- > 1;) {
        uint32_t above = tree->nodes[i].parent;
        stepped->blur[above] += stepped->blur[i];
        stepped->fresh[above] += stepped->fresh[i];
        stepped->late[above] += stepped->late[i];
    }
}

static int stepped_read_snapshot(struct stepped_reader *reader, const struct usage_bounds *bounds,
                                 struct error *err)
{
    if (!reader->stepped->newest && find_newest(reader, bounds, err))
        return -1;
    reader->found = candidate_at(reader->settings, reader->stepped->newest);
    reader->candidates = &reader->found;
    reader->candidate_count = 1;
    return stepped_read_jobs(reader, err);
}

/* Scans every job in a snapshot of the source. */
static int read_by(struct stepped_reader *reader, const struct usage_bounds *bounds,
                   struct error *err)
{
    const struct computation *computation = reader->computation;
    struct db *db = computation->source.db;
    reader->settings = computation->source.settings;
    reader->tree = computation->tree;
    reader->now = decay_table_now(computation->decay);
    uint64_t half_life = decay_table_half_life(computation->decay);
    uint64_t period = reader->stepped->period, oldest = oldest_of(reader, computation->decay);
    reader->steps =
        steps_create(half_life, period, reader->stepped->ends_free, oldest, reader->now);
    reader->passes = steps_create(half_life, period, true, oldest, reader->now);
    reader->stepped->period_decay = 1 - steps_decay(reader->steps, period);
    int result = db_begin(db, err);
    if (!result) {
        result = stepped_read_snapshot(reader, bounds, err);
        db_rollback(db);
    }
    steps_destroy(reader->steps);
    steps_destroy(reader->passes);
    return result;
}

int stepped_usage_read(struct stepped_usage *stepped, const struct computation *computation,
                       const struct usage_bounds *bounds, struct error *err)
{
    const struct tree *tree = computation->tree;
    struct stepped_reader reader = { .computation = computation, .stepped = stepped };
    reader.tree = tree;
    stepped->usage = memory_zeroed(tree->count, sizeof *stepped->usage);
    stepped->blur = memory_zeroed(tree->count, sizeof *stepped->blur);
    stepped->fresh = memory_zeroed(tree->count, sizeof *stepped->fresh);
    stepped->late = memory_zeroed(tree->count, sizeof *stepped->late);
    stepped->after_reset = memory_zeroed(tree->count, sizeof *stepped->after_reset);
    stepped->around_reset = memory_zeroed(tree->count, sizeof *stepped->around_reset);
    for (uint32_t i = 0; i < tree->count; i++)
        if (!stepped_reset_of(&reader, i))
            stepped->after_reset[i] = NAN;
    if (read_by(&reader, bounds, err)) {
        stepped_usage_free(stepped);
        return -1;
    }
    stepped_roll_up(tree, stepped);
    return 0;
}

void stepped_usage_free(struct stepped_usage *stepped)
{
    free(stepped->usage);
    free(stepped->blur);
    free(stepped->fresh);
    free(stepped->late);
    free(stepped->after_reset);
    free(stepped->around_reset);
    stepped->usage = stepped->blur = stepped->fresh = stepped->late = stepped->after_reset = NULL;
    stepped->around_reset = NULL;
}
