/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "compute.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "core/fairshare.h"
#include "core/finding.h"
#include "core/usage.h"
#include "db/db.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/log.h"
#include "util/memory.h"

/* Reading a cluster's jobs. */
struct job_sum {
    const char *cluster;
    struct computation *computation;
    struct charging charging;
    struct wide unattributed;
    uint64_t jobs, newest, oldest, first_charge;
};

static void note_outcome(struct job_sum *sum, const struct job_row *row, enum job_outcome outcome)
{
    struct findings *findings = sum->computation->findings;
    const struct job *job = &row->job;
    const char *tres = job->tres_alloc ? job->tres_alloc : "";
    int shown_length = (int)(job->tres_alloc_length < 80 ? job->tres_alloc_length : 80);
    switch (outcome) {
    case JOB_CHARGED:
        break;
    case JOB_CAPPED:
        findings_add(findings, FINDING_JOB_CAPPED, row->id_job,
                     "open since %" PRIu64 ", time limit %" PRIu64 " minutes", job->time_start,
                     job->time_limit);
        break;
    case JOB_ENDS_BEFORE_START:
        findings_add(findings, FINDING_JOB_ENDS_BEFORE_START, row->id_job,
                     "time_start %" PRIu64 ", time_end %" PRIu64, job->time_start, job->time_end);
        break;
    case JOB_STARTS_IN_FUTURE:
        findings_add(findings, FINDING_JOB_STARTS_IN_FUTURE, row->id_job,
                     "time_start %" PRIu64 ", now %" PRIu64, job->time_start,
                     clock_now(sum->charging.clock));
        break;
    case JOB_TRES_UNREADABLE:
        findings_add(findings, FINDING_JOB_TRES_UNREADABLE, row->id_job, "tres_alloc '%.*s'",
                     shown_length, tres);
        break;
    case JOB_CHARGE_TOO_LARGE:
        findings_add(findings, FINDING_JOB_CHARGE_TOO_LARGE, row->id_job, "tres_alloc '%.*s'",
                     shown_length, tres);
        break;
    }
}

static void note_times(struct job_sum *sum, const struct job *job)
{
    uint64_t newest = job->time_end > job->time_start ? job->time_end : job->time_start;
    if (newest > sum->newest && newest <= clock_now(sum->charging.clock))
        sum->newest = newest;
    if (job->time_start < sum->oldest)
        sum->oldest = job->time_start;
}

static int add_job(void *context, const struct job_row *row, struct error *err)
{
    struct job_sum *sum = context;
    struct computation *computation = sum->computation;
    if (++sum->jobs % 65536 == 0)
        log_progress(sum->cluster, sum->jobs, "jobs read");
    note_times(sum, &row->job);

    struct charge_term term;
    note_outcome(sum, row, job_charge(&sum->charging, &row->job, row->price, &term));
    if (!term.units)
        return 0;
    if (term.start < sum->first_charge)
        sum->first_charge = term.start;

    struct wide *charged = &sum->unattributed;
    uint32_t place = tree_place(computation->tree, row->association);
    if (place != NO_NODE)
        charged = &computation->tree->nodes[place].usage;
    else
        findings_add(computation->findings, FINDING_JOB_WITHOUT_ASSOCIATION, row->association,
                     "no row of this id is among the associations");
    if (!wide_add_product(charged, term.units, term.weight, false))
        return fail(err, ERROR_DATA,
                    "the usage of association %" PRIu64 " is beyond the range of our integers",
                    row->association);
    return 0;
}

/* R_H: what the cluster could have delivered in the time that usage is compared with. */
static double capacity_of(const struct settings *settings, const struct computation *computation,
                          uint64_t reset, uint64_t first_charge)
{
    const struct accounting *accounting = computation->accounting;
    double count = settings->capacity;
    if (!(count > 0)) {
        count = settings->charge == CHARGE_CPU || isnan(accounting->billing) ? accounting->cpus
                                                                             : accounting->billing;
        if (!(count > 0))
            return NAN;
    }
    if (settings->half_life_s)
        return count * (double)settings->half_life_s * settings->capacity_half_lives;
    uint64_t now = clock_now(computation->clock), since = reset ? reset : first_charge;
    return since < now ? count * (double)(now - since) : 0;
}

/* The largest part of a value that rows older than the oldest one could have added. */
static double truncation_bound(const struct settings *settings, uint64_t now, uint64_t reset,
                               uint64_t oldest)
{
    if (oldest > now)
        return NAN;
    if (reset && oldest <= reset)
        return 0;
    return settings->half_life_s ? exp2(-(double)(now - oldest) / (double)settings->half_life_s)
                                 : NAN;
}

static int read_cluster(struct computation *computation, struct job_sum *sum,
                        const struct settings *settings, struct db *source, bool ordered,
                        uint64_t oldest, struct error *err)
{
    const struct layout *layout = layout_of(settings);
    if (layout->read(source, settings, sum->cluster, ordered, &computation->accounting, err))
        return -1;
    struct accounting *accounting = computation->accounting;
    if (tree_build(&computation->tree, accounting->rows, accounting->count, accounting->names,
                   accounting->empty_name, settings->on_bad_rows, computation->findings, err))
        return -1;
    free(accounting->rows);
    accounting->rows = NULL;
    int result =
        layout->read_jobs(source, settings, sum->cluster, accounting, oldest, add_job, sum, err);
    log_progress_done();
    return result;
}

static void compute_values(struct computation *computation, const struct settings *settings)
{
    struct fairshare_options options = {
        .conformance = settings->conformance,
        .dampening = settings->dampening,
        .pbs_minimum_usage = settings->pbs_minimum_usage,
        .capacity = computation->capacity,
        .clock = computation->clock,
    };
    computation->values = memory_zeroed(computation->tree->count, sizeof *computation->values);
    fairshare_compute(computation->tree, &options, computation->values);
}

static void fill_record(struct computation *computation, const struct settings *settings,
                        const struct job_sum *sum, uint64_t reset)
{
    struct run_record *record = &computation->record;
    uint64_t now = clock_now(computation->clock);
    record->associations = computation->tree->count;
    record->users = computation->tree->user_count;
    record->jobs_read = (int64_t)sum->jobs;
    record->unattributed_usage = clock_usage(computation->clock, &sum->unattributed);
    record->truncation_bound = truncation_bound(settings, now, reset, sum->oldest);
    record->source_newest = sum->newest ? (int64_t)sum->newest : -1;
    record->source_lag = sum->newest ? (int64_t)(now - sum->newest) : -1;
}

static int compute(struct computation *computation, const struct settings *settings,
                   struct db *source, const char *cluster, const int64_t *asked, bool ordered,
                   struct error *err)
{
    if (db_begin(source, err))
        return -1;
    int64_t wall_clock = time(NULL);
    uint64_t now = (uint64_t)(asked ? *asked : wall_clock);
    uint64_t reset = calendar_last_reset(&settings->reset_period, now);
    computation->record.as_of = (int64_t)now;
    computation->findings = findings_create();
    computation->clock = clock_create(settings->half_life_s, now, reset);
    struct job_sum sum = {
        .cluster = cluster,
        .computation = computation,
        .charging = { computation->clock, settings->charge, settings->open_job_cap_s,
                      (int64_t)now < wall_clock },
        .oldest = UINT64_MAX,
        .first_charge = UINT64_MAX,
    };
    if (read_cluster(computation, &sum, settings, source,
                     ordered || settings->conformance == CONFORMANCE_SLURMCTLD,
                     clock_start(computation->clock), err) ||
        db_commit(source, err)) {
        db_rollback(source);
        return -1;
    }
    if (tree_roll_up_usage(computation->tree, err))
        return -1;
    computation->capacity = capacity_of(settings, computation, reset, sum.first_charge);
    if (isnan(computation->capacity))
        findings_add(computation->findings, FINDING_CAPACITY_UNKNOWN, 0,
                     "the cluster registered no TRES that is charged");
    compute_values(computation, settings);
    fill_record(computation, settings, &sum, reset);
    return 0;
}

const struct run_record run_record_empty = {
    .kind = "full",
    .why = "every run is a full one",
    .associations = -1,
    .users = -1,
    .jobs_read = -1,
    .unattributed_usage = NAN,
    .truncation_bound = NAN,
    .source_newest = -1,
    .message = "",
};

int compute_cluster(struct computation *computation, const struct settings *settings,
                    struct db *source, const char *cluster, const int64_t *now, bool ordered,
                    struct error *err)
{
    *computation = (struct computation){ .record = run_record_empty };
    computation->record.started_at = time(NULL);
    if (!compute(computation, settings, source, cluster, now, ordered, err))
        return 0;
    computation_free(computation);
    return -1;
}

void computation_free(struct computation *computation)
{
    accounting_destroy(computation->accounting);
    tree_destroy(computation->tree);
    findings_destroy(computation->findings);
    clock_destroy(computation->clock);
    free(computation->values);
    computation->accounting = NULL;
    computation->tree = NULL;
    computation->findings = NULL;
    computation->clock = NULL;
    computation->values = NULL;
}
