/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/slots.h"

enum { MOST = 40, OWNERS = 5, COUNTERS = 6, LAST = 30 };

/* Counter 0, with two slots, bounds owner 0.  Owner 1 also counts in it, but is bounded by its own
 * counter. */
static const uint32_t first[] = { 0 }, both[] = { 0, 1 }, limits[] = { 2, 5 };
static const struct slots_owner usage_owners[] = { { first, 1, 0 }, { both, 2, 1 } };

static void replay(struct slots_wait *waits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!waits[i].is_rest)
            waits[i].rest = SLOTS_NO_REST;
    const struct slots slots = { usage_owners, limits, 2, waits, count };
    slots_replay(&slots);
}

static void by_hand(void)
{
    struct slots_wait waits[] = {
        { .since = 10, .until = 50, .place = 1 },
        { .since = 10, .until = 90, .place = 2 },
        { .since = 20, .until = UINT64_MAX, .place = 4 },
        { .since = 30, .until = UINT64_MAX, .place = 3 },
        { .since = 40, .until = 45, .place = 0 },
        { .since = 95, .until = UINT64_MAX, .place = 9 },
    };
    replay(waits, 6);
    is_int((int64_t)waits[0].accrues, 10, "a job below the limit ages at once");
    is_int((int64_t)waits[1].accrues, 10, "jobs up to the limit age at once");
    is_int((int64_t)waits[3].accrues, 50, "a free slot goes to the first job in the list");
    is_int((int64_t)waits[2].accrues, 90, "the next free slot goes to the next job in the list");
    is_int((int64_t)waits[4].accrues, 0, "a job that left before a slot was free does not age");
    is_int((int64_t)waits[5].accrues, 0, "a job that still waits for a slot does not age");

    struct slots_wait others[] = {
        { .since = 10, .until = 70, .place = 1, .owner = 1 },
        { .since = 10, .until = 60, .place = 2, .owner = 1 },
        { .since = 10, .until = UINT64_MAX, .place = 3, .owner = 1 },
        { .since = 20, .until = UINT64_MAX, .place = 4 },
        { .since = 80, .until = 80, .place = 5, .owner = 1 },
    };
    replay(others, 5);
    is_int((int64_t)others[2].accrues, 10, "a job with another bound may exceed the limit");
    is_int((int64_t)others[3].accrues, 70,
           "a job with another bound takes slots from bounded jobs");
    is_int((int64_t)others[4].accrues, 0, "a job that starts at once does not age");
    replay(NULL, 0);

    struct slots_wait arrays[] = {
        { .since = 10, .until = 30, .place = 1 },
        { .since = 10, .until = UINT64_MAX, .place = 2, .is_rest = true, .rest = 1 },
        { .since = 10, .until = 90, .place = 3 },
        { .since = 40, .until = UINT64_MAX, .place = 5 },
    };
    replay(arrays, 4);
    is_int(arrays[1].slots, 2, "the rest of an array fills each free slot");
    is_int((int64_t)arrays[2].accrues, 30, "a rest that got slots moves after other jobs");
    arrays[2].until = UINT64_MAX;
    arrays[0].until = 50;
    arrays[2].place = 0;
    replay(arrays, 4);
    is_int((int64_t)arrays[0].accrues, 10, "the rest has no slot while other jobs precede it");
    is_int(arrays[1].slots, 1, "the rest gets the next free slot");
    is_int((int64_t)arrays[3].accrues, 0, "until it gets a slot, the rest precedes later jobs");
}

/* A random site, small enough that many waits have the same bound. */
struct site {
    struct slots_wait waits[MOST];
    struct slots_owner owners[OWNERS];
    uint32_t counters[OWNERS][COUNTERS], limits[COUNTERS];
    size_t count;
};

static uint32_t state = 20251123;

static uint32_t below(uint32_t bound)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % bound;
}

static void draw(struct site *site)
{
    for (uint32_t i = 0; i < COUNTERS; i++)
        site->limits[i] = below(4);
    for (uint32_t i = 0; i < OWNERS; i++) {
        uint32_t count = 0;
        for (uint32_t counter = 0; counter < COUNTERS; counter++)
            if (below(2))
                site->counters[i][count++] = counter;
        if (!count)
            site->counters[i][count++] = below(COUNTERS);
        uint32_t bound = site->counters[i][below(count)];
        site->owners[i] = (struct slots_owner){ site->counters[i], count, bound };
    }
    site->count = below(MOST + 1);
    for (size_t i = 0; i < site->count; i++) {
        uint64_t since = 1 + below(LAST);
        site->waits[i] = (struct slots_wait){
            .since = since,
            .until = below(3) ? since + below(LAST / 2) : UINT64_MAX,
            .place = i * 7 % 41, /* all positions differ */
            .owner = below(OWNERS),
            .is_rest = !below(8),
            .rest = SLOTS_NO_REST,
        };
        /* An array consists of a rest and up to two waits before it. */
        for (size_t task = i - (i < 2 ? i : 2); site->waits[i].is_rest && task <= i; task++)
            site->waits[task].rest =
                site->waits[task].rest == SLOTS_NO_REST ? (uint32_t)i : site->waits[task].rest;
    }
}

/* The result of simulated passes. */
struct passed {
    uint64_t accrues[MOST], places[MOST], slots[MOST];
    bool moves[MOST];
};

static bool counts_in(const struct site *site, const struct slots_wait *wait, uint32_t counter)
{
    const struct slots_owner *owner = &site->owners[wait->owner];
    for (uint32_t i = 0; i < owner->count; i++)
        if (owner->counters[i] == counter)
            return true;
    return false;
}

/* Returns the number of slots in use in a counter at a time, counted from all waits. */
static uint64_t used(const struct site *site, const struct passed *passed, uint32_t counter,
                     uint64_t now)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < site->count; i++)
        if (site->waits[i].until > now && counts_in(site, &site->waits[i], counter))
            sum += passed->slots[i];
    return sum;
}

/* Gives slots to a wait when a pass reaches it. */
static void visit(const struct site *site, struct passed *passed, size_t i, uint64_t now)
{
    const struct slots_wait *wait = &site->waits[i];
    uint32_t bound = site->owners[wait->owner].bound;
    while ((wait->is_rest || !passed->slots[i]) &&
           used(site, passed, bound, now) < site->limits[bound]) {
        passed->accrues[i] = passed->slots[i]++ ? passed->accrues[i] : now;
        if (wait->rest != SLOTS_NO_REST)
            passed->moves[wait->rest] = true;
    }
}

/* Simulates slurmctld's pass at one second, through the whole list in order. */
static void pass(const struct site *site, struct passed *passed, uint64_t now)
{
    uint64_t last = 0;
    for (uint64_t place = 0; place <= MOST + 2; place++)
        for (size_t i = 0; i < site->count; i++)
            if (passed->places[i] == place && site->waits[i].since <= now &&
                site->waits[i].until > now)
                visit(site, passed, i, now);
    for (size_t i = 0; i < site->count; i++)
        if (site->waits[i].since <= now && site->waits[i].place > last)
            last = site->waits[i].place;
    for (size_t i = 0; i < site->count; i++) {
        passed->places[i] = passed->moves[i] ? last + 1 : passed->places[i];
        passed->moves[i] = false;
    }
}

static void as_passes(void)
{
    static struct site site;
    int wrong = 0, late = 0, never = 0, several = 0;
    for (int round = 0; round < 3000; round++) {
        struct passed passed = { 0 };
        draw(&site);
        const struct slots slots = { site.owners, site.limits, COUNTERS, site.waits, site.count };
        slots_replay(&slots);
        for (size_t i = 0; i < site.count; i++)
            passed.places[i] = site.waits[i].place;
        for (uint64_t now = 1; now <= 2 * LAST; now++)
            pass(&site, &passed, now);
        for (size_t i = 0; i < site.count; i++) {
            wrong += site.waits[i].accrues != passed.accrues[i] ||
                     site.waits[i].slots != passed.slots[i];
            late += passed.accrues[i] > site.waits[i].since;
            never += !passed.accrues[i];
            several += passed.slots[i] > 1;
        }
    }
    is_int(wrong, 0, "the replay gives the result of a pass in every second");
    ok(late > 1000 && never > 1000 && several > 1000,
       "the replay covers late jobs, never-ageing jobs and arrays with several slots");
}

int main(void)
{
    by_hand();
    as_passes();
    return done_testing();
}
