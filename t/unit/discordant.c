/* SPDX-License-Identifier: MIT */
#include "core/insight/backtest.h"

#include <string.h>

#include "tap.h"

#define MEMBERS 40

static uint64_t state = 7;

static uint32_t random_below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

/* Counts the discordant pairs one by one. */
static void count_pairs(const uint32_t *before, const uint32_t *after, size_t count,
                        uint32_t *discordant)
{
    memset(discordant, 0, count * sizeof *discordant);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (before[i] && after[i] && before[k] && after[k])
                discordant[i] += (before[i] < before[k] && after[i] > after[k]) ||
                                 (before[i] > before[k] && after[i] < after[k]);
}

static bool agrees(uint32_t places)
{
    uint32_t before[MEMBERS], after[MEMBERS], expected[MEMBERS], got[MEMBERS];
    size_t count = random_below(MEMBERS + 1);
    for (size_t i = 0; i < count; i++) {
        before[i] = random_below(places);
        after[i] = random_below(places);
    }
    count_pairs(before, after, count, expected);
    places_discordant(before, after, count, got);
    return !memcmp(expected, got, count * sizeof *got);
}

int main(void)
{
    const uint32_t before[] = { 1, 2, 2, 4, 0 }, after[] = { 2, 1, 3, 3, 1 };
    uint32_t discordant[5];
    places_discordant(before, after, 5, discordant);
    ok(discordant[0] == 1 && discordant[1] == 1, "members that swap their order are discordant");
    ok(!discordant[2] && !discordant[3], "members tied in either order are not discordant");
    ok(!discordant[4], "a member without a place is not discordant");
    bool right = true;
    for (int i = 0; i < 20000; i++)
        right &= agrees(1 + random_below(i % 2 ? 4 : 60));
    ok(right, "20000 random orders give the counts of a pair-by-pair comparison");
    return done_testing();
}
