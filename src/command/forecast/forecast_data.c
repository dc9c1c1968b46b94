/* SPDX-License-Identifier: MIT */
#include "command/forecast/forecast_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/compute.h"
#include "core/finding.h"
#include "core/insight/scenario.h"
#include "core/usage/decay_table.h"
#include "core/usage/ledger.h"
#include "db/db.h"
#include "results/ledger_rows.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

#define DAY_S 86400u

/* Converts usage with stepped decay to continuous decay, which forecasts use. */
static struct wide without_steps(const struct decay_table *decay, const struct wide *usage)
{
    struct wide same = *usage;
    if (!decay_table_is_stepped(decay))
        return same;
    struct decay_table *exact = decay_table_create(
        decay_table_half_life(decay), decay_table_now(decay), decay_table_start(decay));
    decay_table_sum_of(exact, decay_table_usage(decay, usage), &same);
    decay_table_destroy(exact);
    return same;
}

/* Charges the jobs for the same time with other settings.  Fills `own`, indexed by node of the
 * present tree, with the usage charged to each node itself. */
static int read_own(const struct forecast_data *data, const struct settings *settings,
                    const struct recorded_state *recorded, struct wide *own, struct error *err)
{
    struct computation computation;
    struct source source = data->present.source;
    source.settings = settings;
    source.time = &data->present.record.as_of;
    computation = computation_of(&source);
    if (compute_read(&computation, recorded, NULL, err))
        return -1;
    for (uint32_t i = 0; i < computation.tree->count; i++) {
        const struct node *node = &computation.tree->nodes[i];
        uint32_t place = tree_place(data->present.tree, node->id);
        if (place != NO_NODE && data->present.tree->nodes[place].id == node->id)
            own[place] = without_steps(computation.decay, &node->usage);
    }
    computation_free(&computation);
    return 0;
}

/* Returns settings that ignore usage before `time`. */
static struct settings counting_from(const struct settings *settings, uint64_t time)
{
    struct settings changed = *settings;
    changed.reset_period = (struct reset_period){ RESET_EVERY, INT64_MAX, (int64_t)time };
    return changed;
}

/* Returns true if all usage that is included now was charged at `time` or later. */
static bool all_used_since(const struct computation *present, uint64_t time)
{
    if (present->first_charge < time || present->first_behind_end < time ||
        present->findings->kind[FINDING_JOB_BEFORE_CLUSTER].seen ||
        (present->starts.count && present->starts.time < time))
        return false;
    for (size_t i = 0; i < present->ledger->adjustment_count; i++)
        if (present->ledger->adjustments[i].time <= time)
            return false;
    return true;
}

/* Reads past usage from the accounting database (forecast_reader).  If no ledger entry takes effect
 * at `at`, and all usage is from `start` or later, the sums of the previous time are still valid,
 * and are copied. Otherwise, reads the jobs again. */
static int read_past_at(void *context, uint64_t at, uint64_t start, struct wide *own,
                        struct error *err)
{
    struct forecast_data *data = context;
    const struct forecast *forecast = &data->forecast;
    uint64_t first = decay_table_start(data->present.decay);
    if (ledger_next(forecast->coming, at - 1, true) != at &&
        all_used_since(&data->present, start)) {
        const struct wide *before = forecast->past[forecast->past_count - 2].own;
        memcpy(own, before, forecast->tree->count * sizeof *own);
        return 0;
    }
    struct settings settings = counting_from(data->settings, start > first ? start : first);
    struct ledger *ledger = ledger_foreseen(data->recorded.ledger, forecast->now, at);
    const struct recorded_state recorded = { .ledger = ledger,
                                             .factors = data->recorded.factors,
                                             .history = data->recorded.history };
    int result = read_own(data, &settings, &recorded, own, err);
    ledger_destroy(ledger);
    return result;
}

static int read_past(struct forecast_data *data, uint64_t end, struct error *err)
{
    const struct tree *tree = data->forecast.tree;
    struct wide *own = memory_zeroed(tree->count, sizeof *own);
    for (uint32_t i = 0; i < tree->count; i++)
        own[i] = without_steps(data->present.decay, &tree->nodes[i].usage);
    const struct forecast_reader reader = { read_past_at, data };
    return forecast_read_past(&data->forecast, own, end, &reader, err);
}

/* Computes the rate at which each association was charged in the last FORECAST_RATE_DAYS days.  An
 * account itself has a rate only from deleted users, which is ignored. */
static int read_rates(struct forecast_data *data, struct error *err)
{
    struct forecast *forecast = &data->forecast;
    uint64_t seconds = FORECAST_RATE_DAYS * DAY_S;
    if (seconds > forecast->now)
        seconds = forecast->now;
    struct settings undecayed = counting_from(data->settings, forecast->now - seconds);
    struct wide *charged = memory_zeroed(forecast->tree->count, sizeof *charged);
    /* Corrections in the ledger are not part of a rate. */
    const struct recorded_state jobs_only = { .factors = data->recorded.factors,
                                              .history = data->recorded.history };
    undecayed.half_life_s = 0;
    undecayed.half_life_of_source = false;
    undecayed.usage_source = USAGE_OF_JOBS;
    int result = read_own(data, &undecayed, &jobs_only, charged, err);
    forecast->rates = memory_zeroed(forecast->tree->count, sizeof *forecast->rates);
    for (uint32_t i = 0; !result && seconds && i < forecast->tree->count; i++)
        if (forecast->tree->nodes[i].is_user)
            forecast->rates[i] = forecast_rate(&charged[i], seconds);
    free(charged);
    return result;
}

static double capacity_at(const void *context, uint64_t now, uint64_t reset, uint64_t first_charge)
{
    const struct forecast_data *data = context;
    return compute_capacity(data->settings, data->present.accounting,
                            data->present.record.half_life_s, now, reset, first_charge);
}

int forecast_data_read(struct forecast_data *data, const struct source *source, uint64_t duration_s,
                       struct error *err)
{
    const struct settings *settings = source->settings;
    *data = (struct forecast_data){ .settings = settings };
    struct computation *present = &data->present;
    if (recorded_state_read(&data->recorded, settings, source->cluster, source->time, err))
        return -1;
    *present = computation_of(source);
    if (compute_read_current(present, &data->recorded, err)) {
        recorded_state_free(&data->recorded);
        return -1;
    }
    data->forecast = (struct forecast){
        .tree = present->tree,
        .now = decay_table_now(present->decay),
        .half_life = present->record.half_life_s,
        .period = settings->reset_period,
        .least_reset = present->ledger->cluster_reset,
        .algorithm = settings->algorithm,
        .options = { .conformance = settings->conformance,
                     .dampening = settings->dampening,
                     .pbs_minimum_usage = settings->pbs_minimum_usage,
                     .release = release_of(settings, present->accounting) },
        .coming = ledger_coming(data->recorded.ledger, decay_table_now(present->decay),
                                decay_table_now(present->decay) + duration_s),
        .capacity = capacity_at,
        .context = data,
        .first_charge = present->first_charge,
        .values = memory_zeroed(present->tree->count, sizeof(struct values)),
        .in_entity = memory_zeroed(present->tree->count, sizeof(bool)),
    };
    if (!read_past(data, data->forecast.now + duration_s, err) && !read_rates(data, err))
        return 0;
    forecast_data_free(data);
    return -1;
}

void forecast_data_free(struct forecast_data *data)
{
    forecast_free(&data->forecast);
    computation_free(&data->present);
    recorded_state_free(&data->recorded);
    *data = (struct forecast_data){ 0 };
}
