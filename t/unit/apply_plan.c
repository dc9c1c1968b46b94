/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "command/apply/apply_plan.h"
#include "util/text.h"

/* Tests which updates `fairmill apply` makes, by the commands that it prints. */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define JOB(id, factor)          \
    {                            \
        (id), 0, 0, -1, (factor) \
    }

/* Tests the commands of a plan, separated by commas, and frees it. */
static void has_commands(struct apply_plan *plan, const char *expected, const char *statement)
{
    struct text text = { 0 };
    text_add(&text, "");
    for (size_t i = 0; i < plan->count; i++) {
        text_add(&text, i ? ", " : "");
        apply_plan_add_command(&text, &plan->updates[i]);
    }
    is_string(text.bytes, expected, statement);
    text_free(&text);
    apply_plan_free(plan);
}

static void rounding(void)
{
    is_int(site_factor_of(100000, .5), 50000, "a site factor is the weight times the factor");
    is_int(site_factor_of(1000, .0005), 1, "a site factor is rounded to the nearest integer");
    is_int(site_factor_of(1000, 0), 0, "a factor of 0 gives the site factor 0");
    is_int(site_factor_of(1000, NAN), 0, "an association without a factor gives the site factor 0");
    is_int(site_factor_of(2147483645, 1), 2147483645,
           "the largest weight gives the largest factor");
    is_int(site_factor_of(2147483645, 2), 2147483645, "no site factor is above slurmctld's limit");
}

static void single_jobs(void)
{
    const struct present_job present[] = { { 1, 0, false },   { 2, 500, false }, { 3, 600, false },
                                           { 3, 600, false }, { 4, 0, true },    { 5, 0, false },
                                           { 7, 200, false } };
    const struct wanted_job wanted[] = { JOB(1, 400), JOB(2, 509), JOB(3, 100),
                                         JOB(4, 700), JOB(6, 800), JOB(7, 210) };
    struct apply_plan plan;
    apply_plan_find(&plan, present, COUNT(present), wanted, COUNT(wanted), 10);
    is_int((int64_t)plan.jobs, 6, "a job in two partitions is counted once");
    is_int((int64_t)plan.by_hand, 1, "the job with a priority set by hand is counted");
    is_int((int64_t)plan.unknown, 1, "the job that is not published is counted");
    has_commands(&plan,
                 "update JobId=3 SiteFactor=100, update JobId=1 SiteFactor=400, "
                 "update JobId=7 SiteFactor=210",
                 "jobs whose change is at least the minimum are updated, the largest change first");
    apply_plan_find(&plan, NULL, 0, wanted, COUNT(wanted), 10);
    has_commands(&plan, "", "without pending jobs nothing is updated");
}

static void arrays(void)
{
    const struct present_job present[] = { { 31, 0, false },
                                           { 20, 100, false },
                                           { 25, 40, false } };
    const struct wanted_job wanted[] = { { 20, 20, 0, -1, 100 },
                                         { 25, 20, 0, -1, 100 },
                                         { 31, 30, 0, -1, 50 } };
    struct apply_plan plan;
    apply_plan_find(&plan, present, COUNT(present), wanted, COUNT(wanted), 1);
    is_int(plan.updates[0].from, 40, "an array's change is the one of its farthest task");
    has_commands(&plan, "update JobId=20 SiteFactor=100, update JobId=30 SiteFactor=50",
                 "an array needs one update, even if only other tasks than its first are pending");
}

static void unequal_tasks(void)
{
    struct present_job present[] = { { 20, 100, false }, { 25, 40, false } };
    const struct wanted_job wanted[] = { { 25, 20, 0, -1, 40 }, { 20, 20, 0, -1, 100 } };
    struct apply_plan plan;
    apply_plan_find(&plan, present, COUNT(present), wanted, COUNT(wanted), 1);
    has_commands(&plan, "update JobId=20 SiteFactor=100",
                 "tasks of different accounts get the factor of the first task");
    present[1].factor = 100;
    apply_plan_find(&plan, present, COUNT(present), wanted, COUNT(wanted), 1);
    has_commands(&plan, "", "the next pass does not change these tasks again");
}

static void heterogeneous_jobs(void)
{
    const struct present_job present[] = { { 9, 0, false },  { 10, 70, false }, { 11, 0, false },
                                           { 12, 0, false }, { 13, 30, false }, { 14, 0, true },
                                           { 15, 0, false } };
    const struct wanted_job wanted[] = { { 9, 0, 9, 0, 70 },   { 10, 0, 9, 1, 70 },
                                         { 11, 0, 11, 0, 60 }, { 12, 0, 11, 1, 50 },
                                         { 13, 0, 13, 0, 30 }, { 14, 0, 13, 1, 40 },
                                         { 15, 0, 13, 2, 45 } };
    struct apply_plan plan;
    apply_plan_find(&plan, present, COUNT(present), wanted, COUNT(wanted), 1);
    has_commands(&plan,
                 "update JobId=9 SiteFactor=70, update JobId=11+0 SiteFactor=60, "
                 "update JobId=11+1 SiteFactor=50, update JobId=13+2 SiteFactor=45",
                 "components are updated apart if their factors differ, and together if not");
}

static void clearing(void)
{
    const struct present_job present[] = { { 1, 5, false },   { 2, 0, false },  { 2, 0, false },
                                           { 3, -90, false }, { 4, 80, false }, { 4, 80, false },
                                           { 5, 0, true } };
    struct apply_plan plan;
    apply_plan_clear(&plan, present, COUNT(present));
    has_commands(&plan,
                 "update JobId=3 SiteFactor=0, update JobId=4 SiteFactor=0, "
                 "update JobId=1 SiteFactor=0",
                 "--clear sets each factor that is not 0 to 0");
}

int main(void)
{
    rounding();
    single_jobs();
    arrays();
    unequal_tasks();
    heterogeneous_jobs();
    clearing();
    return done_testing();
}
