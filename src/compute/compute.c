/* SPDX-License-Identifier: MIT */
#include "compute/compute.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute/accumulators.h"
#include "compute/associations.h"
#include "compute/charge_jobs.h"
#include "compute/checkpoint_plan.h"
#include "compute/computation.h"
#include "compute/factors.h"
#include "compute/priorities.h"
#include "compute/recorded_state.h"
#include "compute/tres_usage.h"
#include "core/fairshare/algorithm.h"
#include "core/fairshare/pbs.h"
#include "core/fairshare/ratio.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/priority/formula_jobs.h"
#include "core/priority/queue.h"
#include "core/tree/tree.h"
#include "core/usage/ledger.h"
#include "db/db.h"
#include "results/day_waits.h"
#include "results/days.h"
#include "results/schema.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "source/pbs/charging.h"
#include "source/tres_minutes.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/text.h"

double compute_capacity(const struct settings *settings, const struct accounting *accounting,
                        uint64_t half_life_s, uint64_t now, uint64_t reset, uint64_t first_charge)
{
    double count = settings->capacity;
    if (!(count > 0)) {
        count = settings->charge == CHARGE_TRES ? accounting->weighted : accounting->billing;
        if (settings->charge == CHARGE_CPU || (settings->charge != CHARGE_TRES && isnan(count)))
            count = accounting->cpus;
        if (!(count > 0))
            return NAN;
    }
    if (half_life_s)
        return count * (double)half_life_s * settings->capacity_half_lives;
    uint64_t since = reset ? reset : first_charge;
    if (since == UINT64_MAX && accounting->created)
        since = accounting->created;
    return since < now ? count * (double)(now - since) : 0;
}

static int compute_read_queue(struct computation *computation, struct error *err)
{
    uint64_t now = decay_table_now(computation->decay);
    struct source source = computation->source;
    const int64_t time = (int64_t)now;
    source.time = &time;
    if (source.layout->imported)
        return source.layout->imported->read_formula_jobs(&source, computation->accounting,
                                                          &computation->formula_jobs, err);
    if (!source.layout->queue)
        return 0;
    const struct release *release = release_of(source.settings, computation->accounting);
    computation->queue = queue_create(computation->accounting->names);
    computation->queue->options.leaves_spec_cpus =
        release_follows(release, RULE_SPEC_CPUS_LEFT_OUT);
    return priorities_read(computation->queue, &computation->source, now, now,
                           computation->findings, err);
}

static int read_tres_minutes(struct computation *computation, struct error *err)
{
    if (!computation->source.layout->queue)
        return 0;
    return tres_minutes_read(&computation->tres_minutes, &computation->source,
                             computation->accounting, computation->tree,
                             decay_table_now(computation->decay), err);
}

static int compute_read_findings(struct computation *computation, struct error *err)
{
    const struct source *source = &computation->source;
    return source->layout->imported
               ? source->layout->imported->read_findings(source, computation->findings, err)
               : 0;
}

/* Chooses the TRES whose usage is kept. */
static void begin_tres(struct computation *computation, struct tres_numbers *numbers)
{
    const struct settings *settings = computation->source.settings;
    uint64_t now = decay_table_now(computation->decay);
    struct tres_usage *tres = tres_usage_create(
        settings, computation->accounting, computation->decay,
        last_reset(settings, computation->ledger, now), numbers, computation->findings);
    computation->tres = tres;
    computation->used_numbers = tres_numbers_used(numbers);
    if (!tres)
        return;
    computation->source.kept = &tres->kept;
    computation->unattributed->tres_count = tres->kept.count;
}

/* Makes the tree and the sums of its nodes. */
static int place_all(struct computation *computation, const struct association_history *history,
                     struct error *err)
{
    if (associations_place(computation, history, err))
        return -1;
    tres_usage_place(computation->tres, computation->tree);
    return 0;
}

/* Frees memory before the results are computed. */
static int spill_days(struct days *days, struct error *err)
{
    return days_spill_rest(days, err) || (days->waits && day_waits_spill_rest(days->waits, err))
               ? -1
               : 0;
}

/* Reads everything that must be read in the snapshot. */
static int compute_read_cluster(struct computation *computation,
                                const struct recorded_state *recorded, struct checkpoint_plan *plan,
                                struct error *err)
{
    struct jobs_seen seen = jobs_seen_none;
    struct association_history *history =
        computation->source.layout->tells_past ? NULL : recorded->history;
    bool wants_times = recorded->unseen && computation->source.layout->past;
    if (associations_read(computation, history, err))
        return -1;
    if (recorded->numbers)
        begin_tres(computation, recorded->numbers);
    uint64_t cutoff = reach_cutoff(computation);
    if ((wants_times && associations_read_times(computation, recorded->unseen, err)) ||
        place_all(computation, history, err) ||
        factors_read(computation, recorded->factors, plan, err) ||
        (plan && checkpoint_plan_make(plan, computation, cutoff, err)) ||
        reach_oldest_end(computation, &seen.oldest_end, err) ||
        compute_read_queue(computation, err) || read_tres_minutes(computation, err) ||
        compute_read_findings(computation, err))
        return -1;
    if ((plan && checkpoint_plan_begin_days(plan, computation, cutoff, err)) ||
        charge_jobs(computation, plan, cutoff, &seen, err))
        return -1;
    reach_note_seen(computation, &seen);
    if (!plan || !plan->days)
        return 0;
    plan->days->oldest_end = seen.oldest_end;
    if (!plan->days->failed && spill_days(plan->days, err))
        days_give_up(plan->days, computation->findings, err);
    return 0;
}

/*
 * Must be called before the snapshot is opened.  The snapshot then contains at least the rows that
 * have arrived by now.
 */
static int refuse_lagging(const struct source *source, struct error *err)
{
    const struct settings *settings = source->settings;
    int64_t lag_s;
    if (settings->max_lag_s < 0)
        return 0;
    if (db_replica_lag(source->db, &lag_s, err))
        return -1;
    if (lag_s > 0 && lag_s != DB_LAG_UNBOUNDED)
        log_note("the accounting database lags %" PRId64 " s", lag_s);
    if (lag_s == DB_LAG_UNBOUNDED)
        return fail(
            err, ERROR_LAGGING,
            "database '%s' is a replica that receives no changes, so it lags without bound; "
            "max_lag is %" PRId64 " s; restart its replication",
            settings->source.database, settings->max_lag_s);
    if (lag_s > settings->max_lag_s)
        return fail(err, ERROR_LAGGING,
                    "database '%s' is a replica that lags %" PRId64 " s; max_lag is %" PRId64 " s",
                    settings->source.database, lag_s, settings->max_lag_s);
    return 0;
}

int compute_read(struct computation *computation, const struct recorded_state *recorded,
                 struct checkpoint_plan *plan, struct error *err)
{
    static const struct recorded_state nothing_known;
    const struct source *source = &computation->source;
    computation->record.started_at = clock_now();
    if (refuse_lagging(source, err) || db_begin(source->db, err))
        return -1;
    uint64_t now = (uint64_t)(source->time ? *source->time : clock_now());
    if (!recorded)
        recorded = &nothing_known;
    computation_begin(computation, recorded->ledger, now);
    if (!reach_begin(computation, now, err) &&
        !compute_read_cluster(computation, recorded, plan, err) && !db_commit(source->db, err))
        return 0;
    db_rollback(source->db);
    computation_free(computation);
    return -1;
}

/*
 * Adds a finding for each association that has usage but is not in the tree.  A sum of 0 is not a
 * finding, because it does not show if there was a job.
 */
static int note_unattributed(struct computation *computation, struct error *err)
{
    struct wide all = { { 0 } };
    for (size_t i = 0; i < computation->unattributed->count; i++) {
        const struct usage_sum *row = &computation->unattributed->rows[i];
        if (wide_is_zero(&row->sum))
            continue;
        findings_add(computation->findings, FINDING_JOB_WITHOUT_ASSOCIATION, row->id,
                     "the accounting database has no association with this id");
        if (!wide_add(&all, &row->sum))
            return fail(
                err, ERROR_DATA,
                "the usage without an association is beyond the range of fairmill's integers");
    }
    if (wide_is_negative(&all)) /* credits exceed the usage */
        all = (struct wide){ { 0 } };
    computation->record.unattributed_usage = decay_table_usage(computation->decay, &all);
    return 0;
}

static void note_plan(struct run_record *record, const struct checkpoint_plan *plan)
{
    record->kind = plan->mode == CHECKPOINT_INCREMENTAL ? "incremental" : "full";
    record->why = plan->why;
    record->drift_max = plan->drift;
    record->drifted = plan->drifted;
}

/* OpenPBS's formulas treat a misspelled resource as 0 in every job. */
static void note_resources(struct computation *computation)
{
    struct text unknown = { 0 };
    pbs_charging_add_unknown(computation->accounting->pbs, &unknown);
    if (unknown.length)
        findings_add(computation->findings, FINDING_RESOURCE_UNKNOWN, 0, "%s", unknown.bytes);
    text_free(&unknown);
}

static double factor_for_jobs(const void *context, uint32_t node)
{
    const struct computation *computation = context;
    return factor_of_jobs(computation->source.settings->algorithm, &computation->options,
                          &computation->tree->nodes[node], &computation->values[node]);
}

/* OpenPBS passes its fairshare values to the formula as text with six decimals. */
static struct formula_value as_openpbs(double value)
{
    char text[512];
    snprintf(text, sizeof text, "%f", isfinite(value) ? value : 0);
    return (struct formula_value){ strtod(text, NULL), false };
}

/*
 * Returns the entity's value that `name` refers to in a formula, or NULL if `name` does not refer
 * to such a value.
 */
static const double *compute_value_named(const char *name, const struct values *values)
{
    return !strcmp(name, "fairshare_perc") || !strcmp(name, "fair_share_perc")
               ? &values->shares_norm
           : !strcmp(name, "fairshare_tree_usage") ? &values->pbs_tree_usage
           : !strcmp(name, "fairshare_factor")     ? &values->pbs_factor
                                                   : NULL;
}

static void compute_complete(struct formula_jobs *jobs, size_t number, const struct tree *tree,
                             const struct values *values, const uint32_t *order)
{
    static const struct values nobody = { 0 };
    struct formula_job *job = &jobs->jobs[number];
    uint32_t place = job->association ? tree_place(tree, job->association) : NO_NODE;
    const struct values *own = place == NO_NODE ? &nobody : &values[place];
    struct formula_value *named = formula_jobs_values(jobs, number);
    for (size_t i = 0; i < formula_jobs_name_count(jobs); i++) {
        const double *value = compute_value_named(formula_name(jobs->formula, i), own);
        if (value)
            named[i] = as_openpbs(*value);
    }
    job->account = place == NO_NODE ? INDEX_NONE : tree->nodes[place].account;
    job->order = place == NO_NODE || !order[place] ? UINT32_MAX : order[place];
    job->factor = place == NO_NODE ? NAN : own->pbs_factor;
    job->no_shares = jobs->enforces_shares && !(own->shares_norm > 0);
}

/*
 * Gives each job the OpenPBS fairshare values of its entity, and ranks the jobs.  `values` and
 * `order` are indexed by node.  `order` contains the node's place by OpenPBS's fairshare, or 0.
 * Adds a finding if the formula cannot be evaluated.
 */
static void formula_priorities_complete(struct formula_jobs *jobs, const struct tree *tree,
                                        const struct values *values, const uint32_t *order,
                                        struct findings *findings)
{
    if (jobs->flaw)
        findings_add(findings, FINDING_FORMULA_UNREADABLE, 0, "%s", jobs->flaw);
    for (size_t i = 0; i < jobs->count; i++)
        compute_complete(jobs, i, tree, values, order);
    formula_jobs_rank(jobs);
}

static int roll_up_tres(const struct computation *computation, struct error *err)
{
    uint32_t node = tres_usage_roll_up(computation->tres, computation->tree);
    return node == NO_NODE ? 0 : usage_beyond_range(computation->tree->nodes[node].id, err);
}

int compute_values(struct computation *computation, const struct checkpoint_plan *plan,
                   struct error *err)
{
    const struct settings *settings = computation->source.settings;
    struct run_record *record = &computation->record;
    uint64_t now = decay_table_now(computation->decay);
    if (note_unattributed(computation, err) || tree_roll_up_usage(computation->tree, err) ||
        roll_up_tres(computation, err))
        return -1;
    computation->capacity =
        compute_capacity(settings, computation->accounting, record->half_life_s, now,
                         last_reset(settings, computation->ledger, now), computation->first_charge);
    const struct scheduler *scheduler = scheduler_of(settings);
    if (isnan(computation->capacity) && scheduler->registers_capacity)
        findings_add(computation->findings, FINDING_CAPACITY_UNKNOWN, 0,
                     "the cluster has registered none of the charged TRES");
    const struct release *release = release_of(settings, computation->accounting);
    struct fairshare_options *options = &computation->options;
    record->slurm_version = release ? release->name : NULL;
    if (computation->accounting->pbs) {
        record->usage_unit = pbs_charging_unit(computation->accounting->pbs);
        note_resources(computation);
    }
    *options = (struct fairshare_options){
        .conformance = settings->conformance,
        .dampening = settings->dampening,
        .pbs_minimum_usage = settings->pbs_minimum_usage,
        .capacity = computation->capacity,
        .decay = computation->decay,
        .release = release,
    };
    computation->values = memory_zeroed(computation->tree->count, sizeof *computation->values);
    fairshare_compute(computation->tree, options, computation->values);
    computation->order =
        order_of_all(computation->tree, options, settings->algorithm, computation->values);
    /* If values were computed before, with another state of the tree, pbs_order is still set. */
    free(computation->pbs_order);
    computation->pbs_order = NULL;
    if (scheduler->has_pbsfs || settings->algorithm == algorithm_named("pbs"))
        computation->pbs_order = pbs_order(&(struct fairshare){
            .tree = computation->tree, .options = options, .values = computation->values });
    if (computation->queue)
        priorities_complete(computation->queue, settings, computation->accounting,
                            computation->tree, factor_for_jobs, computation);
    if (computation->formula_jobs)
        formula_priorities_complete(computation->formula_jobs, computation->tree,
                                    computation->values, computation->pbs_order,
                                    computation->findings);
    record->associations = computation->tree->count;
    record->users = computation->tree->user_count;
    if (plan)
        note_plan(record, plan);
    return 0;
}

int compute_cluster(struct computation *computation, const struct recorded_state *recorded,
                    struct error *err)
{
    if (compute_read(computation, recorded, NULL, err))
        return -1;
    if (!compute_values(computation, NULL, err))
        return 0;
    computation_free(computation);
    return -1;
}

static int make_stepped_decay_table(struct computation *computation, uint64_t now, uint64_t reset,
                                    struct error *err)
{
    const struct decay_cycles *steps = &computation->starts.steps;
    uint64_t count = decay_cycles_count(steps, now, reset);
    if (count > DECAY_CYCLES_AT_MOST)
        return fail(err, ERROR_SETTINGS,
                    "fairshare_decay_time and fairshare_decay_factor give %" PRIu64
                    " decay steps, more than the limit of %" PRIu64
                    "; increase fairshare_decay_time, or set [usage] decay = exact",
                    count, DECAY_CYCLES_AT_MOST);
    computation->decay = decay_table_create_stepped(steps, now, reset);
    return 0;
}

int reach_begin(struct computation *computation, uint64_t now, struct error *err)
{
    const struct settings *settings = computation->source.settings;
    struct usage_starts *starts = &computation->starts;
    struct source source = computation->source;
    int64_t time = (int64_t)now;
    source.time = &time;
    int result =
        source.layout->imported ? source.layout->imported->read_starts(&source, starts, err) : 0;
    uint64_t reset = last_reset(settings, computation->ledger, now);
    if (starts->time > reset)
        reset = computation->ledger->cluster_reset = starts->time;
    computation->record.half_life_s =
        settings->half_life_of_source ? starts->steps.half_life : settings->half_life_s;
    if (!result && settings->decay == DECAY_STEPS && settings->half_life_of_source)
        return make_stepped_decay_table(computation, now, reset, err);
    computation->decay = decay_table_create(computation->record.half_life_s, now, reset);
    return result;
}

/*
 * Returns the largest fraction of a usage value that jobs that were not read could have added, or
 * NAN if there is no bound.  Purged jobs ended before all jobs that still exist.  Jobs before the
 * horizon are not read.
 */
static double truncation_bound(const struct settings *settings, const struct decay_table *decay,
                               uint64_t reset, uint64_t oldest_end)
{
    uint64_t now = decay_table_now(decay), last = oldest_end;
    if (settings->horizon_s && settings->horizon_s < now && last < now - settings->horizon_s)
        last = now - settings->horizon_s;
    if (last > now)
        return NAN;
    if (reset && last <= reset)
        return 0;
    return decay_table_half_life(decay) ? decay_table_left(decay, last) : NAN;
}

uint64_t reach_cutoff(const struct computation *computation)
{
    const struct settings *settings = computation->source.settings;
    uint64_t now = decay_table_now(computation->decay),
             oldest = decay_table_start(computation->decay);
    if (computation->accounting && tres_usage_needs_all(settings, computation->accounting))
        oldest = last_reset(settings, computation->ledger, now);
    if (!settings->horizon_s || settings->horizon_s >= now)
        return oldest;
    /* Subtract 1, so that a job that ended exactly on the horizon is read. */
    uint64_t horizon = now - settings->horizon_s - 1;
    return horizon > oldest ? horizon : oldest;
}

void reach_note_seen(struct computation *computation, const struct jobs_seen *seen)
{
    const struct settings *settings = computation->source.settings;
    struct run_record *record = &computation->record;
    uint64_t now = decay_table_now(computation->decay);
    computation->first_charge = seen->first_charge;
    computation->first_behind_end = seen->first_behind_end;
    record->jobs_read = (int64_t)seen->count;
    record->truncation_bound =
        truncation_bound(settings, computation->decay,
                         last_reset(settings, computation->ledger, now), seen->oldest_end);
    record->source_newest = seen->newest ? (int64_t)seen->newest : -1;
    record->source_lag = seen->newest ? (int64_t)(now - seen->newest) : -1;
}

int reach_oldest_end(const struct computation *computation, uint64_t *oldest_end, struct error *err)
{
    const struct source *source = &computation->source;
    uint64_t oldest, newest;
    if (!source->layout->past && !source->settings->horizon_s &&
        source->settings->reset_period.unit == RESET_NEVER && !computation->ledger->cluster_reset)
        return 0;
    if (source->layout->read_ends(source, 0, decay_table_now(computation->decay), &oldest, &newest,
                                  err))
        return -1;
    *oldest_end = oldest ? oldest : UINT64_MAX;
    return 0;
}

int checkpointed_read_begin(struct checkpointed_read *last, const struct source *source,
                            struct db *results, struct error *err)
{
    *last = (struct checkpointed_read){ .results = results,
                                        .source_identity = db_identity(source->db, err),
                                        .stored = { .findings = findings_create() } };
    if (last->source_identity && !checkpoint_read(results, source->cluster, &last->stored, err))
        return 0;
    checkpointed_read_free(last);
    return -1;
}

void checkpointed_read_free(struct checkpointed_read *last)
{
    stored_checkpoint_free(&last->stored);
    free(last->source_identity);
    *last = (struct checkpointed_read){ 0 };
}

/*
 * Reads the rows that are not checkpointed from the source, and then adds the stored sums from the
 * results.
 */
static int read_with_plan(struct checkpointed_read *last, struct computation *computation,
                          const struct recorded_state *recorded, struct error *err)
{
    struct checkpoint_plan plan = { .stored = &last->stored,
                                    .source_identity = last->source_identity,
                                    .publishes_nothing = true };
    int result = compute_read(computation, recorded, &plan, err);
    if (!result && checkpoint_plan_fold(&plan, computation, last->results, err)) {
        computation_free(computation);
        result = -1;
    }
    checkpoint_plan_free(&plan);
    return result;
}

int checkpointed_read_compute(struct checkpointed_read *last, struct computation *computation,
                              const struct recorded_state *recorded, struct error *err)
{
    const struct source source = computation->source;
    int64_t now = source.time ? *source.time : clock_now();
    if (last->stored.checkpoint.kept && now >= (int64_t)last->stored.checkpoint.as_of) {
        if (!read_with_plan(last, computation, recorded, err))
            return 0;
        if (err->class != ERROR_DAMAGED)
            return -1;
        *computation = computation_of(&source);
    }
    return compute_read(computation, recorded, NULL, err);
}

int compute_read_current(struct computation *computation, const struct recorded_state *recorded,
                         struct error *err)
{
    const struct source *source = &computation->source;
    struct checkpointed_read last;
    struct db *results;
    if (results_open(&results, source->settings, DB_READER, err))
        return err->class == ERROR_MISSING ? compute_read(computation, recorded, NULL, err) : -1;
    int result = checkpointed_read_begin(&last, source, results, err);
    if (result) {
        results_explain(source->settings, err);
    } else {
        result = checkpointed_read_compute(&last, computation, recorded, err);
        checkpointed_read_free(&last);
    }
    db_close(results);
    return result;
}
