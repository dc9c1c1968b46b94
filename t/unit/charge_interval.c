/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "compute/charge.h"
#include "core/usage/ledger.h"
#include "source/layout.h"

/* Compares the charges of a row's intervals with the sum over its single seconds. */

#define OWN 7
#define OWNERS 3 /* owner 0 is the association itself; the others are associations 1 and 2 */
#define BEGIN 1000
#define SECONDS 200
#define CUTS 6

static struct ledger_state *ledger;

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* Adds the charges of a row's intervals to the sums of their owners.  Returns the number of
 * intervals. */
static int add_row(struct charge_context *context, const struct job_row *row, struct wide *sums,
                   struct charge *charge)
{
    int slices = 0;
    charge_begin(context, row, charge);
    do {
        uint64_t whose = charge->interval.association;
        wide_add_product(&sums[whose == OWN ? 0 : whose], charge->counted.units,
                         charge->counted.weight, charge->negative);
        slices++;
    } while (charge_next(context, charge));
    return slices;
}

static struct charge_context charger_of(const struct decay_table *decay,
                                        const struct usage_owners *owners)
{
    return (
        struct charge_context){ .charging = { decay, CHARGE_BILLING, 600, false, 0, UINT64_MAX },
                                .ledger = ledger,
                                .owners = owners };
}

static struct job_row row_of(const struct charge_rate *rate, uint64_t start, uint64_t end)
{
    return (struct job_row){
        .id_job = 1, .association = OWN, .rate = rate, .job = { start, start, end, 0, "5=3", 3, 0 }
    };
}

/* A history in which charge rates and owners change at random times, sometimes both at once. */
struct history {
    struct charge_rate tariffs[CUTS];
    struct usage_owners *owners;
    uint64_t rate[SECONDS], whose[SECONDS]; /* by second, starting at BEGIN */
};

static void draw_history(struct history *history)
{
    *history = (struct history){ .owners = usage_owners_create() };
    uint64_t until = BEGIN, from = BEGIN - draw(50);
    for (int i = 0; i < CUTS; i++) {
        history->tariffs[i].rate = draw(3);
        from += 1 + draw(60);
        history->tariffs[i].later_from = from;
        history->tariffs[i].later = i + 1 < CUTS && draw(8) ? &history->tariffs[i + 1] : NULL;
    }
    while (draw(3) && until < BEGIN + SECONDS) {
        uint64_t last = until, whose = 1 + draw(OWNERS - 1);
        until += 1 + draw(80);
        usage_owners_add(history->owners, OWN, until, whose);
        for (uint64_t t = last; t < until && t < BEGIN + SECONDS; t++)
            history->whose[t - BEGIN] = whose;
    }
    const struct charge_rate *rate = history->tariffs;
    for (uint64_t t = BEGIN; t < BEGIN + SECONDS; t++) {
        while (rate->later && rate->later_from <= t)
            rate = rate->later;
        history->rate[t - BEGIN] = (uint64_t)rate->rate;
    }
}

static bool same(const struct wide *one, const struct wide *other)
{
    return !memcmp(one, other, sizeof *one);
}

/* Returns true if a job and its suspensions are charged exactly the sum of their seconds. */
static bool is_charged_by_second(const struct decay_table *decay)
{
    struct history history;
    struct wide sums[OWNERS] = { 0 }, expected[OWNERS] = { 0 };
    struct charge charge;
    draw_history(&history);
    struct charge_context context = charger_of(decay, history.owners);
    uint64_t start = BEGIN + draw(SECONDS / 2), end = start + draw(SECONDS / 2);
    struct job_row row = row_of(history.tariffs, start, end);
    bool paused[SECONDS] = { false };
    for (uint64_t from = start + draw(20); draw(4); from += draw(60)) {
        struct suspension pause = { 1, from, from + draw(50) };
        struct job_row back = row;
        back.suspension = &pause;
        add_row(&context, &back, sums, &charge);
        for (uint64_t t = pause.start; t < pause.end && t < end && t < BEGIN + SECONDS; t++)
            paused[t - BEGIN] = true;
    }
    add_row(&context, &row, sums, &charge);
    for (uint64_t t = start; t < end; t++)
        if (!paused[t - BEGIN])
            wide_add_product(&expected[history.whose[t - BEGIN]], 3 * history.rate[t - BEGIN],
                             decay_table_weight(decay, t, t + 1), false);
    usage_owners_destroy(history.owners);
    return same(&sums[0], &expected[0]) && same(&sums[1], &expected[1]) &&
           same(&sums[2], &expected[2]);
}

static void seconds(void)
{
    struct decay_table *plain = decay_table_create(0, 100000, 0),
                       *decaying = decay_table_create(50, 1150, 1020);
    int wrong = 0;
    for (int i = 0; i < 4000; i++)
        wrong += !is_charged_by_second(i % 2 ? plain : decaying);
    is_int(wrong, 0, "each second has its own rate and owner, bit for bit");
    decay_table_destroy(plain);
    decay_table_destroy(decaying);
}

static void rows(void)
{
    struct decay_table *decay = decay_table_create(0, 100000, 0);
    struct charge_rate dear = { .rate = RATE_TOO_LARGE / 2 };
    struct charge_rate cheap = { .rate = 1, .later = &dear, .later_from = 2000 };
    struct usage_owners *owners = usage_owners_create();
    usage_owners_add(owners, 8, 1500, 1);
    struct charge_context context = charger_of(decay, owners);
    struct wide sums[OWNERS] = { 0 };
    struct charge charge;
    struct job_row row = row_of(&cheap, 1000, 2000);
    ok(add_row(&context, &row, sums, &charge) == 1 && charge.interval.rate == &cheap,
       "a row that ends at a rate change has one interval");
    row = row_of(&cheap, 2000, 2100);
    row.job.tres_alloc = "5=1";
    ok(add_row(&context, &row, sums, &charge) == 1 && charge.interval.rate == &dear,
       "a row that begins at a rate change has the new rate");
    row = row_of(&cheap, 1990, 2010);
    ok(add_row(&context, &row, sums, &charge) == 2 && charge.outcome == JOB_CHARGE_TOO_LARGE &&
           charge.first == 1990 && !charge.counted.units,
       "a finding of one interval applies to the row from its start");
    row = row_of(&cheap, 1990, 0);
    row.job.time_limit = 1;
    row.job.tres_alloc = "5=1";
    ok(add_row(&context, &row, sums, &charge) == 2 && charge.outcome == JOB_CAPPED &&
           charge.interval.end == 1990 + 60 + 600,
       "the last interval ends with its row");
    row = row_of(&cheap, 5000, 4000);
    ok(add_row(&context, &row, sums, &charge) == 1 && charge.outcome == JOB_ENDS_BEFORE_START &&
           charge.first == UINT64_MAX,
       "a row without duration has one empty interval");
    ok(!usage_owners_hash(owners, 0) &&
           usage_owners_hash(owners, 1400) != usage_owners_hash(owners, 1500) &&
           usage_owners_hash(owners, 1500) == usage_owners_hash(owners, 9000),
       "the hash of owners covers only the time before the reach");
    usage_owners_destroy(owners);
    decay_table_destroy(decay);
}

static void resets(void)
{
    struct decay_table *decay = decay_table_create(0, 100000, 0);
    struct ledger *entries = ledger_create();
    struct usage_owners *owners = usage_owners_create();
    struct charge_rate rate = { .rate = 1 };
    struct wide sums[OWNERS] = { 0 };
    struct charge charge;
    ledger_add(entries, &(struct ledger_entry){ .id = 1, .time = 1600, .kind = LEDGER_RESET });
    ledger_add_cover(entries, 1, OWN);
    usage_owners_add(owners, OWN, 1500, 1);
    struct ledger_state *state = ledger_at(entries, 100000);
    struct charge_context context = charger_of(decay, owners);
    context.ledger = state;
    struct job_row row = row_of(&rate, 1000, 1700);
    add_row(&context, &row, sums, &charge);
    ok(sums[0].word[0] == 300 && sums[1].word[0] == 1500,
       "a reset discards only usage that the association owns");
    ledger_state_destroy(state);
    ledger_destroy(entries);
    usage_owners_destroy(owners);
    decay_table_destroy(decay);
}

int main(void)
{
    ledger = ledger_at(NULL, 100000);
    seconds();
    rows();
    resets();
    ledger_state_destroy(ledger);
    return done_testing();
}
