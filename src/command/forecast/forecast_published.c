/* SPDX-License-Identifier: MIT */
#include "command/forecast/forecast_published.h"

#include <math.h>
#include <stdlib.h>

#include "core/insight/scenario.h"
#include "core/usage/clock.h"
#include "core/usage/ledger.h"
#include "db/db.h"
#include "results/ledger_book.h"
#include "results/ledger_rows.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/instant.h"
#include "util/memory.h"

#define DAY_S 86400u

/* As it was published: no later run delivers less. */
static double capacity_at(const void *context, uint64_t now, uint64_t reset, uint64_t first_charge)
{
    const struct forecast_data *data = context;
    (void)now;
    (void)reset;
    (void)first_charge;
    return data->forecast.options.capacity;
}

/* The tree with what was charged to each node itself. */
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

/* What is left of the past at a later instant: all of it, but of associations that were reset. */
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

/* Give a user's rate; of one who may not be shown a power of two, and the rest to the account. */
static void set_rate(struct forecast *forecast, uint32_t node, double rate, bool hidden)
{
    double told = hidden ? ldexp(1, ilogb(rate)) : rate;
    forecast->rates[node] += (uint128)(told * (double)UNITS_PER_TRES);
    if (rate > told)
        forecast->rates[forecast->tree->nodes[node].parent] +=
            (uint128)((rate - told) * (double)UNITS_PER_TRES);
}

/* So many units each second, from the whole days of the last week and today. */
static int read_rates(struct forecast_data *data, const struct published *published,
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
                     !viewer_sees(&published->viewer, cluster->name,
                                  names_text(cluster->names, node->account),
                                  names_text(cluster->names, node->user)));
    }
    free(used);
    return db_finish(rows);
}

/* Usage of days is kept, or not (history_days = 0). */
static int check_days(struct db *results, const char *cluster, struct error *err)
{
    const struct db_value *row, argument = db_text(cluster);
    struct db_rows *rows = db_query(results, sql_query_usage_span_read, &argument, 1, "iii", err);
    bool any = db_fetch(rows, &row, err) > 0;
    if (db_finish(rows))
        return -1;
    return any ? 0
               : fail(err, ERROR_OTHER,
                      "forecast: no usage of days is kept for cluster '%s', and the accounting "
                      "database is not read here",
                      cluster);
}

static int fill(struct forecast_data *data, const struct published *published,
                const struct published_cluster *cluster, uint64_t span_s, struct error *err)
{
    uint64_t now = (uint64_t)cluster->as_of;
    data->forecast = (struct forecast){
        .now = now,
        .half_life = cluster->half_life,
        .period = published_reset_period(cluster),
        .algorithm = cluster->algorithm,
        .options = cluster->options,
        .capacity = capacity_at,
        .context = data,
        .first_charge = UINT64_MAX,
    };
    if (check_days(published->db, cluster->name, err) || take_apart(data, cluster, err) ||
        ledger_read(published->db, cluster->name, &data->prior.ledger, err))
        return -1;
    struct forecast *forecast = &data->forecast;
    struct ledger_state *ledger = ledger_at(data->prior.ledger, now);
    forecast->least_reset = ledger->cluster_reset;
    ledger_state_destroy(ledger);
    forecast->coming = ledger_coming(data->prior.ledger, now, now + span_s);
    forecast->values = memory_zeroed(forecast->tree->count, sizeof *forecast->values);
    forecast->in_entity = memory_zeroed(forecast->tree->count, sizeof *forecast->in_entity);
    struct wide *own = memory_zeroed(forecast->tree->count, sizeof *own);
    for (uint32_t i = 0; i < forecast->tree->count; i++)
        own[i] = forecast->tree->nodes[i].usage;
    return forecast_data_past(data, own, now + span_s, keep_past_at, err) ||
                   read_rates(data, published, cluster, err)
               ? -1
               : 0;
}

int forecast_data_published(struct forecast_data *data, const struct published *published,
                            const struct published_cluster *cluster, uint64_t span_s,
                            struct error *err)
{
    *data = (struct forecast_data){ .settings = cluster->settings };
    if (!fill(data, published, cluster, span_s, err))
        return 0;
    forecast_data_free(data);
    return -1;
}
