/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/usage/day_sums.h"
#include "results/day_spool.h"
#include "util/error.h"

#define DAYS 400
#define IDS 700
#define DAY 86400

#define TRES 2

static struct wide wanted[DAYS][IDS];
static uint64_t wanted_tres[DAYS][IDS][TRES];

/* Day 200 is an hour longer, as if clocks were set back. */
static uint64_t seconds_of(uint32_t day)
{
    return day == 200 ? DAY + 3600 : DAY;
}

static uint64_t state = 42;

static uint32_t any(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static void expect(uint32_t day, const struct usage_rate *rate, uint64_t seconds)
{
    wide_add_product(&wanted[day][rate->id], rate->units, seconds, rate->negative);
    for (size_t i = 0; rate->tres && i < TRES; i++)
        wanted_tres[day][rate->id][i] += rate->tres[i] * (rate->negative ? -seconds : seconds);
}

static void add_job(struct day_spool *spool, struct error *err)
{
    uint32_t first = any(DAYS - 1), end = first + 1 + any(DAYS - first - 1), id = any(IDS);
    uint128 units = (uint128)any(1000000) << any(70);
    bool negative = any(4) == 0;
    const uint64_t counts[TRES] = { any(2) * any(1000), UINT64_C(1) << any(36) };
    struct usage_rate rate = { id, any(5) ? units : 0, negative, any(5) ? counts : NULL };
    day_spool_add_rate(spool, first, end, &rate, err);
    for (uint32_t day = first; day < end; day++)
        expect(day, &rate, seconds_of(day));
    day_spool_add_product(spool, end, &rate, 7, err);
    expect(end, &rate, 7);
}

static bool has(struct day_sums *sums, uint32_t day, uint64_t id)
{
    const struct day_list list = day_sums_sorted(sums);
    size_t i = 0;
    while (i < list.count && (day_list_at(&list, i)->day != day || day_list_at(&list, i)->id != id))
        i++;
    return i < list.count;
}

/* Returns true if the spool returns the sums that were added, from this day on. */
static bool gives_back(struct day_spool *spool, uint32_t from, struct error *err)
{
    bool same = true;
    day_spool_rewind(spool);
    for (uint32_t day = from; day < DAYS; day++) {
        struct day_sums *sums = day_sums_create(TRES);
        same &= !day_spool_take(spool, day, seconds_of(day), sums, err);
        for (uint32_t id = 0; id < IDS; id++) {
            bool any_amount = wanted_tres[day][id][0] || wanted_tres[day][id][1];
            same &= (wide_is_zero(&wanted[day][id]) && !any_amount) || has(sums, day, id);
        }
        const struct day_list list = day_sums_sorted(sums);
        for (size_t i = 0; i < list.count; i++) {
            const struct day_sum *row = day_list_at(&list, i);
            same &= row->day == day && !memcmp(&row->sum, &wanted[day][row->id], sizeof row->sum) &&
                    !memcmp(row->tres, wanted_tres[day][row->id], sizeof wanted_tres[0][0]);
        }
        day_sums_destroy(sums);
    }
    return same;
}

/* Adds more rows than the spool holds in memory.  Returns true if that fails. */
static bool overflows(struct error *err)
{
    struct day_spool *spool = day_spool_create(TRES);
    struct usage_rate rate = { 0, 1, false, NULL };
    bool failed = false;
    for (uint32_t i = 0; !failed && i < 200000; i++) {
        rate.id = i;
        failed = day_spool_add_product(spool, 1, &rate, 1, err) != 0;
    }
    day_spool_destroy(spool);
    return failed;
}

static void name_folders(struct error *err)
{
    struct rlimit limit;
    setenv("TMPDIR", "/nowhere", 1);
    ok(overflows(err) && strstr(err->message, "'/nowhere'") && err->class == ERROR_OTHER,
       "the error names a missing directory for temporary files");
    setenv("TMPDIR", ".", 1);
    ok(!overflows(err), "temporary files are in TMPDIR");
    getrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 65536, limit.rlim_max });
    ok(overflows(err) && strstr(err->message, "'.'") && err->class == ERROR_FULL,
       "an error for lack of space names the directory");
    setrlimit(RLIMIT_FSIZE, &limit);
    unsetenv("TMPDIR");
    ok(!overflows(err), "without TMPDIR, a default directory is used");
}

int main(void)
{
    struct error err = { 0 };
    struct day_spool *spool = day_spool_create(TRES);
    ok(gives_back(spool, 0, &err), "a new spool is empty");
    for (unsigned i = 0; i < 2000; i++)
        add_job(spool, &err);
    ok(gives_back(spool, 0, &err), "the spool returns jobs of many months day by day");
    ok(gives_back(spool, 0, &err) && gives_back(spool, 150, &err),
       "the spool can be read again, also from a later day");
    ok(!day_spool_spill_rest(spool, &err) && gives_back(spool, 0, &err),
       "spilling works while all rows are in memory");
    for (unsigned i = 0; i < 200000; i++)
        add_job(spool, &err);
    ok(gives_back(spool, 0, &err), "the spool returns more rows than it holds in memory");
    ok(!day_spool_spill_rest(spool, &err) && gives_back(spool, 0, &err),
       "spilling works after rows were written to a file");
    for (unsigned i = 0; i < 3000; i++)
        add_job(spool, &err);
    ok(gives_back(spool, 0, &err) && !day_spool_spill_rest(spool, &err) &&
           gives_back(spool, 0, &err),
       "rows may be added after spilling");
    struct usage_rate greatest = { 1, ((uint128)1 << 127) - 1, false, NULL };
    ok(gives_back(spool, 399, &err) && gives_back(spool, 0, &err),
       "a spilled spool can be read again");
    ok(!day_spool_add_product(spool, 1, &greatest, UINT64_MAX, &err),
       "the largest product is accepted");
    struct wide most = { { UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX } };
    ok(day_spool_add(spool, 1, 1, &most, &err) && strstr(err.message, "association 1 on one day"),
       "a sum out of range fails and names the association");
    day_spool_destroy(spool);
    name_folders(&err);
    return done_testing();
}
