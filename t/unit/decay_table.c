/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <time.h>

#include "core/usage/decay_table.h"
#include "util/calendar.h"

/* Reference values, computed with 700 bits: Q(b) - Q(a); the usage of 16 TRES over [a, b) in
 * TRES-seconds, as the nearest double; and the time at which usage begins to count. */
static const struct {
    uint64_t half_life, now, a, b, high, low;
    double usage;
    uint64_t start;
} vectors[] = {
    { 604800, 1750500000, 1750000000, 1750003600, UINT64_C(0x000a17cbfdda53a2),
      UINT64_C(0x2000000000000000), 0x1.fc7a1f74aaa57p+14, 1712793600 },
    { 600, 1750500123, 1750490000, 1750490001, UINT64_C(0x00000000a15cf308),
      UINT64_C(0xd5a1e80000000000), 0x1.17fa392f683f1p-13, 1750464000 },
    { 60, 1750500001, 1750498000, 1750500001, UINT64_C(0x002bc8a3df418c30),
      UINT64_C(0xd08d95c2dd400000), 0x1.5a3f2eed04d87p+10, 1750496640 },
    { 1209600, 1750500000, 1749000000, 1750499999, UINT64_C(0x114e7e99ae674479),
      UINT64_C(0x0000000000000000), 0x1.eb5bd7f80c1d5p+23, 1674086400 },
};

static double usage_of(const struct decay_table *decay, uint64_t tres, uint64_t a, uint64_t b)
{
    struct wide sum = { { 0 } };
    wide_add_product(&sum, (uint128)UNITS_PER_TRES * tres, decay_table_weight(decay, a, b), false);
    return decay_table_usage(decay, &sum);
}

static void known_values(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        struct decay_table *decay = decay_table_create(vectors[i].half_life, vectors[i].now, 0);
        char name[120];
        snprintf(name, sizeof name,
                 "half-life %" PRIu64 ": the weight of an interval is exact to the bit",
                 vectors[i].half_life);
        ok(decay_table_weight(decay, vectors[i].a, vectors[i].b) ==
               ((uint128)vectors[i].high << 64 | vectors[i].low),
           name);
        is_double_exact(usage_of(decay, 16, vectors[i].a, vectors[i].b), vectors[i].usage,
                        "the usage of an interval is the nearest double");
        is_int((int64_t)decay_table_start(decay), (int64_t)vectors[i].start,
               "usage counts from 56 to 64 half-lives ago");
        decay_table_destroy(decay);
    }
}

/* The integral as a double, accurate to about 1e-10. */
static double integral(double half_life, double now, double a, double b)
{
    return half_life / log(2) * (exp2((b - now) / half_life) - exp2((a - now) / half_life));
}

static void properties(void)
{
    const uint64_t now = 1750500000;
    struct decay_table *decay = decay_table_create(604800, now, 0),
                       *later = decay_table_create(604800, now + 300, 0);
    bool cuts = true, near = true, same = true, inverse = true;
    srandom(7);
    for (int i = 0; i < 2000; i++) {
        uint64_t a = now - 1 - (uint64_t)random() % 5000000, b = a + 1 + (uint64_t)random() % 99999;
        uint64_t cut = a + (uint64_t)random() % (b - a + 1);
        cuts &= decay_table_weight(decay, a, b) ==
                decay_table_weight(decay, a, cut) + decay_table_weight(decay, cut, b);
        double expected = 3 * integral(604800, (double)now, (double)a, (double)(b < now ? b : now));
        near &= fabs(usage_of(decay, 3, a, b) - expected) <= 1e-7 * expected;
        if (b < now)
            same &= decay_table_weight(decay, a, b) == decay_table_weight(later, a, b);
        struct wide sum;
        double usage = (double)random() / 7;
        inverse &= decay_table_sum_of(decay, usage, &sum) &&
                   fabs(decay_table_usage(decay, &sum) - usage) <= 1e-12 * usage;
    }
    ok(cuts, "the weights of an interval's parts add up to its weight");
    ok(near, "the weight is the integral of the decay");
    ok(same, "a later time changes no weight");
    ok(inverse, "usage converted to a sum and back is unchanged");
    ok(decay_table_weight(decay, now, now + 5) == 0 && decay_table_weight(decay, 5, 5) == 0 &&
           decay_table_weight(decay, 9, 5) == 0,
       "an empty interval has weight 0");
    ok(decay_table_weight(decay, now - 10, now + 10) == decay_table_weight(decay, now - 10, now),
       "time after now does not count");
    decay_table_destroy(decay);
    decay_table_destroy(later);

    decay = decay_table_create(0, now, 1000);
    is_double_exact(usage_of(decay, 3, 0, 1007), 21, "without decay, usage is TRES times seconds");
    decay_table_destroy(decay);
    decay = decay_table_create(0, UINT64_C(1) << 54, 0);
    is_double_exact(usage_of(decay, 1, 0, (UINT64_C(1) << 53) + 3), 0x1.0000000000002p53,
                    "usage halfway between two doubles rounds to even");
    decay_table_destroy(decay);
    decay = decay_table_create(604800, 1000, 0);
    is_int((int64_t)decay_table_start(decay), 0, "a time near the epoch has a start of 0");
    ok(usage_of(decay, 1, 0, 1000) > 999.4 && usage_of(decay, 1, 0, 1000) < 1000,
       "usage near the epoch decays");
    decay_table_destroy(decay);
}

/* The usage that a scheduler has at `now` if it decays on time, second by second. */
static double cycles(const struct decay_cycles *steps, uint64_t now, uint64_t a, uint64_t b)
{
    double usage = 0;
    for (uint64_t t = 0, last = steps->epoch; t < now; t++) {
        if (t >= last + steps->period) { /* the cycle just after its time */
            usage *= steps->factor;
            last += steps->period;
        }
        usage += t >= a && t < b;
    }
    return usage;
}

static void steps(void)
{
    struct decay_cycles halves = { .period = 100, .epoch = 1030, .factor = .5, .half_life = 100 };
    struct decay_table *decay = decay_table_create_stepped(&halves, 1330, 0);
    ok(decay_table_is_stepped(decay), "a stepped table reports that it is stepped");
    is_double_exact(usage_of(decay, 3, 1300, 1330), 90, "usage in the newest period counts fully");
    is_double_exact(usage_of(decay, 1, 1200, 1300), 30 * .5 + 70,
                    "usage before the last step is multiplied by the factor");
    is_double_exact(usage_of(decay, 1, 1130, 1131), .5,
                    "the time of a step belongs to the period that it begins");
    is_double_exact(decay_table_left(decay, 1230), 1,
                    "a step does not decay usage at its own time");
    is_double_exact(decay_table_left(decay, 1229), .5, "a step decays usage just before its time");
    decay_table_destroy(decay);
    decay = decay_table_create_stepped(&halves, 1331, 0);
    is_double_exact(decay_table_left(decay, 1230), .5, "a step takes effect just after its time");
    is_double_exact(usage_of(decay, 1, 1230, 1331), 51, "a step applies to all usage before it");
    decay_table_destroy(decay);
    decay = decay_table_create_stepped(&halves, 1331, 1300);
    is_int((int64_t)decay_table_start(decay), 1300, "usage before a reset does not count");
    is_double_exact(usage_of(decay, 1, 0, 1331), 16, "a reset in the middle of a period cuts it");
    decay_table_destroy(decay);

    bool cuts = true, near = true, inverse = true;
    srandom(11);
    for (int i = 0; i < 400; i++) {
        struct decay_cycles any = { .period = 1 + (uint64_t)random() % 90,
                                    .epoch = (uint64_t)random() % 300,
                                    .factor =
                                        (double)(float)((1 + (double)(random() % 998)) / 1000),
                                    .half_life = 50 };
        uint64_t now = any.epoch + (uint64_t)random() % 400,
                 a = any.epoch + (uint64_t)random() % 300;
        uint64_t b = a + (uint64_t)random() % 300, cut = a + (uint64_t)random() % (b - a + 1);
        decay = decay_table_create_stepped(&any, now, 0);
        cuts &= decay_table_weight(decay, a, b) ==
                decay_table_weight(decay, a, cut) + decay_table_weight(decay, cut, b);
        double expected = cycles(&any, now, a, b), got = usage_of(decay, 1, a, b);
        near &= fabs(got - expected) <= 1e-12 * expected + 1e-15;
        struct wide sum;
        inverse &= decay_table_sum_of(decay, expected, &sum) &&
                   fabs(decay_table_usage(decay, &sum) - expected) <= 1e-12 * expected + 1e-20;
        decay_table_destroy(decay);
    }
    ok(cuts, "with steps, the weights of an interval's parts add up");
    ok(near, "with steps, usage equals that of a scheduler that decays on time");
    ok(inverse, "with steps, usage converted to a sum and back is unchanged");
    is_int((int64_t)decay_cycles_count(&halves, 1800000000, 0), 64,
           "periods that leave less than 2^-64 do not count");
    is_int((int64_t)decay_cycles_count(&halves, 1800000000, 1799999000), 10 + 1,
           "periods before the start do not count");
    halves.factor = (double)nextafterf(1, 0);
    is_int((int64_t)decay_cycles_count(&halves, 1800000030, 0), 18000001,
           "with a factor close to 1, all periods count");
}

static double usage_set(const struct decay_table *decay, uint64_t amount, uint64_t time)
{
    struct wide sum = { { 0 } };
    wide_add_product(&sum, (uint128)UNITS_PER_TRES * amount, decay_table_weight_at(decay, time),
                     false);
    return decay_table_usage(decay, &sum);
}

static void times(void)
{
    const uint64_t amounts[] = { 1, 3, 4711, 123456789, UINT64_C(9007199254740991) };
    bool all = true, decays = true;
    srandom(18);
    for (int i = 0; i < 400; i++) {
        uint64_t half_life = 1 + (uint64_t)random() % (i % 2 ? 100 : 10000000);
        uint64_t now = 1700000000 + (uint64_t)random() % 100000000;
        uint64_t age = (uint64_t)random() % (20 * half_life);
        uint64_t amount = amounts[(size_t)i % (sizeof amounts / sizeof *amounts)];
        struct decay_table *decay = decay_table_create(half_life, now, 0);
        double left = (double)amount * exp2(-(double)age / (double)half_life);
        all &= !(fabs(usage_set(decay, amount, now) - (double)amount) > 0);
        decays &= fabs(usage_set(decay, amount, now - age) - left) <= 1e-12 * left;
        decay_table_destroy(decay);
    }
    ok(all, "an amount is complete at its own time, bit for bit");
    ok(decays, "an amount decays from its own time on");
    struct decay_table *decay = decay_table_create(600, 10000, 9000);
    ok(!decay_table_weight_at(decay, 8999) && decay_table_weight_at(decay, 9000) &&
           decay_table_weight_at(decay, 10000) && !decay_table_weight_at(decay, 10001),
       "an amount before the start or after now has weight 0");
    decay_table_destroy(decay);
    decay = decay_table_create(0, 10000, 0);
    is_double_exact(usage_set(decay, 4711, 5), 4711, "without decay, an amount stays unchanged");
    decay_table_destroy(decay);
    struct decay_cycles halves = { .period = 100, .epoch = 1030, .factor = .5, .half_life = 100 };
    decay = decay_table_create_stepped(&halves, 1330, 0);
    is_double_exact(usage_set(decay, 8, 1330), 8,
                    "with steps, an amount is complete at the time of a step");
    is_double_exact(usage_set(decay, 8, 1129), 2,
                    "with steps, an amount decays at each later step");
    decay_table_destroy(decay);
}

static int64_t last_reset(enum reset_unit unit, uint64_t span, int64_t anchor, uint64_t now)
{
    return (int64_t)calendar_last_reset(&(struct reset_period){ unit, span, anchor }, now);
}

static int64_t next_reset(enum reset_unit unit, uint64_t span, int64_t anchor, uint64_t now)
{
    return (int64_t)calendar_next_reset(&(struct reset_period){ unit, span, anchor }, now);
}

static void set_zone(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

static void resets(void)
{
    const uint64_t now = 1750500000; /* Saturday 2025-06-21 10:00:00 UTC */
    set_zone("UTC");
    is_int(last_reset(RESET_NEVER, 0, 0, now), 0, "without a period there is no reset");
    is_int(last_reset(RESET_DAILY, 0, 0, now), 1750464000,
           "the daily reset is at the last midnight");
    is_int(last_reset(RESET_WEEKLY, 0, 0, now), 1749945600,
           "the weekly reset is on the last Sunday");
    is_int(last_reset(RESET_MONTHLY, 0, 0, now), 1748736000,
           "the monthly reset is on the first of the month");
    is_int(last_reset(RESET_QUARTERLY, 0, 0, now), 1743465600,
           "the quarterly reset is on the first of April");
    is_int(last_reset(RESET_YEARLY, 0, 0, now), 1735689600,
           "the yearly reset is on the first of January");
    is_int(last_reset(RESET_DAILY, 0, 0, 1750464000), 1750464000,
           "a reset takes effect at its own time");
    is_int(last_reset(RESET_EVERY, 100, 7, 250), 207, "a fixed period is counted from its anchor");
    is_int(last_reset(RESET_EVERY, 100, 1007, 250), 207,
           "a fixed period is counted back from a later anchor");
    is_int(last_reset(RESET_EVERY, 1000, 700, 250), 0,
           "a period that begins before 1970 has no reset");
    is_int(next_reset(RESET_NEVER, 0, 0, now), 0, "without a period there is no next reset");
    is_int(next_reset(RESET_DAILY, 0, 0, now), 1750550400, "the next daily reset is at midnight");
    is_int(next_reset(RESET_WEEKLY, 0, 0, now), 1750550400,
           "the next weekly reset is on the next Sunday");
    is_int(next_reset(RESET_WEEKLY, 0, 0, 1750550400), 1751155200,
           "the next weekly reset on a Sunday is a week later");
    is_int(next_reset(RESET_MONTHLY, 0, 0, now), 1751328000,
           "the next monthly reset is on the first of July");
    is_int(next_reset(RESET_QUARTERLY, 0, 0, now), 1751328000,
           "the next quarterly reset is on the first of July");
    is_int(next_reset(RESET_YEARLY, 0, 0, now), 1767225600,
           "the next yearly reset is on the first of January");
    is_int(next_reset(RESET_EVERY, 100, 7, 250), 307, "the next fixed period follows the last one");
    is_int(next_reset(RESET_EVERY, 1000, 700, 250), 700,
           "the next fixed period may be the first after 1970");
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    is_int(last_reset(RESET_DAILY, 0, 0, now), 1750456800, "resets use local midnight");
    is_int(last_reset(RESET_MONTHLY, 0, 0, 1743400000), 1740783600,
           "resets use local midnight across a clock change");
    set_zone("<+03>-3<+04>,M4.1.5/0,M10.1.5/0");
    is_int(last_reset(RESET_DAILY, 0, 0, 1743764400), 1743714000,
           "if midnight is skipped, the day begins after the gap");
    is_int((int64_t)calendar_next_day(1743764400), 1743796800,
           "the day after a skipped midnight begins at midnight");
    set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
    is_int((int64_t)calendar_next_day(1743289200), 1743372000,
           "the day on which clocks go forward has 23 hours");
    is_int(calendar_end_of_month(1740783600), 1743458400,
           "the month in which clocks go forward is an hour shorter");
    is_int(calendar_end_of_month(1735000000), 1735686000, "January follows December");
    is_int(calendar_end_of_week(1742770800), 1743372000,
           "a week begins on Monday and is shortened by a clock change");
    is_int(calendar_end_of_week(1743371999), 1743372000, "a week ends with Sunday");
    is_int((int64_t)calendar_day(7200), 0, "the first day begins at the epoch in any time zone");
    set_zone("UTC");
}

static void rollups(void)
{
    const uint64_t now = 1750500000, hour = 1750000000;
    struct decay_table *decay = decay_table_create(604800, now, 0),
                       *plain = decay_table_create(0, now, hour + 900);
    struct rollup rollup = { hour, hour + 3600, 3600 * 7 };
    struct wide usage, job = { { 0 } };
    wide_add_product(&job, (uint128)UNITS_PER_TRES * 7,
                     decay_table_weight(decay, hour, hour + 3600), false);
    ok(rollup_usage(decay, &rollup, 0, now, UNITS_PER_TRES, &usage) &&
           !memcmp(&usage, &job, sizeof job),
       "a rollup of one job counts exactly as the job");
    ok(rollup_usage(plain, &rollup, 0, now, UNITS_PER_TRES, &usage), "a rollup is charged");
    is_double_exact(decay_table_usage(plain, &usage), 2700 * 7, "a reset cuts a rollup");
    rollup_usage(plain, &rollup, 0, hour + 1000, UNITS_PER_TRES, &usage);
    is_double_exact(decay_table_usage(plain, &usage), 700,
                    "a rollup counts only until the given time");
    rollup.alloc_secs = 1000;
    rollup_usage(plain, &rollup, 0, hour + 901, UNITS_PER_TRES, &usage);
    ok(usage.word[0] == UNITS_PER_TRES * 1000 / 3600, "a rollup's usage is rounded down");
    rollup.alloc_secs = UINT64_MAX;
    ok(!rollup_usage(plain, &rollup, 0, now, (uint128)1 << 65, &usage),
       "a rollup out of range is rejected");
    ok(rollup_usage(plain, &rollup, 0, now, (uint128)1 << 63, &usage) && usage.word[1],
       "a rollup just within the range is accepted");
    decay_table_destroy(decay);
    decay_table_destroy(plain);
}

static void shared_tables(void)
{
    bool same = true;
    for (uint64_t half_life = 0; half_life <= 604800; half_life += 201600) {
        struct decay_table *first = decay_table_create(half_life, 1750000000, 1749000000);
        for (uint64_t at = 1750000000; at < 1760000000; at += 777777) {
            struct decay_table *alone = decay_table_create(half_life, at, at - 5000000);
            struct decay_table *like = decay_table_create_like(first, at, at - 5000000);
            same &= decay_table_weight(alone, at - 99999, at) ==
                        decay_table_weight(like, at - 99999, at) &&
                    decay_table_epoch(alone) == decay_table_epoch(like) &&
                    decay_table_start(alone) == decay_table_start(like) &&
                    !memcmp(&(double){ decay_table_left(alone, at - 4321) },
                            &(double){ decay_table_left(like, at - 4321) }, sizeof(double));
            decay_table_destroy(alone);
            decay_table_destroy(like);
        }
        decay_table_destroy(first);
    }
    ok(same, "a decay table with shared arrays equals one with its own");
}

int main(void)
{
    shared_tables();
    known_values();
    properties();
    steps();
    times();
    resets();
    rollups();
    return done_testing();
}
