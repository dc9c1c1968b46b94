/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/priority/arrays.h"

/* Times of arrays on a live Slurm 22.05, and the AccrueTime that scontrol showed for their pending
 * tasks.  In seconds after the earliest submission. */

static void is_since(struct array_tasks started, uint64_t submitted, uint64_t accrued,
                     const char *name)
{
    is_int((int64_t)array_ages_since(submitted, ARRAY_AT_LIMIT, true, &started), (int64_t)accrued,
           name);
}

int main(void)
{
    is_since((struct array_tasks){ 1001, 1002 }, 1001, 1001,
             "a task at its array's limit ages since its siblings became eligible");
    is_since((struct array_tasks){ 1065, 1126 }, 1063, 1065,
             "a task ages since its siblings' eligible time, even after its submission");
    is_since((struct array_tasks){ 0, 1005 }, 1003, 1005,
             "without a known eligible time, a task ages since its siblings started");
    is_since((struct array_tasks){ 1004, 1004 }, 1002, 1004,
             "a task ages since its siblings started if they started at once");
    is_int((int64_t)array_ages_since(1000, ARRAY_AT_LIMIT, true, NULL), 1000,
           "without known siblings, a task ages since its submission");

    const struct array_tasks started = { 1000, 1010 };
    is_int((int64_t)array_ages_since(1000, 1051, true, &started), 1000,
           "a task keeps its age when it may run again");
    is_int((int64_t)array_ages_since(1000, 1051, false, &started), 1051,
           "a task of an unlimited array ages since its own eligible time");
    is_int((int64_t)array_ages_since(1000, 1000, true, &started), 1000,
           "a task that never was at the limit ages since its submission");
    is_int((int64_t)array_ages_since(1000, 0, true, &started), 0, "a held task does not age");
    is_int((int64_t)array_ages_since(1000, 1051, true, NULL), 1051,
           "a task without known siblings ages since its own eligible time");

    ok(array_hangs_on_siblings(1000, ARRAY_AT_LIMIT, true),
       "a task at its array's limit depends on its siblings");
    ok(array_hangs_on_siblings(1000, 1051, true),
       "a task that was at the limit depends on its siblings");
    ok(!array_hangs_on_siblings(1000, 1051, false) && !array_hangs_on_siblings(1000, 1000, true) &&
           !array_hangs_on_siblings(1000, 0, true),
       "unlimited, never limited and held tasks do not depend on siblings");
    return done_testing();
}
