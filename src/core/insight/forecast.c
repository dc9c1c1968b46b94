/* SPDX-License-Identifier: MIT */
#include "core/insight/forecast.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "core/number/wide.h"
#include "core/tree/tree.h"
#include "core/usage/ledger.h"
#include "util/error.h"
#include "util/memory.h"

/* values_at() computes the values at a time in one of two ways.  compute_at() computes the usage of
 * all nodes and then all values.  find_at() is faster: it keeps usage as linear functions and
 * evaluates only the few that the algorithm needs for the entity.  find_at() is used if the
 * algorithm has find_one() and neither a ledger entry nor a single job changes the usage. */

/* ---- linear usage ---- */

/* The usage of each node and level, including all descendants, as a linear function: usage = aged +
 * rate * weight.  `aged` is the remaining past usage, and `weight` is the decay table's weight of
 * the projected time.  With this function, the usage of a few nodes can be computed without the
 * others.  tree_roll_up_usage() would give the same integers, except that it replaces negative
 * usage by 0.  Therefore `usable` is false if any usage is negative or out of range. */
struct usage_lines {
    const struct tree *tree;
    struct wide *aged; /* indexed by node; the entries of the levels follow */
    uint128 *rates;    /* indexed in the same way */
    bool usable;
};

/* The context of usage_lines_set(), which sets the usage of a node and of its level at one time. */
struct usage_at {
    const struct usage_lines *lines;
    struct tree *tree; /* the tree of `lines`; receives the usage */
    uint128 weight;
};

static size_t forecast_count_of(const struct tree *tree)
{
    return (size_t)tree->count + tree->level_count;
}

/* Returns the index, in `aged` and `rates`, of the level that contains `node`.  Sets *counts to
 * true if the level includes the node's usage. */
static size_t level_place(const struct tree *tree, uint32_t node, bool *counts)
{
    const struct node *one = &tree->nodes[node];
    *counts = one->is_user || !node_has_parent_shares(one);
    return (size_t)tree->count + tree->nodes[one->fairshare_parent].level;
}

/* Initializes the linear functions with no usage and no rates. */
static void usage_lines_begin(struct usage_lines *lines, const struct tree *tree)
{
    *lines = (struct usage_lines){
        .tree = tree,
        .aged = memory_zeroed(forecast_count_of(tree), sizeof *lines->aged),
        .rates = memory_zeroed(forecast_count_of(tree), sizeof *lines->rates),
        .usable = true,
    };
}

static void usage_lines_add_rate(struct usage_lines *lines, uint32_t node, uint128 rate)
{
    lines->rates[node] += rate;
}

/* Returns false if the sum has more than 127 bits. */
static bool add_rate(uint128 *sum, uint128 more)
{
    *sum += more;
    return *sum >= more && !(*sum >> 127);
}

static void usage_lines_sum_rates(struct usage_lines *lines)
{
    const struct tree *tree = lines->tree;
    for (uint32_t i = tree->count; i-- > 1;)
        lines->usable &= add_rate(&lines->rates[tree->nodes[i].parent], lines->rates[i]);
    for (uint32_t i = 1; i < tree->count; i++) {
        bool counts;
        size_t level = level_place(tree, i, &counts);
        if (counts)
            lines->usable &= add_rate(&lines->rates[level], lines->rates[i]);
    }
}

/* Sets the remaining past usage of one node.  Call it for every node, then call
 * usage_lines_sum_aged().  Clears `usable` if a sum overflows or usage is negative. */
static void usage_lines_set_aged(struct usage_lines *lines, uint32_t node, const struct wide *own)
{
    lines->aged[node] = *own;
    lines->usable &= !wide_is_negative(own);
}

static void usage_lines_sum_aged(struct usage_lines *lines)
{
    const struct tree *tree = lines->tree;
    for (size_t i = 0; i < tree->level_count; i++)
        lines->aged[tree->count + i] = (struct wide){ { 0 } };
    for (uint32_t i = tree->count; i-- > 1;)
        lines->usable &= wide_add(&lines->aged[tree->nodes[i].parent], &lines->aged[i]);
    for (uint32_t i = 1; i < tree->count; i++) {
        bool counts;
        size_t level = level_place(tree, i, &counts);
        if (counts)
            lines->usable &= wide_add(&lines->aged[level], &lines->aged[i]);
    }
}

static void usage_lines_free(struct usage_lines *lines)
{
    free(lines->aged);
    free(lines->rates);
    *lines = (struct usage_lines){ 0 };
}

/* Returns true if no usage is out of range at this weight.  No node has more usage than the root,
 * so it is sufficient to check the root. */
static bool usage_lines_fit(const struct usage_lines *lines, uint128 weight)
{
    struct wide all = lines->aged[0];
    return lines->usable && wide_add_product(&all, lines->rates[0], weight, false);
}

static struct wide forecast_usage_of(const struct usage_at *at, size_t place)
{
    struct wide usage = at->lines->aged[place];
    wide_add_product(&usage, at->lines->rates[place], at->weight, false);
    return usage;
}

static void usage_lines_set(const void *usage_at, uint32_t node)
{
    const struct usage_at *at = usage_at;
    bool counts;
    at->tree->nodes[node].usage = forecast_usage_of(at, node);
    size_t level = level_place(at->tree, node, &counts);
    at->tree->levels[level - at->tree->count].usage = forecast_usage_of(at, level);
}

#define MINUTE_S 60

/* ---- the forecast ---- */

void forecast_choose(struct forecast *forecast, uint32_t entity)
{
    forecast->entity = entity;
    tree_mark_below(forecast->tree, entity, forecast->in_entity);
}

void forecast_free(struct forecast *forecast)
{
    for (size_t i = 0; i < forecast->past_count; i++)
        free(forecast->past[i].own);
    free(forecast->past);
    free(forecast->rates);
    free(forecast->values);
    free(forecast->in_entity);
    ledger_destroy(forecast->coming);
    *forecast = (struct forecast){ 0 };
}

static struct wide *forecast_add_past(struct forecast *forecast, uint64_t from, uint64_t epoch,
                                      struct wide *own)
{
    if (!own)
        own = memory_zeroed(forecast->tree->count, sizeof *own);
    *memory_append(&forecast->past, &forecast->past_count) =
        (struct forecast_past){ from, epoch, own };
    return own;
}

int forecast_read_past(struct forecast *forecast, struct wide *own, uint64_t end,
                       const struct forecast_reader *reader, struct error *err)
{
    uint64_t now = forecast->now, half_life = forecast->half_life;
    uint64_t epoch = decay_table_epoch_at(half_life, now);
    forecast_add_past(forecast, now, epoch, own);
    for (uint64_t at = now;;) {
        uint64_t entry = ledger_next(forecast->coming, at, true), before = epoch;
        uint64_t step = half_life ? (at / half_life / 8 + 1) * 8 * half_life : UINT64_MAX;
        at = entry < step ? entry : step;
        epoch = decay_table_epoch_at(half_life, at);
        uint64_t start = epoch * half_life;
        if (at > end || start >= now)
            return 0;
        if ((epoch != before || at == entry) &&
            reader->fill(reader->context, at, start, forecast_add_past(forecast, at, epoch, NULL),
                         err))
            return -1;
    }
}

static uint128 rate_of(const struct forecast *forecast, enum projection projection, uint32_t node)
{
    if (projection == PROJECTION_NOTHING ||
        (projection != PROJECTION_ALL && forecast->in_entity[node]))
        return 0;
    return forecast->rates[node];
}

/* Returns the past usage that is still included at a later time, or NULL if past usage is no longer
 * included. */
static const struct forecast_past *past_at(const struct forecast *forecast,
                                           const struct decay_table *decay, uint64_t reset)
{
    if (reset > forecast->now)
        return NULL;
    const struct forecast_past *past = &forecast->past[forecast->past_count - 1];
    while (past->from > decay_table_now(decay))
        past--;
    return past->epoch == decay_table_epoch(decay) ? past : NULL;
}

static struct wide aged(const struct forecast *forecast, const struct forecast_past *past,
                        uint32_t node)
{
    return past ? wide_shifted_down(&past->own[node],
                                    (unsigned)(past->epoch - forecast->past[0].epoch))
                : (struct wide){ { 0 } };
}

/* Returns the last reset of usage up to `at`.  `entered` is the last reset in the ledger up to
 * `at`. */
static uint64_t forecast_last_reset(const struct forecast *forecast, uint64_t entered, uint64_t at)
{
    uint64_t reset = calendar_last_reset(&forecast->period, at);
    reset = reset < forecast->least_reset ? forecast->least_reset : reset;
    return reset < entered ? entered : reset;
}

/* Returns the time from which the projected usage of a node is included. */
static uint64_t forecast_counts_from(const struct forecast *forecast,
                                     const struct ledger_state *ledger, uint32_t node)
{
    uint64_t reset = ledger_reset_before(ledger, forecast->tree->nodes[node].id, UINT64_MAX);
    return reset > forecast->now ? reset : forecast->now;
}

static bool forecast_add_adjustments(struct tree *tree, const struct decay_table *decay,
                                     const struct ledger_state *ledger)
{
    bool fits = true;
    for (size_t i = 0; i < ledger->adjustment_count; i++) {
        const struct ledger_entry *each = &ledger->adjustments[i];
        uint32_t place = tree_place(tree, each->association);
        uint128 units;
        bool negative;
        uint128 weight = ledger_weight(ledger, each, decay, &units, &negative);
        if (weight && place != NO_NODE)
            fits &= wide_add_product(&tree->nodes[place].usage, units, weight, negative);
    }
    return fits;
}

static int charge(const struct forecast *forecast, enum projection projection,
                  const struct decay_table *decay, const struct ledger_state *ledger,
                  uint64_t reset, struct error *err)
{
    struct tree *tree = forecast->tree;
    uint64_t now = forecast->now, at = decay_table_now(decay);
    uint128 weight = decay_table_weight(decay, now, at);
    bool fits = true;
    const struct forecast_past *past = past_at(forecast, decay, reset);
    for (uint32_t i = 0; i < tree->count; i++) {
        struct wide *usage = &tree->nodes[i].usage;
        uint64_t from = forecast_counts_from(forecast, ledger, i);
        *usage = aged(forecast, past, i);
        fits &= wide_add_product(usage, rate_of(forecast, projection, i),
                                 from > now ? decay_table_weight(decay, from, at) : weight, false);
    }
    if (projection == PROJECTION_JOB)
        fits &= wide_add_product(
            &tree->nodes[forecast->entity].usage, forecast->job_rate,
            decay_table_weight(decay, forecast_counts_from(forecast, ledger, forecast->entity),
                               now + forecast->job_s),
            false);
    fits &= forecast_add_adjustments(tree, decay, ledger);
    for (uint32_t i = 0; i < tree->level_count; i++)
        tree->levels[i].usage = tree->levels[i].sharer_usage = (struct wide){ { 0 } };
    return fits ? tree_roll_up_usage(tree, err)
                : fail(err, ERROR_DATA,
                       "the projected usage is beyond the range of fairmill's integers");
}

static uint32_t *forecast_ranks(const struct forecast *forecast,
                                const struct fairshare_options *options)
{
    uint32_t *order = order_of_all(forecast->tree, options, forecast->algorithm, forecast->values);
    uint32_t *ranks = user_ranks(forecast->tree, order);
    free(order);
    return ranks;
}

/* Since Slurm 25.11, accounts have no factor in classic and depth-oblivious.  They have only
 * LevelFS. */
static double forecast_level_fs_of(const struct forecast *forecast,
                                   const struct fairshare_options *options)
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

/* A projection in progress.  The linear functions are valid until the decay epoch advances.  Then
 * the remaining past usage is computed again. */
struct projected {
    const struct forecast *forecast;
    enum projection projection;
    struct decay_table *decay; /* shares its tables with the decay tables of all times */
    struct usage_lines lines;
    /* The past usage that `lines` contains.  NULL if it is not yet set or no past usage remains. */
    const struct forecast_past *past;
    bool by_lines, aged_known; /* linear functions can be used; `lines` contains `past` */
};

/* Computes the values at a time, and the ranks of all users unless `ranks` is NULL.  The caller
 * frees the ranks.  A search does not need them, and all users would have to be sorted. */
static int compute_at(const struct projected *projected, uint64_t at, uint32_t **ranks,
                      struct forecast_point *point, struct error *err)
{
    const struct forecast *forecast = projected->forecast;
    enum projection projection = projected->projection;
    struct ledger_state *ledger = ledger_at(forecast->coming, at);
    if (forecast->computed)
        forecast->computed(forecast->computed_context, at);
    uint64_t reset = forecast_last_reset(forecast, ledger->cluster_reset, at);
    uint64_t first =
        forecast->first_charge < forecast->now ? forecast->first_charge : forecast->now;
    struct decay_table *decay = decay_table_create_like(projected->decay, at, reset);
    struct fairshare_options options = forecast->options;
    options.decay = decay;
    options.capacity =
        forecast->capacity(forecast->context, at, reset,
                           projection == PROJECTION_NOTHING ? forecast->first_charge : first);
    int result = charge(forecast, projection, decay, ledger, reset, err);
    if (!result) {
        const struct values *values = &forecast->values[forecast->entity];
        fairshare_compute_one(forecast->tree, &options, forecast->algorithm, forecast->values);
        *point = (struct forecast_point){
            .at = at,
            .factor = forecast->algorithm->factor(values),
            .usage = values->usage_raw,
        };
        if (ranks)
            *ranks = forecast_ranks(forecast, &options);
        point->level_fs = forecast_level_fs_of(forecast, &options);
    }
    decay_table_destroy(decay);
    ledger_state_destroy(ledger);
    return result;
}

double forecast_value(const struct forecast_point *point)
{
    return isnan(point->factor) ? point->level_fs : point->factor;
}

/* Usage is linear if one rate continues from now on.  Ledger entries and single jobs change the
 * rate, so the linear functions cannot be used with them. */
struct projected *projected_begin(const struct forecast *forecast, enum projection projection)
{
    struct projected *projected = memory_zeroed(1, sizeof *projected);
    *projected =
        (struct projected){ .forecast = forecast,
                            .projection = projection,
                            .decay = decay_table_create(forecast->half_life, forecast->now, 0) };
    if (!forecast->algorithm->find_one || projection == PROJECTION_JOB ||
        ledger_next(forecast->coming, 0, false) != UINT64_MAX)
        return projected;
    projected->by_lines = true;
    usage_lines_begin(&projected->lines, forecast->tree);
    for (uint32_t i = 0; i < forecast->tree->count; i++)
        usage_lines_add_rate(&projected->lines, i, rate_of(forecast, projection, i));
    usage_lines_sum_rates(&projected->lines);
    return projected;
}

void projected_end(struct projected *projected)
{
    usage_lines_free(&projected->lines);
    decay_table_destroy(projected->decay);
    free(projected);
}

static void age_lines(struct projected *projected, const struct decay_table *decay, uint64_t reset)
{
    const struct forecast *forecast = projected->forecast;
    const struct forecast_past *past = past_at(forecast, decay, reset);
    if (projected->aged_known && past == projected->past)
        return;
    for (uint32_t i = 0; i < forecast->tree->count; i++) {
        struct wide own = aged(forecast, past, i);
        usage_lines_set_aged(&projected->lines, i, &own);
    }
    usage_lines_sum_aged(&projected->lines);
    projected->past = past;
    projected->aged_known = true;
}

/* Computes the values at a time from the linear functions.  Returns false if all values must be
 * computed. */
static bool find_at(struct projected *projected, uint64_t at, struct forecast_point *point)
{
    const struct forecast *forecast = projected->forecast;
    const struct algorithm *algorithm = forecast->algorithm;
    if (!projected->by_lines)
        return false;
    uint64_t reset = forecast_last_reset(forecast, 0, at);
    struct decay_table *decay = decay_table_create_like(projected->decay, at, reset);
    struct fairshare_options options = forecast->options;
    options.decay = decay;
    struct fairshare fairshare = { .tree = forecast->tree,
                                   .options = &options,
                                   .values = forecast->values };
    age_lines(projected, decay, reset);
    struct usage_at usage = { &projected->lines, forecast->tree,
                              decay_table_weight(decay, forecast->now, at) };
    projected->by_lines = usage_lines_fit(&projected->lines, usage.weight) &&
                          algorithm->find_one(&fairshare, forecast->entity,
                                              &(struct usage_setter){ usage_lines_set, &usage });
    if (projected->by_lines) {
        const struct values *values = &forecast->values[forecast->entity];
        *point = (struct forecast_point){
            .at = at,
            .factor = algorithm->factor(values),
            .level_fs = values->level_fs,
            .usage = decay_table_usage(decay, &forecast->tree->nodes[forecast->entity].usage),
            .rank = values->fair_tree_rank,
        };
    }
    decay_table_destroy(decay);
    return projected->by_lines;
}

static int values_at(struct projected *projected, uint64_t at, bool ranked,
                     struct forecast_point *point, struct error *err)
{
    uint32_t *ranks = NULL;
    if (find_at(projected, at, point))
        return 0;
    if (compute_at(projected, at, ranked ? &ranks : NULL, point, err))
        return -1;
    if (ranks)
        point->rank = ranks[projected->forecast->entity];
    free(ranks);
    return 0;
}

int projected_at(struct projected *projected, uint64_t at, struct forecast_point *point,
                 struct error *err)
{
    return values_at(projected, at, true, point, err);
}

int projected_places(struct projected *projected, uint64_t at, uint32_t **places, struct error *err)
{
    const struct tree *tree = projected->forecast->tree;
    struct forecast_point point;
    if (compute_at(projected, at, places, &point, err))
        return -1;
    for (uint32_t i = 0; i < tree->count; i++)
        (*places)[i] = place_of_rank((*places)[i], tree->user_count);
    return 0;
}

bool projected_set_usage(struct projected *projected, uint64_t at, uint128 *weight)
{
    const struct forecast *forecast = projected->forecast;
    if (!projected->by_lines)
        return false;
    uint64_t reset = forecast_last_reset(forecast, 0, at);
    struct decay_table *decay = decay_table_create_like(projected->decay, at, reset);
    age_lines(projected, decay, reset);
    *weight = decay_table_weight(decay, forecast->now, at);
    bool fits = usage_lines_fit(&projected->lines, *weight);
    const struct usage_at usage = { &projected->lines, forecast->tree, *weight };
    for (uint32_t i = 0; fits && i < forecast->tree->count; i++)
        forecast->tree->nodes[i].usage = forecast_usage_of(&usage, i);
    decay_table_destroy(decay);
    return fits;
}

static int is_reached(struct projected *projected, double value, uint64_t at, bool *reached,
                      struct error *err)
{
    struct forecast_point point;
    if (values_at(projected, at, false, &point, err))
        return -1;
    *reached = forecast_value(&point) >= value;
    return 0;
}

/* Sets *after to the first minute between `before` and *after at which is_reached() differs from
 * `was`. */
static int narrow(struct projected *projected, double value, uint64_t before, uint64_t *after,
                  bool was, struct error *err)
{
    while (*after - before > MINUTE_S) {
        uint64_t minutes = (*after - before + MINUTE_S - 1) / MINUTE_S;
        uint64_t middle = before + minutes / 2 * MINUTE_S;
        bool reached;
        if (is_reached(projected, value, middle, &reached, err))
            return -1;
        if (reached == was)
            before = middle;
        else
            *after = middle;
    }
    return 0;
}

/* Returns the next time to examine: one step later, or an earlier reset or ledger entry. */
static uint64_t next_time(const struct forecast *forecast, const struct crossing_search *search,
                          uint64_t at)
{
    uint64_t next = search->end - at > search->step_s ? at + search->step_s : search->end;
    uint64_t reset = calendar_last_reset(&forecast->period, next);
    uint64_t entry = ledger_next(forecast->coming, at, false);
    if (reset > at)
        next = reset;
    return entry < next ? entry : next;
}

int projected_crossing(struct projected *projected, const struct crossing_search *search,
                       uint64_t *crossing, struct error *err)
{
    uint64_t now = projected->forecast->now;
    bool was, is;
    *crossing = 0;
    if (is_reached(projected, search->value, now, &was, err))
        return -1;
    for (uint64_t at = now, next; at < search->end; at = next) {
        next = next_time(projected->forecast, search, at);
        if (is_reached(projected, search->value, next, &is, err))
            return -1;
        if (is != was) {
            *crossing = next;
            return narrow(projected, search->value, at, crossing, was, err);
        }
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
