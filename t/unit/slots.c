/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/slots.h"

enum { MOST = 40, OWNERS = 5, COUNTERS = 6, LAST = 30 };

/* A counter of two slots bounds owner 0; owner 1 counts there as well, but has one of its own. */
static const uint32_t first[] = { 0 }, both[] = { 0, 1 }, limits[] = { 2, 5 };
static const struct slots_owner owners[] = { { first, 1, 0 }, { both, 2, 1 } };

static void replay(struct slots_wait *waits, size_t count)
{
    const struct slots slots = { owners, limits, 2, waits, count };
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
    is_int((int64_t)waits[0].accrues, 10, "what comes below the limit ages at once");
    is_int((int64_t)waits[1].accrues, 10, "up to the limit");
    is_int((int64_t)waits[3].accrues, 50, "a slot goes to who stands first in the list");
    is_int((int64_t)waits[2].accrues, 90, "then to the next one");
    is_int((int64_t)waits[4].accrues, 0, "who left before gets none");
    is_int((int64_t)waits[5].accrues, 0, "nor who waits for one still");

    struct slots_wait others[] = {
        { .since = 10, .until = 70, .place = 1, .owner = 1 },
        { .since = 10, .until = 60, .place = 2, .owner = 1 },
        { .since = 10, .until = UINT64_MAX, .place = 3, .owner = 1 },
        { .since = 20, .until = UINT64_MAX, .place = 4 },
        { .since = 80, .until = 80, .place = 5, .owner = 1 },
    };
    replay(others, 5);
    is_int((int64_t)others[2].accrues, 10, "who is bounded elsewhere goes beyond the limit");
    is_int((int64_t)others[3].accrues, 70, "and takes slots from those whom it bounds");
    is_int((int64_t)others[4].accrues, 0, "who starts when it comes never ages");
    replay(NULL, 0);
}

/* Everything at random, small enough for many to be bounded by the same. */
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
            .place = i * 7 % 41, /* no two stand at one place */
            .owner = below(OWNERS),
        };
    }
}

static bool counts_in(const struct site *site, const struct slots_wait *wait, uint32_t counter)
{
    const struct slots_owner *owner = &site->owners[wait->owner];
    for (uint32_t i = 0; i < owner->count; i++)
        if (owner->counters[i] == counter)
            return true;
    return false;
}

/* Second by second, from those who age and wait: how many count in a counter. */
static uint32_t used(const struct site *site, const uint64_t *accrues, uint32_t counter,
                     uint64_t now)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < site->count; i++)
        if (accrues[i] && site->waits[i].until > now && counts_in(site, &site->waits[i], counter))
            sum++;
    return sum;
}

/* slurmctld's pass at one second: through the whole list, in its order. */
static void pass(const struct site *site, uint64_t *accrues, uint64_t now)
{
    for (uint64_t place = 0; place <= MOST; place++)
        for (size_t i = 0; i < site->count; i++) {
            const struct slots_wait *wait = &site->waits[i];
            uint32_t bound = site->owners[wait->owner].bound;
            if (wait->place != place || accrues[i] || wait->since > now || wait->until <= now)
                continue;
            if (used(site, accrues, bound, now) < site->limits[bound])
                accrues[i] = now;
        }
}

static void as_passes(void)
{
    static struct site site;
    int wrong = 0, late = 0, never = 0;
    for (int round = 0; round < 3000; round++) {
        uint64_t accrues[MOST] = { 0 };
        draw(&site);
        const struct slots slots = { site.owners, site.limits, COUNTERS, site.waits, site.count };
        slots_replay(&slots);
        for (uint64_t now = 1; now <= 2 * LAST; now++)
            pass(&site, accrues, now);
        for (size_t i = 0; i < site.count; i++) {
            wrong += site.waits[i].accrues != accrues[i];
            late += accrues[i] > site.waits[i].since;
            never += !accrues[i];
        }
    }
    is_int(wrong, 0, "the replay is what a pass in every second makes");
    ok(late > 1000 && never > 1000, "of which many came late, and many never");
}

int main(void)
{
    by_hand();
    as_passes();
    return done_testing();
}
