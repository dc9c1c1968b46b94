/* SPDX-License-Identifier: MIT */
#include "compute/stepped_usage.h"

#include <math.h>
#include <stdlib.h>

#include "compute/computation.h"
#include "core/usage/slice.h"
#include "core/usage/steps.h"
#include "settings/settings.h"
#include "source/reading.h"
#include "util/memory.h"

/* The instants that a newest step is looked for at, spread over the period; the users that it is
 * looked for by, of which each job is counted under every instant; and the jobs that one of them
 * may have to be looked at so closely. */
#define CANDIDATES_AT_MOST 900
#define WITNESSES_AT_MOST 64
#define WITNESS_JOBS_AT_MOST 2000

struct candidate {
    uint64_t newest, reset;
};

struct reader {
    const struct computation *computation;
    const struct settings *settings; /* the computation's */
    const struct tree *tree;         /* likewise */
    struct steps *steps;
    uint64_t now;
    struct candidate *candidates;
    size_t candidate_count;
    struct candidate found; /* the only one, in the end */
    /* While candidates are tried, later NULL: which witness a node is, what each has by candidate,
     * and how many jobs it has. */
    uint32_t *witness;
    double *sums;
    uint32_t *jobs;
    struct stepped_usage *stepped;
};

/* TRES that the job is charged each second by a tariff; 0: nothing. */
static double charge_of(const struct reader *reader, const struct job *job,
                        const struct tariff *tariff)
{
    enum job_outcome outcome = JOB_CHARGED;
    uint128 units = job->tres_alloc ? tres_charge(reader->settings->charge, tariff, job->tres_alloc,
                                                  job->tres_alloc_length, &outcome)
                                    : tariff->price;
    return (double)units / (double)UNITS_PER_TRES;
}

/* What the job is worth from an instant on.  What begins to hold while it runs does so for all that
 * a step charges, which is the time since the step before. */
static double worth_from(const struct reader *reader, const struct candidate *candidate,
                         const struct job_span *span, uint64_t instant)
{
    uint64_t newest = candidate->newest, period = reader->stepped->period;
    if (instant >= span->end)
        return 0;
    if (instant > span->start) {
        uint64_t steps = instant < newest ? (newest - instant + period - 1) / period : 0;
        instant = steps * period < newest ? newest - steps * period : 0;
    }
    if (instant < span->start)
        instant = span->start;
    return steps_worth(reader->steps, newest, candidate->reset, instant, span->ended);
}

static double worth_of(const struct reader *reader, const struct candidate *candidate,
                       const struct job_span *span, const struct slice *slice)
{
    return worth_from(reader, candidate, span, slice->start) -
           worth_from(reader, candidate, span, slice->end);
}

/* Add it under every candidate. */
static void try_slice(struct reader *reader, const struct job_span *span, const struct slice *slice,
                      uint32_t node, double charge)
{
    uint32_t witness = reader->witness[node];
    if (witness == NO_NODE || ++reader->jobs[witness] > WITNESS_JOBS_AT_MOST)
        return;
    double *sums = &reader->sums[witness * reader->candidate_count];
    for (size_t i = 0; i < reader->candidate_count; i++)
        sums[i] += charge * worth_of(reader, &reader->candidates[i], span, slice);
}

static void add_slice(struct reader *reader, const struct job *job, const struct job_span *span,
                      const struct slice *slice)
{
    struct stepped_usage *stepped = reader->stepped;
    double charge = charge_of(reader, job, slice->tariff);
    uint32_t node = tree_place(reader->tree, slice->association);
    if (!(charge > 0) || node == NO_NODE)
        return;
    if (reader->witness) {
        try_slice(reader, span, slice, node, charge);
        return;
    }
    double worth = charge * worth_of(reader, &reader->candidates[0], span, slice);
    double second = worth > 0 ? charge * steps_decay(reader->steps, reader->now - slice->end) : 0;
    stepped->usage[node] += worth;
    if (second > stepped->dearest[node])
        stepped->dearest[node] = second;
}

static void add_job(struct reader *reader, const struct job_row *row)
{
    const struct computation *computation = reader->computation;
    const struct charging charging = { .clock = computation->clock };
    struct job_span span = job_span(&charging, &row->job);
    if (!span.start)
        return;
    span.end = span.ended && span.ended < reader->now ? span.ended : reader->now; /* without cap */
    struct slice slice = slice_first(span.start, span.end, row->tariff, row->association,
                                     owners_find(computation->owners, row->association));
    do
        add_slice(reader, &row->job, &span, &slice);
    while (slice_next(&slice, span.end));
}

/* What ended before this instant is worth nothing any more, whichever the newest step was. */
static uint64_t oldest_of(const struct reader *reader, const struct clock *clock)
{
    const struct reset_period *reset = &reader->settings->reset_period;
    uint64_t period = reader->stepped->period;
    if (reset->unit == RESET_NEVER || reader->now < period)
        return clock_start(clock);
    uint64_t oldest = calendar_last_reset(reset, reader->now - period);
    return oldest > period ? oldest - period : 0;
}

static int read_jobs(struct reader *reader, struct error *err)
{
    const struct computation *computation = reader->computation;
    const struct source *source = &computation->source;
    struct job_range range = { .from = oldest_of(reader, computation->clock) + 1,
                               .to = INT64_MAX,
                               .open = true,
                               .most = true };
    struct job_reading *reading = source->layout->jobs(source, computation->accounting, &range);
    struct job_row row;
    int got;
    while ((got = job_reading_next(reading, &row, err)) > 0)
        add_job(reader, &row);
    job_reading_end(reading);
    return got;
}

static struct candidate candidate_at(const struct settings *settings, uint64_t newest)
{
    return (struct candidate){ newest, calendar_last_reset(&settings->reset_period, newest) };
}

static void list_candidates(struct reader *reader)
{
    uint64_t period = reader->stepped->period;
    uint64_t stride = (period + CANDIDATES_AT_MOST - 1) / CANDIDATES_AT_MOST;
    reader->candidate_count = (size_t)((period + stride - 1) / stride);
    reader->candidates = memory_zeroed(reader->candidate_count, sizeof *reader->candidates);
    for (size_t i = 0; i < reader->candidate_count; i++)
        reader->candidates[i] = candidate_at(reader->settings, reader->now - i * stride);
}

/* Users of whom something is known, by usage. */
struct witness {
    uint32_t node;
    double high;
};

static int by_usage(const void *a, const void *b)
{
    const struct witness *one = a, *other = b;
    if (one->high != other->high)
        return one->high > other->high ? -1 : 1;
    return (one->node > other->node) - (one->node < other->node);
}

/* Half of them those with the most usage, the others from among all the rest, who may have fewer
 * jobs. */
static struct witness *list_witnesses(const struct tree *tree, const struct usage_bounds *bounds,
                                      size_t *count)
{
    struct witness *list = memory_zeroed(tree->count, sizeof *list);
    size_t half = WITNESSES_AT_MOST / 2, all = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user && bounds[i].low > 0)
            list[all++] = (struct witness){ i, bounds[i].high };
    qsort(list, all, sizeof *list, by_usage);
    *count = all < WITNESSES_AT_MOST ? all : WITNESSES_AT_MOST;
    for (size_t i = half; all > WITNESSES_AT_MOST && i < WITNESSES_AT_MOST; i++)
        list[i] = list[half + (i - half) * (all - half) / half];
    return list;
}

/* How far a value is from what is known. */
static double miss_of(const struct usage_bounds *bounds, double value)
{
    return value < bounds->low    ? bounds->low - value
           : value > bounds->high ? value - bounds->high
                                  : 0;
}

/* The candidate whose greatest miss is the least; the latest of several. */
static size_t best_candidate(const struct reader *reader, const struct witness *list, size_t count,
                             const struct usage_bounds *bounds)
{
    size_t width = reader->candidate_count, best = 0;
    double least = INFINITY;
    for (size_t j = 0; j < width; j++) {
        double greatest = 0;
        for (size_t i = 0; i < count; i++)
            if (reader->jobs[i] <= WITNESS_JOBS_AT_MOST)
                greatest =
                    fmax(greatest, miss_of(&bounds[list[i].node], reader->sums[i * width + j]));
        if (greatest < least) {
            least = greatest;
            best = j;
        }
    }
    return best;
}

/* When the newest step was. */
static int find_newest(struct reader *reader, const struct usage_bounds *bounds, struct error *err)
{
    size_t count;
    struct witness *list = list_witnesses(reader->tree, bounds, &count);
    list_candidates(reader);
    reader->witness = memory_zeroed(reader->tree->count, sizeof *reader->witness);
    reader->sums = memory_zeroed((count + 1) * reader->candidate_count, sizeof *reader->sums);
    reader->jobs = memory_zeroed(count + 1, sizeof *reader->jobs);
    for (uint32_t i = 0; i < reader->tree->count; i++)
        reader->witness[i] = NO_NODE;
    for (uint32_t i = 0; i < count; i++)
        reader->witness[list[i].node] = i;
    int result = read_jobs(reader, err);
    if (!result)
        reader->stepped->newest =
            reader->candidates[best_candidate(reader, list, count, bounds)].newest;
    free(list);
    free(reader->candidates);
    free(reader->witness);
    free(reader->sums);
    free(reader->jobs);
    reader->candidates = NULL;
    reader->witness = NULL;
    return result;
}

/* A second of what is below may be off in the account, too. */
static void raise_dearest(const struct tree *tree, double *dearest)
{
    for (uint32_t i = tree->count; i-- > 1;) {
        uint32_t above = tree->nodes[i].parent;
        if (dearest[i] > dearest[above])
            dearest[above] = dearest[i];
    }
}

static int read_snapshot(struct reader *reader, const struct usage_bounds *bounds,
                         struct error *err)
{
    if (!reader->stepped->newest && find_newest(reader, bounds, err))
        return -1;
    reader->found = candidate_at(reader->settings, reader->stepped->newest);
    reader->candidates = &reader->found;
    reader->candidate_count = 1;
    return read_jobs(reader, err);
}

int stepped_usage_read(struct stepped_usage *stepped, const struct computation *computation,
                       const struct usage_bounds *bounds, struct error *err)
{
    const struct tree *tree = computation->tree;
    struct db *db = computation->source.db;
    struct reader reader = { .computation = computation,
                             .settings = computation->source.settings,
                             .tree = tree,
                             .stepped = stepped };
    reader.now = clock_now(computation->clock);
    reader.steps =
        steps_create(clock_half_life(computation->clock), stepped->period, stepped->ends_free,
                     oldest_of(&reader, computation->clock), reader.now);
    stepped->usage = memory_zeroed(tree->count, sizeof *stepped->usage);
    stepped->dearest = memory_zeroed(tree->count, sizeof *stepped->dearest);
    int result = db_begin(db, err);
    if (!result) {
        result = read_snapshot(&reader, bounds, err);
        db_rollback(db);
    }
    steps_destroy(reader.steps);
    if (result)
        stepped_usage_free(stepped);
    else
        raise_dearest(tree, stepped->dearest);
    return result;
}

void stepped_usage_free(struct stepped_usage *stepped)
{
    free(stepped->usage);
    free(stepped->dearest);
    stepped->usage = stepped->dearest = NULL;
}
