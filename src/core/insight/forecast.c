/* SPDX-License-Identifier: MIT */
#include "core/insight/forecast.h"

#include <math.h>
#include <stdlib.h>

#include "core/usage/ledger.h"
#include "core/fairshare/ranking.h"
#include "util/error.h"

#define MINUTE_S 60

static uint128 rate_of(const struct forecast *forecast, enum projection projection, uint32_t node)
{
    if (projection == PROJECTION_NOTHING ||
        (projection != PROJECTION_ALL && forecast->in_entity[node]))
        return 0;
    return forecast->rates[node];
}

/* What was used until now, as of a later instant. */
static struct wide aged(const struct forecast *forecast, const struct clock *clock, uint64_t reset,
                        uint32_t node)
{
    struct wide nothing = { { 0 } };
    uint64_t grid = clock_grid(clock);
    if (reset > forecast->now)
        return nothing;
    const struct forecast_past *past = &forecast->past[forecast->past_count - 1];
    while (past->from > clock_now(clock))
        past--;
    return past->grid == grid
               ? wide_shifted_down(&past->own[node], (unsigned)(grid - forecast->past[0].grid))
               : nothing;
}

/* Since when what goes on counts for a node. */
static uint64_t counts_from(const struct forecast *forecast, const struct ledger_state *ledger,
                            uint32_t node)
{
    uint64_t reset = ledger_reset_before(ledger, forecast->tree->nodes[node].id, UINT64_MAX);
    return reset > forecast->now ? reset : forecast->now;
}

static bool add_adjustments(struct tree *tree, const struct clock *clock,
                            const struct ledger_state *ledger)
{
    bool fits = true;
    for (size_t i = 0; i < ledger->adjustment_count; i++) {
        const struct ledger_entry *each = &ledger->adjustments[i];
        uint32_t place = tree_place(tree, each->association);
        uint128 units;
        bool negative;
        uint128 weight = ledger_weight(ledger, each, clock, &units, &negative);
        if (weight && place != NO_NODE)
            fits &= wide_add_product(&tree->nodes[place].usage, units, weight, negative);
    }
    return fits;
}

static int charge(const struct forecast *forecast, enum projection projection,
                  const struct clock *clock, const struct ledger_state *ledger, uint64_t reset,
                  struct error *err)
{
    struct tree *tree = forecast->tree;
    uint64_t now = forecast->now, at = clock_now(clock);
    uint128 weight = clock_weight(clock, now, at);
    bool fits = true;
    for (uint32_t i = 0; i < tree->count; i++) {
        struct wide *usage = &tree->nodes[i].usage;
        uint64_t from = counts_from(forecast, ledger, i);
        *usage = aged(forecast, clock, reset, i);
        fits &= wide_add_product(usage, rate_of(forecast, projection, i),
                                 from > now ? clock_weight(clock, from, at) : weight, false);
    }
    if (projection == PROJECTION_JOB)
        fits &=
            wide_add_product(&tree->nodes[forecast->entity].usage, forecast->job_rate,
                             clock_weight(clock, counts_from(forecast, ledger, forecast->entity),
                                          now + forecast->job_s),
                             false);
    fits &= add_adjustments(tree, clock, ledger);
    for (uint32_t i = 0; i < tree->level_count; i++)
        tree->levels[i].usage = tree->levels[i].sharer_usage = (struct wide){ { 0 } };
    return fits ? tree_roll_up_usage(tree, err)
                : fail(err, ERROR_DATA, "this is more usage than can be counted");
}

static uint32_t rank_of(const struct forecast *forecast, const struct fairshare_options *options)
{
    uint32_t *order = order_of_all(forecast->tree, options, forecast->algorithm, forecast->values);
    uint32_t *ranks = user_ranks(forecast->tree, order), rank = ranks[forecast->entity];
    free(order);
    free(ranks);
    return rank;
}

/* From Slurm 25.11 on an account has LevelFS alone, whatever the algorithm. */
static double level_fs_of(const struct forecast *forecast, const struct fairshare_options *options)
{
    const struct algorithm *algorithm = forecast->algorithm;
    const struct values *values = &forecast->values[forecast->entity];
    if (algorithm->by_rules && isnan(algorithm->factor(values)))
        fairshare_compute_one(forecast->tree, options, algorithm_named("fair_tree"),
                              forecast->values);
    else if (!algorithm->ranks_users)
        return NAN;
    return values->level_fs;
}

/* The values at an instant; to sort all users for a rank takes time, so it is said who needs it. */
static int compute_at(const struct forecast *forecast, enum projection projection, uint64_t at,
                      bool ranked, struct forecast_point *point, struct error *err)
{
    struct ledger_state *ledger = ledger_at(forecast->coming, at);
    uint64_t reset = calendar_last_reset(&forecast->period, at);
    if (reset < forecast->least_reset)
        reset = forecast->least_reset;
    if (reset < ledger->cluster_reset)
        reset = ledger->cluster_reset;
    uint64_t first =
        forecast->first_charge < forecast->now ? forecast->first_charge : forecast->now;
    struct clock *clock = clock_create(forecast->half_life, at, reset);
    struct fairshare_options options = forecast->options;
    options.clock = clock;
    options.capacity =
        forecast->capacity(forecast->context, at, reset,
                           projection == PROJECTION_NOTHING ? forecast->first_charge : first);
    int result = charge(forecast, projection, clock, ledger, reset, err);
    if (!result) {
        const struct values *values = &forecast->values[forecast->entity];
        fairshare_compute_one(forecast->tree, &options, forecast->algorithm, forecast->values);
        *point = (struct forecast_point){
            .at = at,
            .factor = forecast->algorithm->factor(values),
            .usage = values->usage_raw,
            .rank = ranked ? rank_of(forecast, &options) : 0,
        };
        point->level_fs = level_fs_of(forecast, &options);
    }
    clock_destroy(clock);
    ledger_state_destroy(ledger);
    return result;
}

int forecast_at(const struct forecast *forecast, enum projection projection, uint64_t at,
                struct forecast_point *point, struct error *err)
{
    return compute_at(forecast, projection, at, true, point, err);
}

double forecast_value(const struct forecast_point *point)
{
    return isnan(point->factor) ? point->level_fs : point->factor;
}

static int is_reached(const struct crossing_search *search, uint64_t at, bool *reached,
                      struct error *err)
{
    struct forecast_point point;
    if (compute_at(search->forecast, search->projection, at, false, &point, err))
        return -1;
    *reached = forecast_value(&point) >= search->value;
    return 0;
}

/* The first minute after `before`, up to `after`, at which it is not any more as it was. */
static int narrow(const struct crossing_search *search, uint64_t before, uint64_t after, bool was,
                  uint64_t *crossing, struct error *err)
{
    while (after - before > MINUTE_S) {
        uint64_t minutes = (after - before + MINUTE_S - 1) / MINUTE_S;
        uint64_t middle = before + minutes / 2 * MINUTE_S;
        bool reached;
        if (is_reached(search, middle, &reached, err))
            return -1;
        if (reached == was)
            before = middle;
        else
            after = middle;
    }
    *crossing = after;
    return 0;
}

/* The next instant to look at: a step later, or the reset or the entry of the ledger before that.
 */
static uint64_t next_instant(const struct crossing_search *search, uint64_t at)
{
    uint64_t next = search->end - at > search->step_s ? at + search->step_s : search->end;
    uint64_t reset = calendar_last_reset(&search->forecast->period, next);
    uint64_t entry = ledger_next(search->forecast->coming, at, false);
    if (reset > at)
        next = reset;
    return entry < next ? entry : next;
}

int forecast_crossing(const struct crossing_search *search, uint64_t *crossing, struct error *err)
{
    bool was, is;
    *crossing = 0;
    if (is_reached(search, search->forecast->now, &was, err))
        return -1;
    for (uint64_t at = search->forecast->now, next; at < search->end; at = next) {
        next = next_instant(search, at);
        if (is_reached(search, next, &is, err))
            return -1;
        if (is != was)
            return narrow(search, at, next, was, crossing, err);
    }
    return 0;
}

uint128 forecast_rate(const struct wide *charged, uint64_t seconds)
{
    if (wide_is_negative(charged))
        return 0;
    struct natural rate = natural_of_wide(charged);
    natural_divide(&rate, seconds);
    if (natural_bits(&rate) > 126)
        return (uint128)1 << 126;
    return natural_low(&rate);
}
