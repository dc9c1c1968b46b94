/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/insight/forecast_places.h"
#include "core/usage/ledger.h"
#include "site.h"
#include "util/text.h"

/* Tests values that a later run will compute.  Directly below the root, the classic factor is 2^-(U
 * / S).  So an association with half of the shares has factor 1/2 if its share of total usage, U,
 * is 1/2. */

#define NOW 1000000
#define HOUR_S 3600

static struct site site;
static struct forecast forecast;
static struct error err;

static double no_capacity(const void *context, uint64_t now, uint64_t reset, uint64_t first_charge)
{
    (void)context, (void)now, (void)reset, (void)first_charge;
    return NAN;
}

static uint32_t node(uint32_t id)
{
    return tree_place(site.tree, id);
}

/* Begins a forecast for the association `entity`.  The drawing's usage is past usage. */
static void begin_decaying(const char *drawing, uint32_t entity, uint64_t half_life)
{
    site_draw(&site, drawing);
    decay_table_destroy(site.decay);
    site.decay = decay_table_create(half_life, NOW, 0);
    if (!site_build(&site, BAD_ROWS_FAIL))
        diag(site.err.message);
    forecast = (struct forecast){
        .tree = site.tree,
        .entity = node(entity),
        .in_entity = memory_zeroed(site.tree->count, sizeof *forecast.in_entity),
        .now = NOW,
        .half_life = half_life,
        .coming = ledger_create(),
        .algorithm = algorithm_named("classic"),
        .options = { .conformance = CONFORMANCE_DOCUMENTS, .dampening = 1 },
        .capacity = no_capacity,
        .first_charge = 0,
        .past = memory_zeroed(1, sizeof *forecast.past),
        .past_count = 1,
        .rates = memory_zeroed(site.tree->count, sizeof *forecast.rates),
        .values = memory_zeroed(site.tree->count, sizeof *forecast.values),
    };
    forecast.past[0].epoch = decay_table_epoch(site.decay);
    forecast.past[0].own = memory_zeroed(site.tree->count, sizeof(struct wide));
    for (uint32_t i = 0; i < site.tree->count; i++) {
        forecast.in_entity[i] =
            i == forecast.entity || (i && forecast.in_entity[site.tree->nodes[i].parent]);
        if (site.tree->nodes[i].is_user)
            forecast.past[0].own[i] = site.tree->nodes[i].usage;
    }
}

static void begin(const char *drawing, uint32_t entity)
{
    begin_decaying(drawing, entity, 0);
}

static void end(void)
{
    free(forecast.in_entity);
    ledger_destroy(forecast.coming);
    free(forecast.past[0].own);
    free(forecast.past);
    free(forecast.rates);
    free(forecast.values);
    site_erase(&site);
}

/* Continues an association's usage at a rate in whole TRES. */
static void goes_on(uint32_t id, uint64_t tres)
{
    forecast.rates[node(id)] = (uint128)UNITS_PER_TRES * tres;
}

/* Computes a point from the values of the whole tree. */
static int computed_at(enum projection projection, uint64_t at, struct forecast_point *point)
{
    struct algorithm algorithm = *forecast.algorithm;
    struct forecast all = forecast;
    algorithm.find_one = NULL;
    all.algorithm = &algorithm;
    struct projected *projected = projected_begin(&all, projection);
    int result = projected_at(projected, at, point, &err);
    projected_end(projected);
    return result;
}

static struct forecast_point point_at(enum projection projection, uint64_t seconds)
{
    struct forecast_point point = { 0 };
    if (computed_at(projection, NOW + seconds, &point))
        diag(err.message);
    return point;
}

/* Returns the number of seconds until the factor crosses `value`, or -1 if not within a day. */
static int64_t crossing_of(enum projection projection, double value)
{
    const struct crossing_search search = { value, NOW + 24 * HOUR_S, HOUR_S };
    uint64_t crossing;
    struct projected *projected = projected_begin(&forecast, projection);
    if (projected_crossing(projected, &search, &crossing, &err))
        diag(err.message);
    projected_end(projected);
    return crossing ? (int64_t)crossing - NOW : -1;
}

/* u has 3/4 of the usage. */
#define TWO "1 - root - 1 0  2 - root u 1 6000  3 - root v 1 2000"

static void rising(void)
{
    begin(TWO, 2);
    goes_on(2, 3);
    goes_on(3, 1);
    is_close(point_at(PROJECTION_NOTHING, 0).factor, exp2(-1.5), 1e-15,
             "the factor now is that of the current usage");
    is_int(point_at(PROJECTION_OTHERS, 3999).rank, 1,
           "a user with more than half of the usage ranks lower");
    is_int(point_at(PROJECTION_OTHERS, 4000).rank, 2, "tied users have the better rank");
    is_double_exact(point_at(PROJECTION_OTHERS, 4000).factor, 0.5,
                    "6000 of 12000 give factor 1/2 after others used 4000");
    /* The exact crossing is at 4000 seconds, and 66 minutes are 3960 seconds. */
    is_int(crossing_of(PROJECTION_OTHERS, 0.5), 67 * 60,
           "a crossing is the first minute that has the value");
    is_int(crossing_of(PROJECTION_NOTHING, 0.5), -1, "without any usage there is no crossing");
    is_int(crossing_of(PROJECTION_ALL, 0.5), -1,
           "with all usage at its past rates there is no crossing");
    is_double_exact(point_at(PROJECTION_ALL, 1000).usage, 9000, "usage continues at its rate");
    is_double_exact(point_at(PROJECTION_OTHERS, 1000).usage, 6000,
                    "the entity's usage does not continue if only others' does");
    end();
}

static void falling(void)
{
    begin(TWO, 2);
    forecast.job_rate = (uint128)UNITS_PER_TRES * 10;
    forecast.job_s = 1000;
    is_double_exact(point_at(PROJECTION_JOB, 100).usage, 7000, "the job adds to the usage");
    is_double_exact(point_at(PROJECTION_JOB, 1500).usage, 16000,
                    "the job adds no usage after its end");
    /* (6000 + 10 t) / (8000 + 10 t) is .8 at 200. */
    is_int(crossing_of(PROJECTION_JOB, exp2(-1.6)), 240,
           "a falling value's crossing is the first minute below it");
    is_int(crossing_of(PROJECTION_JOB, exp2(-2)), -1,
           "U / S does not reach 2 while others have usage");
    end();
}

static void decay(void)
{
    begin_decaying(TWO, 2, 10 * HOUR_S);
    is_close(point_at(PROJECTION_NOTHING, 0).usage, 6000, 1e-12,
             "past usage is unchanged at the start");
    is_close(point_at(PROJECTION_NOTHING, 10 * HOUR_S).usage, 3000, 1e-12,
             "half of the usage remains after a half-life");
    is_close(point_at(PROJECTION_NOTHING, 10 * HOUR_S).factor, exp2(-1.5), 1e-15,
             "shares of total usage do not decay");
    end();
}

static void resets(void)
{
    begin(TWO, 2);
    forecast.period = (struct reset_period){ .unit = RESET_EVERY,
                                             .span = 30 * 24 * HOUR_S,
                                             .anchor = NOW + 5000 };
    is_double_exact(point_at(PROJECTION_NOTHING, 4999).usage, 6000, "usage counts until the reset");
    is_double_exact(point_at(PROJECTION_NOTHING, 5000).usage, 0,
                    "usage does not count from the reset on");
    is_int(crossing_of(PROJECTION_NOTHING, 1), 5000,
           "a reset between two steps of the search is found");
    end();
}

static void corrections(void)
{
    begin(TWO, 2);
    ledger_add(forecast.coming, &(struct ledger_entry){ .id = 1,
                                                        .time = NOW + 600,
                                                        .kind = LEDGER_CREDIT,
                                                        .association = 2,
                                                        .tres_seconds = 4000 });
    is_double_exact(point_at(PROJECTION_NOTHING, 599).usage, 6000,
                    "a future credit does not count before its time");
    is_double_exact(point_at(PROJECTION_NOTHING, 600).usage, 2000,
                    "a future credit counts from its time on");
    is_int(crossing_of(PROJECTION_NOTHING, 0.5), 600, "a future credit causes the crossing");
    end();
}

static void edges(void)
{
    begin("1 - root - 1 0  2 - root u 1 0", 2);
    is_double_exact(point_at(PROJECTION_NOTHING, 60).factor, 1,
                    "a user without usage has factor 1");
    goes_on(2, 1);
    is_double_exact(point_at(PROJECTION_ALL, 60).factor, 0.5,
                    "the only user has factor 1/2 for any usage");
    is_int(point_at(PROJECTION_ALL, 60).rank, 1, "the only user has the only rank");
    is_int(crossing_of(PROJECTION_ALL, 0.75), 60,
           "the first usage causes the crossing of a lower value");
    end();

    begin("1 - root - 1 0  2 - root u 0 10  3 - root v 1 10", 2);
    goes_on(3, 1);
    is_double_exact(point_at(PROJECTION_OTHERS, HOUR_S).factor, 0,
                    "without shares the factor stays 0");
    is_int(crossing_of(PROJECTION_OTHERS, 0.01), -1, "without shares no value is reached");
    end();

    begin("1 - root - 1 0  2 root a - 1 0  3 root empty - 1 0  4 - a u 1 10", 3);
    forecast.algorithm = algorithm_named("fair_tree");
    struct forecast_point point = point_at(PROJECTION_NOTHING, 60);
    ok(isnan(point.factor) && point.rank == 0 && isinf(forecast_value(&point)),
       "an account without users has level_fs as its value");
    end();

    begin("1 - root - 1 0  2 root a - 1 0  3 - a p parent 5  4 - a u 1 5", 4);
    /* UE = U + (UE of the account - U) S = 1/2 + (1 - 1/2) 1 */
    is_close(point_at(PROJECTION_NOTHING, 60).factor, 0.5, 1e-15,
             "`parent` shares do not count in the level's shares");
    end();

    begin(TWO, 2);
    forecast.past[0].own[node(2)].word[3] = forecast.past[0].own[node(3)].word[3] = UINT64_MAX >> 1;
    struct forecast_point beyond;
    ok(computed_at(PROJECTION_NOTHING, NOW, &beyond) == -1 && err.class == ERROR_DATA,
       "usage beyond the integer range is an error");
    end();
}

static void rates(void)
{
    struct wide charged = { { 7200 } }, huge = { { 0, 0, 1 } }, negative = { { 0 } };
    struct wide one = { { 1 } };
    ok(forecast_rate(&charged, HOUR_S) == 2, "a rate is the charge per second");
    ok(forecast_rate(&charged, 7201) == 0, "a rate is rounded down to whole units");
    ok(forecast_rate(&huge, 1) == (uint128)1 << 126, "a rate has an upper limit");
    wide_subtract(&negative, &one);
    ok(forecast_rate(&negative, 1) == 0, "a rate is not negative");
}

static uint64_t dice(uint64_t *state, uint64_t sides)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % sides;
}

/* Draws a tree of accounts and users.  The numbers are small, so that many values are equal. */
static void draw_random(struct text *drawing, uint64_t *state, unsigned count)
{
    char parents[64][8] = { "root" };
    unsigned accounts = 1;
    text_add(drawing, "1 - root - 1 0");
    for (unsigned i = 2; i <= count; i++) {
        const char *parent = parents[dice(state, accounts)];
        bool inherits = !dice(state, 6), account = i < count && !dice(state, 3);
        char shares[16] = "parent";
        if (!inherits)
            snprintf(shares, sizeof shares, "%d", (int)dice(state, 4));
        if (account) {
            snprintf(parents[accounts], sizeof parents[0], "a%u", i);
            text_format(drawing, "\n%u %s %s - %s 0", i, parent, parents[accounts++], shares);
        } else {
            text_format(drawing, "\n%u - %s u%u %s %d", i, parent, i, shares,
                        (int)dice(state, 4) * 6000);
        }
    }
}

static bool same_number(double one, double other)
{
    return memcmp(&one, &other, sizeof one) == 0 || (isnan(one) && isnan(other));
}

/* Compares the point of the entity with the same point from the whole tree.  The times are within a
 * year, so that the decay epoch advances. */
static bool is_projected_alike(enum projection projection, uint64_t *state)
{
    bool alike = true;
    struct projected *projected = projected_begin(&forecast, projection);
    for (int i = 0; i < 20; i++) {
        uint64_t seconds = dice(state, 365) * 24 * HOUR_S + dice(state, 3);
        struct forecast_point found = { 0 }, computed = point_at(projection, seconds);
        if (projected_at(projected, NOW + seconds, &found, &err))
            diag(err.message);
        alike &= found.at == computed.at && found.rank == computed.rank &&
                 same_number(found.factor, computed.factor) &&
                 same_number(found.level_fs, computed.level_fs) &&
                 same_number(found.usage, computed.usage);
    }
    projected_end(projected);
    return alike;
}

/* Compares searches with find_one and without it.  The computation of the whole tree is the second
 * implementation. */
static bool is_crossed_alike(uint64_t *state)
{
    static struct algorithm computed;
    struct text drawing = { 0 };
    unsigned count = 3 + (unsigned)dice(state, 40);
    bool alike = true;
    draw_random(&drawing, state, count);
    begin_decaying(drawing.bytes, 2 + (uint32_t)dice(state, count - 1),
                   dice(state, 2) ? 7 * HOUR_S : 0);
    computed = *algorithm_named("fair_tree");
    computed.find_one = NULL;
    for (uint32_t id = 2; id <= count; id++)
        if (site.tree->nodes[node(id)].is_user)
            goes_on(id, dice(state, 3));
    for (int i = 0; i < 12; i++) {
        double value = (double)dice(state, 12) / 8;
        enum projection projection = (enum projection)dice(state, PROJECTION_JOB);
        forecast.algorithm = algorithm_named("fair_tree");
        int64_t found = crossing_of(projection, value);
        forecast.algorithm = &computed;
        alike &= found == crossing_of(projection, value);
        forecast.algorithm = algorithm_named("fair_tree");
        alike &= is_projected_alike(projection, state);
    }
    if (!alike)
        diag(drawing.bytes);
    text_free(&drawing);
    end();
    return alike;
}

static void random_trees(void)
{
    uint64_t state = 20;
    unsigned alike = 0;
    for (int i = 0; i < 400; i++)
        alike += is_crossed_alike(&state);
    is_int(alike, 400,
           "400 random trees: one entity's points and crossings equal the whole tree's");
}

/* ---- places of many users ---- */

#define DAYS 3

/* Compares the places of all users with the places from one forecast for each user. */
static bool are_placed_alike(enum projection projection)
{
    uint32_t users[64], places[64 * (DAYS + 1)], count = 0;
    bool alike = true;
    for (uint32_t i = 0; i < site.tree->count; i++)
        if (site.tree->nodes[i].is_user)
            users[count++] = i;
    if (forecast_places(&forecast, projection,
                        &(struct forecast_users){
                            .nodes = users, .count = count, .days = DAYS, .places = places },
                        &err))
        diag(err.message);
    for (uint32_t i = 0; i < count; i++) {
        forecast_choose(&forecast, users[i]);
        for (uint32_t day = 0; day <= DAYS; day++)
            alike &=
                places[i * (DAYS + 1) + day] ==
                place_of_rank(point_at(projection, day * 24 * HOUR_S).rank, site.tree->user_count);
    }
    return alike;
}

/* Begins a forecast of a random tree.  Half of the trees have many ties. */
static void begin_random(uint64_t *state, const char *algorithm, enum conformance conformance)
{
    struct text drawing = { 0 };
    unsigned count = 3 + (unsigned)dice(state, 60);
    draw_random(&drawing, state, count);
    begin_decaying(drawing.bytes, 2, dice(state, 2) ? 7 * HOUR_S : 0);
    forecast.algorithm = algorithm_named(algorithm);
    forecast.options.conformance = conformance;
    bool varied = dice(state, 2);
    for (uint32_t i = 0; i < site.tree->count; i++)
        if (site.tree->nodes[i].is_user) {
            forecast.rates[i] = (uint128)UNITS_PER_TRES * dice(state, varied ? 1000 : 3);
            if (varied)
                wide_add_product(&forecast.past[0].own[i], UNITS_PER_TRES, dice(state, 1 << 20),
                                 false);
        }
    if (!dice(state, 4))
        ledger_add(forecast.coming, &(struct ledger_entry){ .id = 1,
                                                            .time = NOW + 60 * HOUR_S,
                                                            .kind = LEDGER_CREDIT,
                                                            .association = 2,
                                                            .tres_seconds = 4000 });
    text_free(&drawing);
}

static void places(const char *algorithm, enum conformance conformance, const char *statement)
{
    uint64_t state = 46;
    unsigned alike = 0;
    for (int i = 0; i < 40; i++) {
        begin_random(&state, algorithm, conformance);
        alike += are_placed_alike(PROJECTION_ALL) && are_placed_alike(PROJECTION_OTHERS);
        end();
    }
    is_int(alike, 40, statement);
}

static void all_places(void)
{
    places("fair_tree", CONFORMANCE_DOCUMENTS,
           "Fair Tree: the places of all users equal the places from their own forecasts");
    places("fair_tree", CONFORMANCE_SLURMCTLD,
           "slurmctld: the places of all users equal the places from their own forecasts");
    places("classic", CONFORMANCE_DOCUMENTS,
           "classic: the places of all users equal the places from their own forecasts");
    places("pbs", CONFORMANCE_DOCUMENTS,
           "OpenPBS: the places of all users equal the places from their own forecasts");
}

int main(void)
{
    rising();
    falling();
    decay();
    resets();
    corrections();
    edges();
    rates();
    random_trees();
    all_places();
    return done_testing();
}
