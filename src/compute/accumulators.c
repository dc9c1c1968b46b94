/* SPDX-License-Identifier: MIT */
#include "compute/accumulators.h"

#include <inttypes.h>
#include <stdio.h>

#include <xxhash.h>

#include "compute/computation.h"
#include "core/finding.h"
#include "core/usage/checkpoint.h"
#include "core/usage/ledger.h"
#include "results/day_waits.h"
#include "results/days.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/text.h"
#include "util/times.h"

/* Adds the charge that is waiting, if any. */
static int add_waiting_charge(struct sums_accumulator *accumulator, struct error *err)
{
    const struct usage_place place = accumulator->place;
    if (!place.sum)
        return 0;
    bool good = wide_add_product(place.sum, accumulator->waiting.units, accumulator->waiting.weight,
                                 accumulator->negative);
    if (good && accumulator->has_products)
        good = tres_add(accumulator->computation->tres->kept.count, place.tres,
                        accumulator->products, accumulator->negative);
    if (!good)
        return usage_beyond_range(accumulator->association, err);
    accumulator->place.sum = NULL;
    return 0;
}

/*
 * The sums of very many associations do not fit into the processor's caches.  Waiting for a sum
 * would be the most expensive part of a row.  So this function prefetches the sums of a charge, and
 * adds the charge when it is called for the next one.
 */
static int sums_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                                 struct error *err)
{
    struct sums_accumulator *accumulator = (struct sums_accumulator *)base;
    const struct charge_term *counted = &charge->counted;
    struct computation *computation = accumulator->computation;
    if (!counted->weight || (!counted->units && !charge->tres))
        return 0;
    if (add_waiting_charge(accumulator, err))
        return -1;
    uint64_t association = accumulator->association = charge->interval.association;
    accumulator->place = charge->checkpointed
                             ? usage_sums_place(accumulator->checkpointed, association)
                             : computation_place(computation, association);
    __builtin_prefetch(accumulator->place.sum, 1);
    accumulator->waiting = *counted;
    accumulator->negative = charge->negative;
    accumulator->has_products = charge->tres != NULL;
    if (!charge->tres)
        return 0;
    __builtin_prefetch(accumulator->place.tres, 1);
    accumulator->has_products =
        tres_products(computation->tres, charge, counted->narrow, accumulator->products);
    return 0;
}

int sums_accumulator_end(struct sums_accumulator *accumulator, struct error *err)
{
    return add_waiting_charge(accumulator, err);
}

void sums_accumulator_begin(struct sums_accumulator *accumulator, struct computation *computation,
                            struct usage_sums *checkpointed)
{
    *accumulator = (struct sums_accumulator){ .accumulator = { sums_accumulator_take },
                                              .computation = computation,
                                              .checkpointed = checkpointed };
}

const struct jobs_seen jobs_seen_none = { .oldest_end = UINT64_MAX,
                                          .first_charge = UINT64_MAX,
                                          .first_behind_end = UINT64_MAX };

void note_least(uint64_t *least, uint64_t value)
{
    if (value < *least)
        *least = value;
}

static void note_times(const struct seen_accumulator *accumulator, const struct charge *charge)
{
    struct jobs_seen *seen = accumulator->seen;
    uint64_t start = charge->row->job.time_start, ended = charge->ended;
    uint64_t newest = ended && ended <= accumulator->now ? ended : start;
    if (charge->outcome == JOB_ENDS_BEFORE_START)
        return;
    if (newest > seen->newest && newest <= accumulator->now)
        seen->newest = newest;
    if (ended)
        note_least(&seen->oldest_end, ended);
}

/*
 * Adds a job to a finding that covers all jobs of a subject.  When the cutoff passes a row, the row
 * is removed from the checkpoint, but a job cannot be subtracted from such a finding.  So the time
 * is divided into parts of an eighth of the horizon, with one finding for the jobs that ended in
 * each part.  The finding is dropped when the cutoff has passed the beginning of its part.
 */
#define HORIZON_PARTS 8
static void add_of_jobs(const struct seen_accumulator *accumulator, const struct charge *charge,
                        enum finding_kind kind, uint64_t subject, const char *detail)
{
    struct findings *findings =
        charge->checkpointed ? accumulator->checkpointed_findings : accumulator->findings;
    uint64_t start = charge->row->job.time_start, part = accumulator->horizon / HORIZON_PARTS + 1;
    uint64_t begin = accumulator->horizon ? charge->ended / part * part : 0;
    if (begin && begin <= accumulator->cutoff)
        return;
    const struct finding jobs = { .subject = subject,
                                  .ends = charge->checkpointed ? begin : 0,
                                  .jobs = 1,
                                  .first = start,
                                  .last = start };
    findings_add_jobs(findings, kind, &jobs, "%s", detail);
}

/* Reports a job whose billing differs from the weights of its partition. */
static void add_other_weights(const struct seen_accumulator *accumulator,
                              const struct charge *charge)
{
    const struct charge_rate *rate = charge->interval.rate;
    struct text detail = { 0 };
    text_format(&detail, rate->list ? "partition '%s'" : "tres_weights", rate->partition);
    add_of_jobs(accumulator, charge, FINDING_OTHER_WEIGHTS, rate->list, detail.bytes);
    text_free(&detail);
}

/*
 * Reports a row by its outcome.  The finding of a checkpointed row is dropped once the cutoff
 * passes the end of the row.
 */
static void accumulator_add_finding(const struct seen_accumulator *accumulator,
                                    const struct charge *charge)
{
    const struct job *job = &charge->row->job;
    struct findings *findings =
        charge->checkpointed ? accumulator->checkpointed_findings : accumulator->findings;
    uint64_t id = charge->row->id_job, ends = charge->checkpointed ? charge->ended : 0;
    const char *tres = job->tres_alloc ? job->tres_alloc : charge->row->tres;
    size_t length = job->tres_alloc ? job->tres_alloc_length : charge->row->tres_length;
    int shown_length = (int)(length < 80 ? length : 80);
    if (!tres)
        tres = "";
    char name[64] = "";
    if (charge->row->name)
        snprintf(name, sizeof name, "job '%.*s', ", (int)charge->row->name_length,
                 charge->row->name);
    switch (charge->outcome) {
    case JOB_CHARGED:
        break;
    case JOB_CAPPED:
        findings_add_ended(findings, FINDING_JOB_CAPPED, id, ends,
                           "%sopen since %s, time limit %" PRIu64 " minutes", name,
                           time_text((int64_t)job->time_start).bytes, job->time_limit);
        break;
    case JOB_OPEN_FOR_LONG:
        findings_add_ended(findings, FINDING_JOB_OPEN_FOR_LONG, id, ends, "%sopen since %s", name,
                           time_text((int64_t)job->time_start).bytes);
        break;
    case JOB_ENDS_IN_FUTURE:
        findings_add_ended(findings, FINDING_JOB_ENDS_IN_FUTURE, id, ends, "ends %s, now %s",
                           time_text((int64_t)job->time_end).bytes,
                           time_text((int64_t)accumulator->now).bytes);
        break;
    case JOB_ENDS_BEYOND_LIMIT:
        findings_add_ended(findings, FINDING_JOB_ENDS_BEYOND_LIMIT, id, ends,
                           "started %s, ended %s, time limit %" PRIu64 " minutes",
                           time_text((int64_t)job->time_start).bytes,
                           time_text((int64_t)job->time_end).bytes, job->time_limit);
        break;
    case JOB_OTHER_WEIGHTS:
        add_other_weights(accumulator, charge);
        break;
    case JOB_ENDS_BEFORE_START:
        findings_add_ended(findings, FINDING_JOB_ENDS_BEFORE_START, id, ends, "starts %s, ends %s",
                           time_text((int64_t)job->time_start).bytes,
                           time_text((int64_t)job->time_end).bytes);
        break;
    case JOB_STARTS_IN_FUTURE:
        findings_add_ended(findings, FINDING_JOB_STARTS_IN_FUTURE, id, ends, "starts %s, now %s",
                           time_text((int64_t)job->time_start).bytes,
                           time_text((int64_t)accumulator->now).bytes);
        break;
    case JOB_TRES_UNREADABLE:
        findings_add_ended(findings, FINDING_JOB_TRES_UNREADABLE, id, ends, "tres_alloc '%.*s'",
                           shown_length, tres);
        break;
    case JOB_CHARGE_TOO_LARGE:
        findings_add_ended(findings, FINDING_JOB_CHARGE_TOO_LARGE, id, ends, "tres_alloc '%.*s'",
                           shown_length, tres);
        break;
    }
}

/*
 * A job may run before its cluster is added to the accounting database.  So the start of a job may
 * precede the creation of the cluster by at most this time.
 */
#define BEFORE_CLUSTER_S (30 * UINT64_C(86400))

static bool is_before_cluster(const struct seen_accumulator *accumulator, uint64_t first)
{
    return first < accumulator->created && accumulator->created - first > BEFORE_CLUSTER_S;
}

static void add_before_cluster(const struct seen_accumulator *accumulator,
                               const struct charge *charge)
{
    findings_add_ended(
        charge->checkpointed ? accumulator->checkpointed_findings : accumulator->findings,
        FINDING_JOB_BEFORE_CLUSTER, charge->row->id_job, charge->checkpointed ? charge->ended : 0,
        "started %s, the cluster was created %s",
        time_text((int64_t)charge->row->job.time_start).bytes,
        time_text((int64_t)accumulator->created).bytes);
}

int seen_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                          struct error *err)
{
    const struct seen_accumulator *accumulator = (const struct seen_accumulator *)base;
    (void)err;
    if (charge->row->suspension)
        return 0;
    if (++accumulator->seen->count % 65536 == 0)
        log_progress(accumulator->cluster, accumulator->seen->count, "jobs read");
    if (charge->expired)
        return 0;
    note_times(accumulator, charge);
    if (charge->outcome != JOB_CHARGED)
        accumulator_add_finding(accumulator, charge);
    if (charge->row->unknown_qos && accumulator->of_all)
        add_of_jobs(accumulator, charge, FINDING_QOS_UNKNOWN, charge->row->unknown_qos, "QOS");
    if (is_before_cluster(accumulator, charge->first))
        add_before_cluster(accumulator, charge);
    else
        note_least(charge->checkpointed ? accumulator->checkpointed_first
                                        : &accumulator->seen->first_charge,
                   charge->first);
    return 0;
}

void seen_rollup(const struct seen_accumulator *accumulator, const struct rollup_row *row,
                 uint64_t first, bool checkpointed)
{
    if (is_before_cluster(accumulator, first))
        findings_add_ended(checkpointed ? accumulator->checkpointed_findings
                                        : accumulator->findings,
                           FINDING_JOB_BEFORE_CLUSTER, 0, checkpointed ? row->rollup.end : 0,
                           "rollup of association %" PRIu64 " from %s, the cluster was created %s",
                           row->association, time_text((int64_t)row->rollup.start).bytes,
                           time_text((int64_t)accumulator->created).bytes);
    else
        note_least(checkpointed ? accumulator->checkpointed_first
                                : &accumulator->seen->first_charge,
                   first);
}

int first_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                           struct error *err)
{
    (void)err;
    note_least(((struct first_accumulator *)accumulator)->first, charge->first);
    return 0;
}

/*
 * Returns the charge rate that applies while the row's job runs, or a hash of all these rates if
 * the rate changes.
 */
static uint128 rates_of(const struct job_row *row)
{
    const struct charge_rate *tariff = charge_rate_at(row->rate, job_begin(&row->job));
    uint128 rates = tariff->rate;
    for (; tariff->later && tariff->later_from < row->job.time_end; tariff = tariff->later) {
        const uint128 price = tariff->later->rate;
        const uint64_t words[] = { (uint64_t)rates,    (uint64_t)(rates >> 64),
                                   (uint64_t)price,    (uint64_t)(price >> 64),
                                   tariff->later_from, 0 };
        rates = hash_words(words, sizeof words / sizeof *words);
    }
    return rates;
}

/*
 * Returns a hash of everything that the row's charge depends on, except for the checkpoint's basis.
 */
static uint64_t accumulator_hash_of(const struct job_row *row)
{
    const struct job *job = &row->job;
    const uint128 rates = rates_of(row);
    uint64_t words[] = {
        row->id_job,
        row->association,
        job->time_submit,
        job->time_start,
        job->time_end,
        job->tres_alloc ? XXH3_64bits(job->tres_alloc, job->tres_alloc_length) : 0,
        row->resized_to ? XXH3_64bits(row->resized_to, row->resized_to_length) : 0,
        (uint64_t)rates,
        (uint64_t)(rates >> 64),
        row->rate->list,
        row->suspension ? row->suspension->start + 1 : 0,
        row->suspension ? row->suspension->end : 0,
    };
    return hash_words(words, sizeof words / sizeof *words);
}

int day_hash_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                              struct error *err)
{
    const struct day_hash_accumulator *accumulator = (const struct day_hash_accumulator *)base;
    uint64_t end = charge->row->job.time_end;
    (void)err;
    if (charge->checkpointed && end > accumulator->left_out)
        day_hashes_add(accumulator->hashes, end, accumulator_hash_of(charge->row),
                       accumulator->negative);
    return 0;
}

int days_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                          struct error *err)
{
    const struct days_accumulator *accumulator = (const struct days_accumulator *)base;
    struct days *days = accumulator->days;
    const struct charge_term *used = &charge->used;
    if ((!used->units && !charge->tres) || charge->again)
        return 0;
    struct usage_rate rate = { charge->interval.own, used->units, charge->negative, charge->tres };
    if (!days->failed && days_add(days, charge->checkpointed || !days->unsealed_is_kept, &rate,
                                  used->start, used->end, err))
        days_give_up(days, accumulator->findings, err);
    return 0;
}

int waits_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                           struct error *err)
{
    const struct waits_accumulator *accumulator = (const struct waits_accumulator *)base;
    const struct job_row *row = charge->row;
    const uint64_t start = row->job.time_start, end = row->job.time_end;
    struct days *days = accumulator->days;
    /* A job that ended before its start may be checkpointed before that start. */
    if (days->failed || row->suspension || !row->waited_since || (end && end < start))
        return 0;
    const struct started_job job = { row->association,      row->qos,          row->partition,
                                     row->partition_length, row->waited_since, start };
    if (day_waits_add(days->waits, charge->checkpointed || !days->unsealed_is_kept, &job, err))
        days_give_up(days, accumulator->findings, err);
    return 0;
}

bool job_is_refunded(const struct ledger_state *ledger, const struct job_row *row)
{
    return ledger_refunds(ledger, row->id_job, job_begin(&row->job));
}

int watcher_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                             struct error *err)
{
    const struct watcher_accumulator *accumulator = (const struct watcher_accumulator *)base;
    if (!charge->counted.units || job_is_refunded(accumulator->ledger, charge->row))
        return 0;
    return accumulator->watcher->take(accumulator->watcher, charge, err);
}

static int accumulator_add(struct usage_sums *sums, const struct charge *charge, struct error *err)
{
    uint64_t association = charge->interval.association;
    const struct charge_term *counted = &charge->counted;
    if (!counted->units || wide_add_product(usage_sums_of(sums, association), counted->units,
                                            counted->weight, charge->negative))
        return 0;
    return usage_beyond_range(association, err);
}

/* Returns the index of the first time at or after `end`, or multi->count. */
static size_t first_from(const struct split *multi, uint64_t end)
{
    size_t low = 0, high = multi->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (decay_table_now(multi->times[middle].decay) < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Returns the index of the first time at which the row has ended, or multi->count if there is no
 * such time.  A job that was cancelled while suspended is treated as not ended, because the time
 * charged after its end differs between the times.
 */
static size_t first_ended(const struct split *multi, const struct job_row *row)
{
    return row->job.time_end && !row->noted ? first_from(multi, row->job.time_end) : multi->count;
}

static int take_interval(struct charge_accumulator *accumulator, const struct charge *charge,
                         struct error *err)
{
    const struct split *multi = ((const struct multi_time_accumulator *)accumulator)->multi;
    size_t at = charge->again ? multi->count : first_ended(multi, charge->row);
    return at < multi->count ? accumulator_add(multi->times[at].ended, charge, err) : 0;
}

static int add_slices(struct multi_time_sums *time, struct charge *charge, struct error *err)
{
    do
        if (accumulator_add(time->working, charge, err))
            return -1;
    while (charge_next(&time->context, charge));
    return 0;
}

static int charge_at(struct multi_time_sums *time, const struct job_row *row, struct error *err)
{
    struct charge charge;
    charge_begin(&time->context, row, &charge);
    return add_slices(time, &charge, err);
}

/* The time of the decay cycle before a resize is computed separately for each time. */
static int charge_again_at(struct multi_time_sums *time, const struct job_row *row,
                           struct error *err)
{
    struct charge charge;
    struct job_row again;
    return charge_again(&time->context, row, &again, &charge) ? add_slices(time, &charge, err) : 0;
}

static int accumulator_take_row(struct charge_accumulator *accumulator, const struct charge *charge,
                                struct error *err)
{
    const struct split *multi = ((const struct multi_time_accumulator *)accumulator)->multi;
    size_t end = first_ended(multi, charge->row);
    for (size_t i = first_from(multi, charge->row->job.time_start); i < end; i++)
        if (charge_at(&multi->times[i], charge->row, err))
            return -1;
    for (size_t i = end; charge->row->resized_to && i < multi->count; i++)
        if (charge_again_at(&multi->times[i], charge->row, err))
            return -1;
    return 0;
}

void multi_time_begin(struct split *multi, struct multi_time_sums *times, size_t count)
{
    *multi = (struct split){
        { { take_interval }, multi }, { { accumulator_take_row }, multi }, times, count
    };
    for (size_t i = 0; i < count; i++) {
        times[i].ended = usage_sums_create(0);
        times[i].working = usage_sums_create(0);
    }
}

void multi_time_free(struct split *multi)
{
    for (size_t i = 0; i < multi->count; i++) {
        usage_sums_destroy(multi->times[i].ended);
        usage_sums_destroy(multi->times[i].working);
    }
    *multi = (struct split){ .count = 0 };
}

void multi_time_begin_scan(struct split *multi, const struct charge_context *context)
{
    for (size_t i = 0; i < multi->count; i++) {
        multi->times[i].context = *context;
        multi->times[i].context.charging.decay = multi->times[i].decay;
    }
}
