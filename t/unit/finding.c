/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/finding.h"

#define ODD FINDING_JOB_TRES_UNREADABLE

static void subjects(void)
{
    struct findings *findings = findings_create();
    for (uint64_t subject = 150; subject > 0; subject--)
        findings_add(findings, ODD, subject, "job %d", (int)subject);
    bool lowest = true;
    for (size_t i = 0; i < FINDINGS_PER_KIND; i++)
        lowest &= findings->kind[ODD].kept[i].subject == i + 1;
    ok(lowest && findings->kind[ODD].count == FINDINGS_PER_KIND,
       "the lowest subjects are kept in any order of arrival");
    ok(findings->kind[ODD].seen == 150, "all findings are counted");
    findings_add(findings, ODD, 7, "another");
    ok(findings->kind[ODD].count == FINDINGS_PER_KIND && findings->kind[ODD].seen == 151 &&
           !strcmp(findings->kind[ODD].kept[6].detail, "another"),
       "a repeated subject keeps the detail that sorts first");
    findings_destroy(findings);
}

static void ends(void)
{
    struct findings *kept = findings_create(), *told = findings_create();
    findings_add_ended(kept, ODD, 123, 2000, "b");
    findings_add_ended(kept, ODD, 123, 1000, "a");
    findings_add_ended(kept, ODD, 55, 1000, "c");
    findings_merge(told, kept);
    ok(told->kind[ODD].count == 2 && !strcmp(told->kind[ODD].kept[1].detail, "a"),
       "a merge combines two rows of a job");
    findings_expire(kept, 999);
    ok(kept->kind[ODD].count == 3, "a finding does not expire before its end");
    findings_expire(kept, 1000);
    ok(kept->kind[ODD].count == 1 && kept->kind[ODD].seen == 1 &&
           kept->kind[ODD].kept[0].subject == 123 && kept->kind[ODD].kept[0].ends == 2000,
       "an ended row expires, and another row of its job stays");
    findings_expire(told, UINT64_MAX);
    ok(told->kind[ODD].count == 2, "a finding without an end does not expire");
    findings_destroy(kept);
    findings_destroy(told);
}

static const char *told_of(const struct findings *findings, size_t at)
{
    static char detail[FINDING_DETAIL];
    return finding_detail(&findings->kind[FINDING_OTHER_WEIGHTS].kept[at], detail);
}

static void of_jobs(void)
{
    const enum finding_kind kind = FINDING_OTHER_WEIGHTS;
    const struct finding jobs[] = {
        { .subject = 1, .ends = 5000, .jobs = 1, .first = 700, .last = 700 },
        { .subject = 1, .ends = 5000, .jobs = 1, .first = 300, .last = 300 },
        { .subject = 1, .ends = 9000, .jobs = 7, .first = 400, .last = 800 },
        { .subject = 2, .jobs = 1, .first = 1, .last = 1 },
    };
    struct findings *kept = findings_create(), *told = findings_create();
    for (size_t i = 0; i < 4; i++)
        findings_add_jobs(kept, kind, &jobs[i], "partition '%s'", i ? "b" : "a");
    ok(kept->kind[kind].count == 3 && kept->kind[kind].seen == 10,
       "jobs with the same subject and end are one finding");
    is_string(told_of(kept, 0),
              "2 jobs started between 1970-01-01T00:05:00 and 1970-01-01T00:11:40; partition 'a'",
              "the detail states the number of jobs and their start times");
    findings_merge(told, kept);
    ok(told->kind[kind].count == 2 && told->kind[kind].seen == 10,
       "a merge ignores the ends of jobs");
    is_string(told_of(told, 0),
              "9 jobs started between 1970-01-01T00:05:00 and 1970-01-01T00:13:20; partition 'a'",
              "a merge combines all jobs of a subject");
    findings_expire(kept, 5000);
    ok(kept->kind[kind].count == 2 && kept->kind[kind].seen == 8,
       "all jobs with the same end expire together");
    findings_destroy(kept);
    findings_destroy(told);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    of_jobs();
    subjects();
    ends();
    return done_testing();
}
