/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>

#include "results/key_spool.h"
#include "util/error.h"

/* Tests the counting of keys, in memory and in a temporary file. */

/* A pseudorandom sequence (Knuth, The Art of Computer Programming 2, 3.3.4). */
static uint64_t next_of(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

#define DISTINCT 1000u

/* Adds `count` keys of which DISTINCT differ, and counts them in an array, too. */
static struct key_spool *filled(size_t count, unsigned shift, uint64_t *expected)
{
    struct key_spool *spool = key_spool_create();
    struct error err;
    uint64_t state = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t key = next_of(&state) % DISTINCT;
        expected[key]++;
        if (key_spool_add(spool, key << shift, &err))
            abort();
    }
    return spool;
}

/* Takes all keys in several steps, and returns true if the counts are right and in order. */
static bool is_right(struct key_spool *spool, unsigned shift, const uint64_t *expected)
{
    struct error err;
    uint64_t next = 0;
    bool right = true;
    for (uint64_t last = 99; last < DISTINCT; last += 100) {
        struct key_counts counts;
        right &= !key_spool_take(spool, last << shift, &counts, &err);
        for (size_t i = 0; i < counts.count; i++) {
            while (next < DISTINCT && !expected[next])
                next++;
            right &= next < DISTINCT && counts.list[i].key == next << shift &&
                     counts.list[i].count == expected[next];
            next++;
        }
        right &= next <= last + 1;
        free(counts.list);
    }
    while (next < DISTINCT && !expected[next])
        next++;
    return right && next == DISTINCT;
}

/* Prints one check, whose statement begins with `name`. */
static void holds(bool right, const char *name, const char *statement)
{
    char text[100];
    snprintf(text, sizeof text, "%s %s", name, statement);
    ok(right, text);
}

static void check(size_t count, unsigned shift, const char *name)
{
    uint64_t expected[DISTINCT] = { 0 };
    struct error err;
    struct key_spool *spool = filled(count, shift, expected);
    holds(is_right(spool, shift, expected), name, "are counted");
    key_spool_rewind(spool);
    holds(is_right(spool, shift, expected), name, "can be taken again");
    holds(!key_spool_spill_rest(spool, &err), name, "can be spilled");
    key_spool_rewind(spool);
    holds(is_right(spool, shift, expected), name, "are counted after that");
    key_spool_destroy(spool);
}

int main(void)
{
    check(0, 0, "no keys");
    check(100, 3, "few keys");
    check(100000, 54, "keys in memory");
    check(131072, 0, "as many keys as fit into memory");
    check(131073, 20, "one more key");
    check(1000000, 40, "keys in a file");
    key_spool_destroy(NULL);
    return done_testing();
}
