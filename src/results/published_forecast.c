/* SPDX-License-Identifier: MIT */
#include "results/published_forecast.h"

#include <math.h>
#include <stdlib.h>

#include "core/insight/scenario.h"
#include "core/usage/decay_table.h"
#include "core/usage/ledger.h"
#include "db/db.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"

#define DAY_S 86400u

struct published_forecast {
    const struct published_cluster *cluster;
    struct tree *tree; /* built from the published tree */
    struct forecast forecast;
};

/* Returns the published capacity; without the accounting database, no later capacity is known. */
static double published_forecast_capacity(const void *context, uint64_t now, uint64_t reset,
                                          uint64_t first_charge)
{
    const struct published_forecast *published = context;
    (void)now;
    (void)reset;
    (void)first_charge;
    return published->cluster->options.capacity;
}

/* Builds a tree with the usage that was charged to each node itself. */
static int published_forecast_take_apart(struct published_forecast *forecast, struct error *err)
{
    struct scenario scenario;
    scenario_create(&scenario, forecast->cluster->tree, forecast->cluster->names, true);
    int result = scenario_build(&scenario, &forecast->tree, err);
    scenario_free(&scenario);
    forecast->forecast.tree = forecast->tree;
    return result;
}

/* A forecast_reader: all usage remains, except that of associations that were reset. */
static int published_forecast_past_at(void *context, uint64_t at, uint64_t start, struct wide *own,
                                      struct error *err)
{
    const struct forecast *forecast = context;
    (void)start;
    (void)err;
    struct ledger_state *ledger = ledger_at(forecast->coming, at);
    for (uint32_t i = 0; i < forecast->tree->count; i++)
        if (ledger_reset_before(ledger, forecast->tree->nodes[i].id, UINT64_MAX) <= forecast->now)
            own[i] = forecast->past[0].own[i];
    ledger_state_destroy(ledger);
    return 0;
}

static int published_forecast_read_past(struct forecast *forecast, uint64_t end, struct error *err)
{
    const struct forecast_reader reader = { published_forecast_past_at, forecast };
    struct wide *own = memory_zeroed(forecast->tree->count, sizeof *own);
    for (uint32_t i = 0; i < forecast->tree->count; i++)
        own[i] = forecast->tree->nodes[i].usage;
    return forecast_read_past(forecast, own, end, &reader, err);
}

/* Sets a user's rate.  For a user who is hidden, rounds the rate down to a power of two and adds
 * the difference to the account's rate. */
static void published_forecast_set_rate(struct forecast *forecast, uint32_t node, double rate,
                                        bool hidden)
{
    double told = hidden ? ldexp(1, ilogb(rate)) : rate;
    forecast->rates[node] += (uint128)(told * (double)UNITS_PER_TRES);
    if (rate > told)
        forecast->rates[forecast->tree->nodes[node].parent] +=
            (uint128)((rate - told) * (double)UNITS_PER_TRES);
}

/* Reads the usage from `from` until now in TRES-seconds, indexed by node.  The caller frees it. */
static int published_forecast_read_used(const struct published_forecast *published, struct db *db,
                                        uint64_t from, double **used, struct error *err)
{
    const struct forecast *forecast = &published->forecast;
    const struct db_value *row,
        arguments[] = { db_text(published->cluster->name), db_integer((int64_t)from),
                        db_integer((int64_t)forecast->now) };
    struct db_rows *rows = db_query(db, sql_query_usage_day_span, arguments, 3, "iir", err);
    *used = memory_zeroed(forecast->tree->count, sizeof **used);
    while (db_fetch(rows, &row, err) > 0) {
        uint32_t place = tree_place(forecast->tree, (uint64_t)row[1].integer);
        if (place != NO_NODE && forecast->tree->nodes[place].id == row[1].integer)
            (*used)[place] += db_value_real(&row[2]);
    }
    return db_finish(rows);
}

/* Computes the rates from the published usage of the last week, without its first, incomplete
 * day. */
static int published_forecast_read_rates(struct published_forecast *own,
                                         const struct published *published, struct error *err)
{
    struct forecast *forecast = &own->forecast;
    const struct published_cluster *cluster = own->cluster;
    uint64_t week = FORECAST_RATE_DAYS * DAY_S;
    uint64_t from = forecast->now > week ? calendar_next_day(forecast->now - week) : 0;
    double *used;
    int result = published_forecast_read_used(own, published->db, from, &used, err);
    forecast->rates = memory_zeroed(forecast->tree->count, sizeof *forecast->rates);
    for (uint32_t i = 0; !result && i < forecast->tree->count; i++) {
        const struct node *node = &forecast->tree->nodes[i];
        if (node->is_user && used[i] > 0 && from < forecast->now)
            published_forecast_set_rate(forecast, i, used[i] / (double)(forecast->now - from),
                                        !permissions_show(&published->permissions, cluster->name,
                                                          names_text(cluster->names, node->account),
                                                          names_text(cluster->names, node->user)));
    }
    free(used);
    return result;
}

static int published_forecast_has_days(struct db *results, const char *cluster, bool *any,
                                       struct error *err)
{
    const struct db_value *row, argument = db_text(cluster);
    struct db_rows *rows = db_query(results, sql_query_usage_span_read, &argument, 1, "iii", err);
    *any = db_fetch(rows, &row, err) > 0;
    return db_finish(rows);
}

/* Reads the ledger: the last reset, and the entries that take effect within the duration. */
static int published_forecast_read_ledger(struct forecast *forecast, struct db *db,
                                          const char *cluster, uint64_t duration_s,
                                          struct error *err)
{
    struct ledger *ledger;
    uint64_t now = forecast->now;
    if (ledger_read(db, cluster, &ledger, err))
        return -1;
    struct ledger_state *state = ledger_at(ledger, now);
    forecast->least_reset = state->cluster_reset;
    forecast->coming = ledger_coming(ledger, now, now + duration_s);
    ledger_state_destroy(state);
    ledger_destroy(ledger);
    return 0;
}

static int published_forecast_fill(struct published_forecast *own,
                                   const struct published *published, uint64_t duration_s,
                                   struct error *err)
{
    const struct published_cluster *cluster = own->cluster;
    struct forecast *forecast = &own->forecast;
    *forecast = (struct forecast){
        .now = (uint64_t)cluster->as_of,
        .half_life = cluster->half_life,
        .period = published_reset_period(cluster),
        .algorithm = cluster->algorithm,
        .options = cluster->options,
        .capacity = published_forecast_capacity,
        .context = own,
        .first_charge = UINT64_MAX,
    };
    if (published_forecast_take_apart(own, err) ||
        published_forecast_read_ledger(forecast, published->db, cluster->name, duration_s, err))
        return -1;
    forecast->values = memory_zeroed(forecast->tree->count, sizeof *forecast->values);
    forecast->in_entity = memory_zeroed(forecast->tree->count, sizeof *forecast->in_entity);
    if (published_forecast_read_past(forecast, forecast->now + duration_s, err))
        return -1;
    return published_forecast_read_rates(own, published, err);
}

int published_forecast_read(struct published_forecast **forecast, const struct published *published,
                            const struct published_cluster *cluster, uint64_t duration_s,
                            struct error *err)
{
    bool any;
    *forecast = NULL;
    if (published_forecast_has_days(published->db, cluster->name, &any, err))
        return -1;
    if (!any)
        return 0;
    *forecast = memory_zeroed(1, sizeof **forecast);
    (*forecast)->cluster = cluster;
    if (!published_forecast_fill(*forecast, published, duration_s, err))
        return 0;
    published_forecast_free(*forecast);
    *forecast = NULL;
    return -1;
}

void published_forecast_free(struct published_forecast *forecast)
{
    if (!forecast)
        return;
    forecast_free(&forecast->forecast);
    tree_destroy(forecast->tree);
    free(forecast);
}

struct forecast *published_forecast_get(struct published_forecast *forecast)
{
    return &forecast->forecast;
}

int published_forecast_places(struct published_forecast *forecast, enum projection projection,
                              const struct forecast_users *users, struct error *err)
{
    const struct node *published = forecast->cluster->tree->nodes;
    struct forecast_users own = *users;
    uint32_t *nodes = memory_zeroed(users->count + 1, sizeof *nodes);
    for (size_t i = 0; i < users->count; i++)
        nodes[i] = tree_place(forecast->tree, published[users->nodes[i]].id);
    own.nodes = nodes;
    int result = forecast_places(&forecast->forecast, projection, &own, err);
    free(nodes);
    return result;
}
