/* SPDX-License-Identifier: MIT */
#include "compute/batch.h"

#include <stdlib.h>

#include "compute/accumulators.h"
#include "compute/associations.h"
#include "compute/charge_jobs.h"
#include "compute/compute.h"
#include "compute/factors.h"
#include "core/finding.h"
#include "core/tree/association_history.h"
#include "core/usage/ledger.h"
#include "core/usage/usage_owners.h"
#include "results/factor_rows.h"
#include "results/ledger_rows.h"
#include "results/share_rows.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/memory.h"

/*
 * The maximum number of associations of a group, added up over all its times.  A group of one time
 * may have more.
 */
#define ASSOCIATIONS_AT_ONCE 1000000

/* Properties that must be equal at all times of a group. */
struct batch_terms {
    uint64_t half_life, epoch, start; /* members of the decay table */
    uint64_t cutoff;
    uint64_t ledger, owners; /* hashes of the resets and refunds, and of the usage owners */
    uint64_t jobs_from;      /* rollups replace jobs before it */
    uint64_t factors;        /* hash of the factors that applied up to the previous time */
};

/* One time of a group. */
struct batch_member {
    size_t number; /* index in batch->times */
    struct computation computation;
    struct batch_terms terms;
    uint64_t factors; /* hash of the factors that applied up to this time */
    uint64_t oldest_end;
};

struct group {
    const struct batch *batch;
    struct accounting *accounting; /* lent to all members */
    /* evidence about associations; observations for one time only */
    struct association_history *history;
    struct factor_history *own_factors;
    struct purge purge;
    bool has_factors; /* factors were read from the source */
    struct batch_member *members;
    size_t count;
    size_t end; /* index of the first time that was neither added nor skipped */
};

static struct factor_history *batch_factors_of(const struct group *group)
{
    return group->batch->records.factors ? group->batch->records.factors : group->own_factors;
}

int batch_records_read(struct db *results, const char *cluster, struct batch_records *records,
                       struct error *err)
{
    *records = (struct batch_records){ .factors = factor_history_create() };
    if (!ledger_read(results, cluster, &records->ledger, err) &&
        !factor_rows_read(results, cluster, records->factors, err) &&
        !share_records_read(results, cluster, &records->shares, err))
        return 0;
    batch_records_free(records);
    return -1;
}

void batch_records_free(struct batch_records *records)
{
    ledger_destroy(records->ledger);
    factor_history_destroy(records->factors);
    share_records_free(records->shares);
    *records = (struct batch_records){ 0 };
}

/* ---- One time ---- */

static uint64_t hash_of_ledger(const struct ledger_state *ledger)
{
    uint64_t hash = ledger_resets_hash(ledger, UINT64_MAX) + job_keys_hash(&ledger->refunded);
    for (size_t i = 0; i < ledger->refunded.count; i++)
        hash = hash * 31 + ledger->refunded_until[i];
    return hash;
}

/* Sets the time, ledger and decay table of a member. */
static int begin_member(const struct group *group, struct batch_member *member, struct error *err)
{
    const int64_t *instant = &group->batch->times[member->number];
    struct source source = group->batch->source;
    struct computation *computation = &member->computation;
    source.time = instant;
    *computation = computation_of(&source);
    computation->record.started_at = clock_now();
    computation_begin(computation, group->batch->records.ledger, (uint64_t)*instant);
    if (reach_begin(computation, (uint64_t)*instant, err))
        return -1;
    const struct decay_table *decay = computation->decay;
    member->terms = (struct batch_terms){
        .half_life = decay_table_half_life(decay),
        .epoch = decay_table_epoch(decay),
        .start = decay_table_start(decay),
        .cutoff = reach_cutoff(computation),
        .ledger = hash_of_ledger(computation->ledger),
    };
    return 0;
}

/* Reads the source's small tables, once for the whole group. */
static int read_tables(struct group *group, struct batch_member *first, struct error *err)
{
    struct computation *computation = &first->computation;
    const struct layout *layout = group->batch->source.layout;
    if (!layout->tells_past)
        group->history = association_history_create(computation->record.as_of);
    if (associations_read(computation, group->history, err))
        return -1;
    group->accounting = computation->accounting;
    computation->accounting = NULL;
    if (!group->batch->records.factors)
        group->own_factors = factor_history_create();
    return 0;
}

/*
 * Sets the member's associations.  Returns 1 on success, 0 if there were no associations or they do
 * not form a tree, or -1 on error.
 */
static int place_associations(struct group *group, struct batch_member *member, struct error *err)
{
    struct computation *computation = &member->computation;
    computation->accounting = accounting_lend(group->accounting);
    computation->accounting_is_lent = true;
    if (group->history) {
        association_history_move(group->history, computation->record.as_of);
        if (group->batch->records.shares)
            share_records_tell(group->batch->records.shares, group->history);
    }
    if (!associations_place(computation, group->history, err))
        return 1;
    if (err->class != ERROR_DATA)
        return -1;
    group->batch->skip(group->batch->context, computation->record.as_of, err);
    if (group->batch->source.layout->tells_past) {
        accounting_destroy(group->accounting);
        group->accounting = NULL;
    }
    return 0;
}

/* Sets the member's factors, and the terms that depend on factors, usage owners and rollups. */
static int find_reach(struct group *group, struct batch_member *member, struct error *err)
{
    struct computation *computation = &member->computation;
    const struct layout *layout = group->batch->source.layout;
    struct factor_history *factors = batch_factors_of(group);
    if (layout->past && group->has_factors)
        factors_apply(computation, factors);
    else if (factors_read(computation, factors, NULL, err))
        return -1;
    group->has_factors = true;
    struct jobs_seen seen = jobs_seen_none;
    if (!group->count)
        group->purge = (struct purge){ .cutoff = member->terms.cutoff };
    if (reach_oldest_end(computation, &seen.oldest_end, err) ||
        rollups_end(computation, &group->purge, &seen, &member->terms.jobs_from, err))
        return -1;
    member->oldest_end = seen.oldest_end;
    member->terms.owners = usage_owners_hash(computation->owners, UINT64_MAX);
    member->factors = factor_history_hash(factors, computation->record.as_of);
    if (group->count)
        member->terms.factors =
            factor_history_hash(factors, group->members[group->count - 1].computation.record.as_of);
    return 0;
}

/* ---- A group ---- */

static bool same_time(const struct batch_terms *one, const struct batch_terms *other)
{
    return one->half_life == other->half_life && one->epoch == other->epoch &&
           one->start == other->start && one->cutoff == other->cutoff &&
           one->ledger == other->ledger;
}

/* Returns true if the next time can join the group. */
static bool fits(const struct group *group, const struct batch_member *next)
{
    const struct batch_member *last = &group->members[group->count - 1];
    return last->terms.owners == next->terms.owners &&
           last->terms.jobs_from == next->terms.jobs_from && last->factors == next->terms.factors;
}

/*
 * Returns false if the next time certainly cannot join the group.  Called before its associations
 * are read.
 */
static bool may_fit(const struct group *group, const struct batch_member *next)
{
    const struct batch_member *first = group->members;
    return !decay_table_is_stepped(next->computation.decay) &&
           same_time(&first->terms, &next->terms) && !group->batch->source.layout->tells_past &&
           (group->count + 1) * (group->accounting->count + 1) <= ASSOCIATIONS_AT_ONCE;
}

/*
 * Fills `next` with the next time.  Returns 1 if the time can join the group or must be skipped, 0
 * if it cannot join, or -1 on error.  Sets `*placed` to false if the time must be skipped.
 */
static int make_member(struct group *group, struct batch_member *next, bool *placed,
                       struct error *err)
{
    if (begin_member(group, next, err))
        return -1;
    if (!group->accounting && read_tables(group, next, err))
        return -1;
    if (group->count && !may_fit(group, next))
        return 0;
    int got = place_associations(group, next, err);
    *placed = got > 0;
    if (got <= 0)
        return got < 0 ? -1 : 1;
    if (find_reach(group, next, err))
        return -1;
    return !group->count || fits(group, next);
}

/*
 * Adds the next time to the group or skips it.  Returns 1 on success, 0 if the time cannot join the
 * group, or -1 on error.
 */
static int batch_add_member(struct group *group, struct error *err)
{
    struct batch_member next = { .number = group->end, .oldest_end = UINT64_MAX };
    bool placed = false;
    int got = make_member(group, &next, &placed, err);
    if (got > 0)
        group->end++;
    if (got <= 0 || !placed) {
        computation_free(&next.computation);
        return got;
    }
    next.computation.record.message = ""; /* it pointed into `next`, which is copied */
    *memory_append(&group->members, &group->count) = next;
    return 1;
}

static void group_free(struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        computation_free(&group->members[i].computation);
    free(group->members);
    accounting_destroy(group->accounting);
    association_history_destroy(group->history);
    factor_history_destroy(group->own_factors);
}

/* Adds times to the group as long as they can join. */
static int batch_gather(struct group *group, struct error *err)
{
    const struct batch *batch = group->batch;
    int got = 1;
    while (got > 0 && group->end < batch->count)
        got = batch_add_member(group, err);
    if (got < 0)
        return -1;
    /* A time that could not join has already changed the factors in the shared charge rates.
     * Restore the factors of the last member. */
    if (!got && batch->source.layout->past)
        factors_apply(&group->members[group->count - 1].computation, batch_factors_of(group));
    return 0;
}

/* ---- The jobs of a group ---- */

/* Scans the jobs as of the last time.  Usage from rollups goes to `base`. */
static int batch_read_jobs(const struct group *group, struct split *multi, struct usage_sums *base,
                           struct jobs_seen *seen, struct error *err)
{
    const struct batch_member *last = &group->members[group->count - 1];
    struct computation reading = computation_of(&last->computation.source);
    reading.accounting = group->accounting;
    reading.decay = last->computation.decay;
    reading.ledger = last->computation.ledger;
    reading.owners = last->computation.owners;
    reading.findings = findings_create();
    reading.unattributed = base;
    reading.multi = multi;
    seen->oldest_end = last->oldest_end;
    int result = charge_jobs(&reading, NULL, last->terms.cutoff, seen, err);
    findings_destroy(reading.findings);
    return result;
}

static int add_sums(const struct usage_sums *from, struct usage_sums *to, struct error *err)
{
    for (size_t i = 0; i < from->count; i++)
        if (!wide_add(usage_sums_of(to, from->rows[i].id), &from->rows[i].sum))
            return usage_beyond_range(from->rows[i].id, err);
    return 0;
}

static int charge_sums(struct computation *computation, const struct usage_sums *sums,
                       struct error *err)
{
    for (size_t i = 0; i < sums->count; i++)
        if (!wide_add(computation_sum_of(computation, sums->rows[i].id), &sums->rows[i].sum))
            return usage_beyond_range(sums->rows[i].id, err);
    return 0;
}

/*
 * Returns the jobs' times as of this member.  `of_last` contains the jobs' times as of the last
 * member.
 */
static struct jobs_seen seen_by(const struct batch_member *member, const struct jobs_seen *of_last)
{
    uint64_t now = decay_table_now(member->computation.decay);
    struct jobs_seen seen = { .count = of_last->count,
                              .oldest_end = member->oldest_end,
                              .first_charge = UINT64_MAX,
                              .first_behind_end = of_last->first_behind_end };
    if (of_last->first_charge < now)
        seen.first_charge = of_last->first_charge;
    if (of_last->oldest_end <= now)
        note_least(&seen.oldest_end, of_last->oldest_end);
    return seen;
}

/* Computes the values of each member and passes them to batch->take(). */
static int batch_take_all(const struct group *group, const struct split *multi,
                          struct usage_sums *ended, const struct jobs_seen *of_last, size_t *done,
                          struct error *err)
{
    const struct batch *batch = group->batch;
    for (size_t i = 0; i < group->count; i++) {
        struct computation *computation = &group->members[i].computation;
        struct jobs_seen seen = seen_by(&group->members[i], of_last);
        if (add_sums(multi->times[i].ended, ended, err) || charge_sums(computation, ended, err) ||
            charge_sums(computation, multi->times[i].working, err) ||
            charge_corrections(computation, err))
            return -1;
        reach_note_seen(computation, &seen);
        if (compute_values(computation, NULL, err) || batch->take(batch->context, computation, err))
            return -1;
        computation_free(computation);
        *done = group->members[i].number + 1;
    }
    *done = group->end;
    return 0;
}

int batch_compute_some(const struct batch *batch, size_t *done, struct error *err)
{
    struct group group = { .batch = batch, .end = *done };
    struct usage_sums *ended = usage_sums_create(0);
    struct split multi = { .count = 0 };
    struct multi_time_sums *times = NULL;
    struct jobs_seen seen = jobs_seen_none;
    struct db *db = batch->source.db;
    int result = -1;
    if (db_begin(db, err))
        goto done;
    if (!batch_gather(&group, err)) {
        times = memory_zeroed(group.count + 1, sizeof *times);
        for (size_t i = 0; i < group.count; i++)
            times[i].decay = group.members[i].computation.decay;
        multi_time_begin(&multi, times, group.count);
        result = group.count ? batch_read_jobs(&group, &multi, ended, &seen, err) : 0;
    }
    if (result || db_commit(db, err)) {
        db_rollback(db);
        result = -1;
        goto done;
    }
    result = batch_take_all(&group, &multi, ended, &seen, done, err);
done:
    multi_time_free(&multi);
    free(times);
    usage_sums_destroy(ended);
    group_free(&group);
    return result;
}
