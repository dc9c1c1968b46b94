/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/arrays.h"

/* Instants of arrays of a live Slurm 22.05, and the AccrueTime that its scontrol showed of the
 * tasks that wait; seconds after the earliest submission. */

static void is_since(struct array_tasks started, uint64_t submitted, uint64_t accrued,
                     const char *name)
{
    is_int((int64_t)array_ages_since(submitted, ARRAY_AT_LIMIT, true, &started), (int64_t)accrued,
           name);
}

int main(void)
{
    is_since((struct array_tasks){ 1001, 1002 }, 1001, 1001,
             "what waits for the limit of its array ages since its siblings were eligible");
    is_since((struct array_tasks){ 1065, 1126 }, 1063, 1065,
             "though that was after its submission");
    is_since((struct array_tasks){ 0, 1005 }, 1003, 1005,
             "or since they started, where no eligible time was kept");
    is_since((struct array_tasks){ 1004, 1004 }, 1002, 1004, "also where they started at once");
    is_int((int64_t)array_ages_since(1000, ARRAY_AT_LIMIT, true, NULL), 1000,
           "where nothing is known of siblings, since its submission");

    const struct array_tasks started = { 1000, 1010 };
    is_int((int64_t)array_ages_since(1000, 1051, true, &started), 1000,
           "it has its age still when it may run again");
    is_int((int64_t)array_ages_since(1000, 1051, false, &started), 1051,
           "an array without a limit has the eligible time that it has");
    is_int((int64_t)array_ages_since(1000, 1000, true, &started), 1000,
           "an array that never was at its limit as well");
    is_int((int64_t)array_ages_since(1000, 0, true, &started), 0, "a held one has none");
    is_int((int64_t)array_ages_since(1000, 1051, true, NULL), 1051,
           "one whose siblings are not known has its own");

    ok(array_hangs_on_siblings(1000, ARRAY_AT_LIMIT, true),
       "what waits for the limit hangs on siblings");
    ok(array_hangs_on_siblings(1000, 1051, true), "what waited for it as well");
    ok(!array_hangs_on_siblings(1000, 1051, false) && !array_hangs_on_siblings(1000, 1000, true) &&
           !array_hangs_on_siblings(1000, 0, true),
       "but not those that have the eligible time that they have");
    return done_testing();
}
