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

/* A past_filler for the accounting database.  If no ledger entry takes effect at `at`, and all
 * usage is from `start` or later, the sums of the previous time are still valid, and are copied.
 * Otherwise, reads the jobs again. */
static int read_past_at(struct forecast_data *data, uint64_t at, uint64_t start, struct wide *own,
                        struct error *err)
{
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

static struct wide *forecast_data_add_past(struct forecast *forecast, uint64_t from, uint64_t epoch,
                                           struct wide *own)
{
    if (!own)
        own = memory_zeroed(forecast->tree->count, sizeof *own);
    *memory_append(&forecast->past, &forecast->past_count) =
        (struct forecast_past){ from, epoch, own };
    return own;
}

/* Fills `own` with the remaining usage at the later time `at` of all usage charged to each node
 * itself up to now.  Ignores usage before `start`.  `own` is indexed by node, and its elements are
 * initially 0. */
typedef int past_filler(struct forecast_data *data, uint64_t at, uint64_t start, struct wide *own,
                        struct error *err);
/* Adds the remaining usage for the present decay epoch, which is `own`, and for each later epoch in
 * which usage up to now is still included.  There are at most eight later epochs.  Also adds the
 * remaining usage after each future ledger entry.  Takes ownership of `own`. */
static int forecast_data_past(struct forecast_data *data, struct wide *own, uint64_t end,
                              past_filler *fill, struct error *err)
{
    struct forecast *forecast = &data->forecast;
    uint64_t now = forecast->now, half_life = forecast->half_life;
    uint64_t epoch = decay_table_epoch_at(half_life, now);
    forecast_data_add_past(forecast, now, epoch, own);
    for (uint64_t at = now;;) {
        uint64_t entry = ledger_next(forecast->coming, at, true), before = epoch;
        uint64_t step = half_life ? (at / half_life / 8 + 1) * 8 * half_life : UINT64_MAX;
        at = entry < step ? entry : step;
        epoch = decay_table_epoch_at(half_life, at);
        uint64_t start = epoch * half_life;
        if (at > end || start >= now)
            return 0;
        if ((epoch != before || at == entry) &&
            fill(data, at, start, forecast_data_add_past(forecast, at, epoch, NULL), err))
            return -1;
    }
}

static int read_past(struct forecast_data *data, uint64_t end, struct error *err)
{
    const struct tree *tree = data->forecast.tree;
    struct wide *own = memory_zeroed(tree->count, sizeof *own);
    for (uint32_t i = 0; i < tree->count; i++)
        own[i] = without_steps(data->present.decay, &tree->nodes[i].usage);
    return forecast_data_past(data, own, end, read_past_at, err);
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

/* Returns the published capacity; without the accounting database, no later capacity is known. */
static double published_capacity_at(const void *context, uint64_t now, uint64_t reset,
                                    uint64_t first_charge)
{
    const struct forecast_data *data = context;
    (void)now;
    (void)reset;
    (void)first_charge;
    return data->forecast.options.capacity;
}

/* Builds a tree with the usage that was charged to each node itself. */
static int take_apart(struct forecast_data *data, const struct published_cluster *cluster,
                      struct error *err)
{
    struct scenario scenario;
    scenario_create(&scenario, cluster->tree, cluster->names, true);
    int result = scenario_build(&scenario, &data->own_tree, err);
    scenario_free(&scenario);
    data->forecast.tree = data->own_tree;
    return result;
}

/* A past_filler for published results: all usage remains, except that of associations that were
 * reset. */
static int keep_past_at(struct forecast_data *data, uint64_t at, uint64_t start, struct wide *own,
                        struct error *err)
{
    const struct forecast *forecast = &data->forecast;
    (void)start;
    (void)err;
    struct ledger_state *ledger = ledger_at(forecast->coming, at);
    for (uint32_t i = 0; i < forecast->tree->count; i++)
        if (ledger_reset_before(ledger, forecast->tree->nodes[i].id, UINT64_MAX) <= forecast->now)
            own[i] = forecast->past[0].own[i];
    ledger_state_destroy(ledger);
    return 0;
}

/* Sets a user's rate.  For a user who is hidden, rounds the rate down to a power of two and adds
 * the difference to the account's rate. */
static void set_rate(struct forecast *forecast, uint32_t node, double rate, bool hidden)
{
    double told = hidden ? ldexp(1, ilogb(rate)) : rate;
    forecast->rates[node] += (uint128)(told * (double)UNITS_PER_TRES);
    if (rate > told)
        forecast->rates[forecast->tree->nodes[node].parent] +=
            (uint128)((rate - told) * (double)UNITS_PER_TRES);
}

/* Computes the rates from the published usage of the last week, without its first, incomplete
 * day. */
static int read_published_rates(struct forecast_data *data, const struct published *published,
                                const struct published_cluster *cluster, struct error *err)
{
    struct forecast *forecast = &data->forecast;
    uint64_t week = FORECAST_RATE_DAYS * DAY_S;
    uint64_t from = forecast->now > week ? calendar_next_day(forecast->now - week) : 0;
    const struct db_value *row, arguments[] = { db_text(cluster->name), db_integer((int64_t)from),
                                                db_integer((int64_t)forecast->now) };
    struct db_rows *rows =
        db_query(published->db, sql_query_usage_day_span, arguments, 3, "iir", err);
    double *used = memory_zeroed(forecast->tree->count, sizeof *used);
    while (db_fetch(rows, &row, err) > 0) {
        uint32_t place = tree_place(forecast->tree, (uint64_t)row[1].integer);
        if (place != NO_NODE && forecast->tree->nodes[place].id == row[1].integer)
            used[place] += db_value_real(&row[2]);
    }
    forecast->rates = memory_zeroed(forecast->tree->count, sizeof *forecast->rates);
    for (uint32_t i = 0; i < forecast->tree->count; i++) {
        const struct node *node = &forecast->tree->nodes[i];
        if (node->is_user && used[i] > 0 && from < forecast->now)
            set_rate(forecast, i, used[i] / (double)(forecast->now - from),
                     !permissions_show(&published->permissions, cluster->name,
                                       names_text(cluster->names, node->account),
                                       names_text(cluster->names, node->user)));
    }
    free(used);
    return db_finish(rows);
}

/* Fails if daily usage is not stored (history_days = 0). */
static int check_days(struct db *results, const char *cluster, struct error *err)
{
    const struct db_value *row, argument = db_text(cluster);
    struct db_rows *rows = db_query(results, sql_query_usage_span_read, &argument, 1, "iii", err);
    bool any = db_fetch(rows, &row, err) > 0;
    if (db_finish(rows))
        return -1;
    return any ? 0
               : fail(err, ERROR_OTHER,
                      "forecast: no daily usage is stored for cluster '%s', and the accounting "
                      "database is not available here",
                      cluster);
}

static int forecast_data_fill(struct forecast_data *data, const struct published *published,
                              const struct published_cluster *cluster, uint64_t duration_s,
                              struct error *err)
{
    uint64_t now = (uint64_t)cluster->as_of;
    data->forecast = (struct forecast){
        .now = now,
        .half_life = cluster->half_life,
        .period = published_reset_period(cluster),
        .algorithm = cluster->algorithm,
        .options = cluster->options,
        .capacity = published_capacity_at,
        .context = data,
        .first_charge = UINT64_MAX,
    };
    if (check_days(published->db, cluster->name, err) || take_apart(data, cluster, err) ||
        ledger_read(published->db, cluster->name, &data->recorded.ledger, err))
        return -1;
    struct forecast *forecast = &data->forecast;
    struct ledger_state *ledger = ledger_at(data->recorded.ledger, now);
    forecast->least_reset = ledger->cluster_reset;
    ledger_state_destroy(ledger);
    forecast->coming = ledger_coming(data->recorded.ledger, now, now + duration_s);
    forecast->values = memory_zeroed(forecast->tree->count, sizeof *forecast->values);
    forecast->in_entity = memory_zeroed(forecast->tree->count, sizeof *forecast->in_entity);
    struct wide *own = memory_zeroed(forecast->tree->count, sizeof *own);
    for (uint32_t i = 0; i < forecast->tree->count; i++)
        own[i] = forecast->tree->nodes[i].usage;
    return forecast_data_past(data, own, now + duration_s, keep_past_at, err) ||
                   read_published_rates(data, published, cluster, err)
               ? -1
               : 0;
}

int forecast_data_published(struct forecast_data *data, const struct published *published,
                            const struct published_cluster *cluster, uint64_t duration_s,
                            struct error *err)
{
    *data = (struct forecast_data){ .settings = cluster->settings };
    if (!forecast_data_fill(data, published, cluster, duration_s, err))
        return 0;
    forecast_data_free(data);
    return -1;
}

void forecast_data_choose(struct forecast_data *data, uint32_t entity)
{
    struct forecast *forecast = &data->forecast;
    forecast->entity = entity;
    tree_mark_below(forecast->tree, entity, forecast->in_entity);
}

void forecast_data_free(struct forecast_data *data)
{
    struct forecast *forecast = &data->forecast;
    for (size_t i = 0; i < forecast->past_count; i++)
        free(forecast->past[i].own);
    free(forecast->past);
    free(forecast->rates);
    free(forecast->values);
    free(forecast->in_entity);
    ledger_destroy(forecast->coming);
    computation_free(&data->present);
    tree_destroy(data->own_tree);
    recorded_state_free(&data->recorded);
    *data = (struct forecast_data){ 0 };
}
