/* SPDX-License-Identifier: MIT */
#include "compute/compute.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "compute/charge_jobs.h"
#include "compute/factors.h"
#include "compute/prior.h"
#include "compute/priorities.h"
#include "compute/seal_plan.h"
#include "compute/sinks.h"
#include "core/fairshare/pbs.h"
#include "core/fairshare/ranking.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/tree/heirs.h"
#include "core/usage/ledger.h"
#include "compute/formula_priorities.h"
#include "core/priority/queue.h"
#include "core/tree/lineage.h"
#include "results/days.h"
#include "settings/settings.h"
#include "source/pbs/charging.h"
#include "source/tres_minutes.h"
#include "util/error.h"
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
    return since < now ? count * (double)(now - since) : 0;
}

/* The largest part of a value that jobs which were not read could have added.  Those that were
 * purged had ended before all that are there, and those beyond the horizon before that. */
static double truncation_bound(const struct settings *settings, const struct clock *clock,
                               uint64_t reset, uint64_t oldest_end)
{
    uint64_t now = clock_now(clock), last = oldest_end;
    if (settings->horizon_s && settings->horizon_s < now && last < now - settings->horizon_s)
        last = now - settings->horizon_s;
    if (last > now)
        return NAN;
    if (reset && last <= reset)
        return 0;
    return clock_half_life(clock) ? clock_left(clock, last) : NAN;
}

/* Rows that ended at or before this instant are not read. */
static uint64_t oldest_read(const struct settings *settings, const struct clock *clock)
{
    uint64_t now = clock_now(clock), oldest = clock_start(clock);
    if (!settings->horizon_s || settings->horizon_s >= now)
        return oldest;
    uint64_t horizon = now - settings->horizon_s - 1; /* one that ended right on it is read */
    return horizon > oldest ? horizon : oldest;
}

static void note_unknown_tres(struct computation *computation)
{
    const struct tariffs *tariffs = computation->accounting->tariffs;
    const struct tres_weight *weight;
    struct text names = { 0 };
    for (size_t at = 0; tariffs && (weight = tariffs_unused_tres(tariffs, &at));)
        text_format(&names, "%s'%s%s%s'", names.length ? ", " : "", weight->type,
                    *weight->name ? "/" : "", weight->name);
    if (names.length)
        findings_add(computation->findings, FINDING_TRES_UNKNOWN, 0, "%s", names.bytes);
    text_free(&names);
}

static struct associations associations_of(const struct accounting *accounting)
{
    return (struct associations){ accounting->rows, accounting->count, accounting->names,
                                  accounting->empty_name, false };
}

/* Whose word the associations are, for the run's record. */
static void note_past(struct computation *computation)
{
    const struct past_counts *counts = &computation->past_counts;
    snprintf(computation->message, sizeof computation->message,
             "associations of this instant: told by earlier runs %zu, by txn_table %zu, by "
             "creation_time and mod_time %zu; not told %zu",
             counts->by_runs, counts->by_source, counts->by_times, counts->unknown);
    computation->record.message = computation->message;
}

/* What the source tells of the past.  Under slurmctld a run of now, too, wants to know what was
 * removed. */
static int read_changes(struct computation *computation, enum changes_wanted wanted,
                        struct past *past, struct error *err)
{
    const struct source *source = &computation->source;
    past_forget_source(past);
    return source->layout->read_changes
               ? source->layout->read_changes(source, wanted, past, computation->findings, err)
               : 0;
}

/* Whose usage it is what associations used before they were removed.  `past` NULL: it is now. */
static int find_heirs(struct computation *computation, const struct past *past, struct heirs *heirs,
                      struct error *err)
{
    struct past *until_now = NULL;
    int result = 0;
    if (computation->source.settings->conformance != CONFORMANCE_SLURMCTLD)
        return 0;
    if (!past) {
        past = until_now = past_create((int64_t)clock_now(computation->clock));
        result = read_changes(computation, CHANGES_OF_LIFE, until_now, err);
    }
    const struct associations associations = associations_of(computation->accounting);
    if (!result && (past->count || past->removal_count))
        *heirs = heirs_find(past, &associations);
    past_destroy(until_now);
    return result;
}

/* Make the associations those of an instant that is over. */
static int go_back(struct computation *computation, const struct past *past, struct error *err)
{
    struct accounting *accounting = computation->accounting;
    struct past_counts *counts = &computation->past_counts;
    struct associations associations = associations_of(accounting);
    if (past->distrusted != NEVER)
        findings_add(computation->findings, FINDING_RECORDS_CHANGED, (uint64_t)past->distrusted,
                     "fairmill_share_change: what runs noted of associations is not believed");
    past_apply(past, &associations, computation->findings, counts);
    accounting->rows = associations.rows;
    accounting->count = associations.count;
    if (!accounting->count)
        return fail(err, ERROR_DATA, "there were no associations yet at that instant");
    if (counts->by_runs || counts->by_source || counts->by_times || counts->unknown)
        note_past(computation);
    return 0;
}

/* The associations of the instant, as a tree. */
static int make_tree(struct computation *computation, const struct past *past, struct error *err)
{
    const struct source *source = &computation->source;
    struct accounting *accounting = computation->accounting;
    if (past && go_back(computation, past, err))
        return -1;
    /* What is put together of several instants need not be a tree. */
    const struct past_counts *counts = &computation->past_counts;
    bool mixed = counts->unknown && (counts->by_runs || counts->by_source || counts->by_times);
    enum bad_rows bad_rows = mixed ? BAD_ROWS_SKIP : source->settings->on_bad_rows;
    const struct associations associations = associations_of(accounting);
    if (tree_build(&computation->tree, &associations, bad_rows, computation->findings, err))
        return -1;
    if (counts->moved && accounting->by_lineage)
        tree_order_by_lineage(computation->tree, accounting->names);
    free(accounting->rows);
    accounting->rows = NULL;
    return 0;
}

static int read_small(struct computation *computation, struct past *past, struct error *err)
{
    const struct source *source = &computation->source;
    struct heirs heirs = { 0 };
    if (source->layout->read(source, &computation->accounting, err) ||
        (past && read_changes(computation, CHANGES_ALL, past, err)) ||
        find_heirs(computation, past, &heirs, err))
        return -1;
    int result = make_tree(computation, past, err);
    if (!result)
        computation->owners = heirs_owners(&heirs, computation->tree);
    heirs_free(&heirs);
    if (!result)
        note_unknown_tres(computation);
    return result;
}

static void note_seen(struct computation *computation, const struct jobs_seen *seen)
{
    const struct settings *settings = computation->source.settings;
    struct run_record *record = &computation->record;
    uint64_t now = clock_now(computation->clock);
    computation->first_charge = seen->first_charge;
    record->jobs_read = (int64_t)seen->count;
    record->truncation_bound =
        truncation_bound(settings, computation->clock,
                         last_reset(settings, computation->ledger, now), seen->oldest_end);
    record->source_newest = seen->newest ? (int64_t)seen->newest : -1;
    record->source_lag = seen->newest ? (int64_t)(now - seen->newest) : -1;
}

/* The oldest end of all rows.  Where not all of them are read it is not among what was seen. */
static int find_oldest_end(const struct computation *computation, uint64_t *oldest_end,
                           struct error *err)
{
    const struct source *source = &computation->source;
    uint64_t oldest, newest;
    if (!source->layout->read_open_keys && !source->settings->horizon_s &&
        source->settings->reset_period.unit == RESET_NEVER && !computation->ledger->cluster_reset)
        return 0;
    if (source->layout->read_ends(source, 0, clock_now(computation->clock), &oldest, &newest, err))
        return -1;
    *oldest_end = oldest ? oldest : UINT64_MAX;
    return 0;
}

static int read_queue(struct computation *computation, struct error *err)
{
    uint64_t now = clock_now(computation->clock);
    struct source source = computation->source;
    const int64_t instant = (int64_t)now;
    source.instant = &instant;
    if (source.layout->read_formula_jobs)
        return source.layout->read_formula_jobs(&source, computation->accounting,
                                                &computation->formula_jobs, err);
    if (!source.layout->queue)
        return 0;
    computation->queue = queue_create(computation->accounting->names);
    return priorities_read(computation->queue, &computation->source, now, now,
                           computation->findings, err);
}

static int read_tres_minutes(struct computation *computation, struct error *err)
{
    if (!computation->source.layout->read_limits)
        return 0;
    return tres_minutes_read(&computation->tres_minutes, &computation->source,
                             computation->accounting, computation->tree,
                             clock_now(computation->clock), err);
}

/* All that is read, inside the snapshot. */
static int read_cluster(struct computation *computation, const struct prior *prior,
                        struct seal_plan *plan, struct error *err)
{
    struct jobs_seen seen = jobs_seen_none;
    uint64_t cutoff = oldest_read(computation->source.settings, computation->clock);
    struct past *past = computation->source.layout->tells_past ? NULL : prior->past;
    if (read_small(computation, past, err) ||
        factors_read(computation, prior->factors, plan, err) ||
        (plan && seal_plan_make(plan, computation, cutoff, err)) ||
        find_oldest_end(computation, &seen.oldest_end, err) || read_queue(computation, err) ||
        read_tres_minutes(computation, err))
        return -1;
    if (plan)
        seal_plan_begin_days(plan, computation, cutoff);
    if (charge_jobs(computation, plan, cutoff, &seen, err))
        return -1;
    note_seen(computation, &seen);
    if (plan && plan->days)
        plan->days->oldest_end = seen.oldest_end;
    return 0;
}

static int make_stepped_clock(struct computation *computation, uint64_t now, uint64_t reset,
                              struct error *err)
{
    const struct clock_steps *steps = &computation->starts.steps;
    uint64_t count = clock_steps_count(steps, now, reset);
    if (count > CLOCK_STEPS_AT_MOST)
        return fail(err, ERROR_SETTINGS,
                    "fairshare_decay_time and fairshare_decay_factor have %" PRIu64
                    " steps count, and %" PRIu64 " is the most; [usage] decay = exact has no limit",
                    count, CLOCK_STEPS_AT_MOST);
    computation->clock = clock_create_stepped(steps, now, reset);
    return 0;
}

/* Usage begins with the last reset, or with what the source says of a later instant. */
static int read_starts(struct computation *computation, uint64_t now, struct error *err)
{
    const struct settings *settings = computation->source.settings;
    struct usage_starts *starts = &computation->starts;
    struct source source = computation->source;
    int64_t instant = (int64_t)now;
    source.instant = &instant;
    int result = source.layout->read_starts ? source.layout->read_starts(&source, starts, err) : 0;
    uint64_t reset = last_reset(settings, computation->ledger, now);
    if (starts->instant > reset)
        reset = computation->ledger->cluster_reset = starts->instant;
    computation->record.half_life_s =
        settings->half_life_of_source ? starts->steps.half_life : settings->half_life_s;
    if (!result && settings->decay == DECAY_STEPS && settings->half_life_of_source)
        return make_stepped_clock(computation, now, reset, err);
    computation->clock = clock_create(computation->record.half_life_s, now, reset);
    return result;
}

/* Before the snapshot: it will see what has arrived by now, or more. */
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
        return fail(err, ERROR_LAGGING,
                    "database '%s' is a replica to which nothing comes any more, so that it lags "
                    "without bound; max_lag is %" PRId64 " s",
                    settings->source.database, settings->max_lag_s);
    if (lag_s > settings->max_lag_s)
        return fail(err, ERROR_LAGGING,
                    "database '%s' is a replica that lags %" PRId64 " s; max_lag is %" PRId64 " s",
                    settings->source.database, lag_s, settings->max_lag_s);
    return 0;
}

int compute_read(struct computation *computation, const struct prior *prior, struct seal_plan *plan,
                 struct error *err)
{
    static const struct prior nothing_known;
    const struct source *source = &computation->source;
    computation->record.started_at = time(NULL);
    if (refuse_lagging(source, err) || db_begin(source->db, err))
        return -1;
    uint64_t now = (uint64_t)(source->instant ? *source->instant : time(NULL));
    if (!prior)
        prior = &nothing_known;
    computation->record.as_of = (int64_t)now;
    computation->findings = findings_create();
    computation->ledger = ledger_at(prior->ledger, now);
    computation->unattributed = usage_sums_create();
    if (!read_starts(computation, now, err) && !read_cluster(computation, prior, plan, err) &&
        !db_commit(source->db, err))
        return 0;
    db_rollback(source->db);
    computation_free(computation);
    return -1;
}

/* Whose usage is nothing, as where all of it was suspended, is not odd: a sum that was kept does
 * not tell whether there was a job. */
static int note_unattributed(struct computation *computation, struct error *err)
{
    struct wide all = { { 0 } };
    for (size_t i = 0; i < computation->unattributed->count; i++) {
        const struct usage_sum *row = &computation->unattributed->rows[i];
        if (wide_is_zero(&row->sum))
            continue;
        findings_add(computation->findings, FINDING_JOB_WITHOUT_ASSOCIATION, row->id,
                     "no row of this id is among the associations");
        if (!wide_add(&all, &row->sum))
            return fail(err, ERROR_DATA,
                        "the usage without an association is beyond the range of our integers");
    }
    if (wide_is_negative(&all)) /* more was credited than used */
        all = (struct wide){ { 0 } };
    computation->record.unattributed_usage = clock_usage(computation->clock, &all);
    return 0;
}

static void note_plan(struct run_record *record, const struct seal_plan *plan)
{
    record->kind = plan->mode == SEAL_INCREMENTAL ? "incremental" : "full";
    record->why = plan->why;
    record->drift_max = plan->drift;
    record->drifted = plan->drifted;
}

struct factors {
    const struct settings *settings;
    const struct values *values;
};

static double published_factor(const void *context, uint32_t node)
{
    const struct factors *factors = context;
    return factors->settings->algorithm->factor(&factors->values[node]);
}

int compute_values(struct computation *computation, const struct seal_plan *plan, struct error *err)
{
    const struct settings *settings = computation->source.settings;
    struct run_record *record = &computation->record;
    uint64_t now = clock_now(computation->clock);
    if (note_unattributed(computation, err) || tree_roll_up_usage(computation->tree, err))
        return -1;
    computation->capacity =
        compute_capacity(settings, computation->accounting, record->half_life_s, now,
                         last_reset(settings, computation->ledger, now), computation->first_charge);
    /* OpenPBS registers none, and nobody misses it there. */
    if (isnan(computation->capacity) && !settings_of_pbs(settings))
        findings_add(computation->findings, FINDING_CAPACITY_UNKNOWN, 0,
                     "the cluster registered no TRES that is charged");
    const struct release *release = release_of(settings, computation->accounting);
    struct fairshare_options *options = &computation->options;
    record->slurm_version = release ? release->name : NULL;
    if (computation->accounting->pbs)
        record->usage_unit = pbs_charging_unit(computation->accounting->pbs);
    *options = (struct fairshare_options){
        .conformance = settings->conformance,
        .dampening = settings->dampening,
        .pbs_minimum_usage = settings->pbs_minimum_usage,
        .capacity = computation->capacity,
        .clock = computation->clock,
        .release = release,
    };
    computation->values = memory_zeroed(computation->tree->count, sizeof *computation->values);
    fairshare_compute(computation->tree, options, computation->values);
    computation->order =
        order_of_all(computation->tree, options, settings->algorithm, computation->values);
    free(computation->pbs_order); /* of a tree that was changed since */
    computation->pbs_order = NULL;
    if (settings_of_pbs(settings) || settings->algorithm == algorithm_named("pbs"))
        computation->pbs_order = pbs_order(&(struct fairshare){
            .tree = computation->tree, .options = options, .values = computation->values });
    if (computation->queue)
        priorities_complete(computation->queue, settings, computation->accounting,
                            computation->tree, published_factor,
                            &(struct factors){ settings, computation->values });
    if (computation->formula_jobs)
        formula_priorities_complete(computation->formula_jobs, computation->tree,
                                    computation->values);
    record->associations = computation->tree->count;
    record->users = computation->tree->user_count;
    if (plan)
        note_plan(record, plan);
    return 0;
}

int compute_cluster(struct computation *computation, const struct prior *prior, struct error *err)
{
    if (compute_read(computation, prior, NULL, err))
        return -1;
    if (!compute_values(computation, NULL, err))
        return 0;
    computation_free(computation);
    return -1;
}
