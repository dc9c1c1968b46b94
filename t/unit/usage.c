/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/finding.h"
#include "core/usage.h"

/* Whether a price is so many millionths of 2^20 units. */
static bool price_is(double factor, uint64_t millionths)
{
    return price_of_factor(factor) == (uint128)millionths << 20;
}

static void prices(void)
{
    ok(price_is(1, 1000000), "factor 1 is a TRES");
    ok(price_is(0.1, 100000) && price_is(2.5, 2500000) && price_is(0.000001, 1),
       "a decimal factor is exact");
    ok(price_is(0, 0), "factor 0 is free");
    ok(price_is(-1, 1000000) && price_is(0.0 / 0.0, 1000000), "a negative factor is none");
    ok(price_of_factor(1e-7) == 104858, "what is finer than a unit is rounded");
    ok(price_of_factor(1e-300) == 0, "and gone in the end");
    ok(price_of_factor(1e25) == PRICE_TOO_LARGE && price_of_factor(1e300) == PRICE_TOO_LARGE,
       "a factor beyond the integers is too large");
}

static int64_t count_of(const char *list, uint64_t id)
{
    uint64_t count;
    enum tres_reading reading = tres_count(list, strlen(list), id, &count);
    return reading == TRES_FOUND ? (int64_t)count : reading == TRES_ABSENT ? -1 : -2;
}

static void counts(void)
{
    is_int(count_of("1=16,2=64000,4=1,5=24", 5), 24, "the count of a TRES is found");
    is_int(count_of("1=16,2=64000,4=1,5=24", 1), 16, "at the start as well");
    is_int(count_of("1=16,15=3", 5), -1, "15 is not 5");
    is_int(count_of("", 5), -1, "an empty list has none");
    is_int(count_of("nonsense", 5), -1, "nor has nonsense");
    is_int(count_of("3=18446744073709551614,5=2", 5), 2, "what is not asked for is not judged");
    ok(count_of("5=18446744073709551614", 5) == -2 && count_of("5=18446744073709551615", 5) == -2,
       "no value and infinite are unreadable");
    ok(count_of("5=", 5) == -2 && count_of("5=x", 5) == -2 && count_of("5=1.5", 5) == -2 &&
           count_of("5=-1", 5) == -2 && count_of("5", 5) == -2 &&
           count_of("5=18446744073709551616", 5) == -2,
       "so is what is no unsigned number");
    is_int(count_of("5=18446744073709551613", 5), (int64_t)18446744073709551613u,
           "any other 64-bit count is good");
}

static struct charge_term term;

static uint128 price = UNITS_PER_TRES;

static enum job_outcome charge(const struct charging *charging, uint64_t submit, uint64_t start,
                               uint64_t end, uint64_t limit, const char *tres)
{
    struct job job = { submit, start, end, limit, tres, strlen(tres) };
    return job_charge(charging, &job, price, &term);
}

static void jobs(void)
{
    struct clock *clock = clock_create(0, 10000, 2000);
    struct charging how = { clock, CHARGE_BILLING, 600, false };
    struct charging past = { clock, CHARGE_BILLING, 600, true };
    struct charging cpus = { clock, CHARGE_CPU, 600, false };

    ok(charge(&how, 0, 5000, 5100, 0, "1=8,5=2") == JOB_CHARGED &&
           term.units == (uint128)UNITS_PER_TRES * 2 && term.weight == 100,
       "a job charges its billing for as long as it ran");
    charge(&cpus, 0, 5000, 5100, 0, "1=8,5=2");
    ok(term.units == (uint128)UNITS_PER_TRES * 8, "or its CPUs where these are charged");
    charge(&how, 0, 5000, 5100, 0, "1=8,4=1");
    ok(term.units == (uint128)UNITS_PER_TRES * 8, "and where it has no billing");
    ok(charge(&how, 0, 5000, 5100, 0, "4=1") == JOB_CHARGED && !term.units,
       "without either it charges nothing, and that is not odd");
    charge(&how, 5050, 5000, 5100, 0, "5=1");
    ok(term.weight == 50, "a resized job's later row begins at its time_submit");
    charge(&how, 0, 1000, 5000, 0, "5=1");
    ok(term.weight == 3000, "what came before the reset does not count");
    charge(&how, 0, 9000, 0, 0, "5=1");
    ok(term.weight == 1000, "an open job is charged up to now");
    ok(charge(&how, 0, 5000, 0, 10, "5=1") == JOB_CAPPED && term.weight == 1200,
       "or to open_job_cap beyond its limit");
    ok(charge(&how, 0, 5000, 0, 74, "5=1") == JOB_CHARGED && term.weight == 5000,
       "which is far enough here");
    ok(charge(&how, 0, 5000, 0, TIME_LIMIT_NONE, "5=1") == JOB_CHARGED && term.weight == 5000,
       "where there is no limit there is no cap");
    charge(&how, 0, 9000, 12000, 0, "5=1");
    ok(term.weight == 1000, "a job that ends after now counts up to now");
    ok(charge(&how, 0, 0, 5000, 0, "5=1") == JOB_CHARGED && !term.units,
       "a job that never ran charges nothing");

    is_int(charge(&how, 0, 5000, 4999, 0, "5=1"), JOB_ENDS_BEFORE_START,
           "an end before the start is odd");
    is_int(charge(&how, 0, 10300, 0, 0, "5=1"), JOB_CHARGED,
           "a start five minutes ahead is a clock that differs");
    is_int(charge(&how, 0, 10301, 0, 0, "5=1"), JOB_STARTS_IN_FUTURE, "a start beyond that is odd");
    is_int(charge(&past, 0, 20000, 0, 0, "5=1"), JOB_CHARGED, "but not for an instant of the past");
    is_int(charge(&how, 0, 5000, 5100, 0, "5=x"), JOB_TRES_UNREADABLE,
           "a charged TRES that is no number is odd");
    ok(charge(&how, 0, 5000, 5100, 0, "5=18446744073709551613") == JOB_CHARGED && term.units,
       "the largest count of all is charged");
    price = price_of_factor(2);
    ok(charge(&how, 0, 5000, 5100, 0, "5=18446744073709551613") == JOB_CHARGE_TOO_LARGE &&
           !term.units,
       "twice that is beyond the integers and charges nothing");
    price = price_of_factor(1e30);
    ok(charge(&how, 0, 5000, 5100, 0, "5=0") == JOB_CHARGED, "nothing is nothing at any price");
    clock_destroy(clock);
}

static void findings_are_bounded(void)
{
    struct findings *findings = findings_create();
    for (uint64_t i = 1000; i > 0; i--)
        findings_add(findings, FINDING_JOB_CAPPED, i * 7 % 1009, "%d", (int)i);
    const struct finding *kept = findings->kind[FINDING_JOB_CAPPED].kept;
    bool ascending = true;
    for (size_t i = 1; i < FINDINGS_A_KIND; i++)
        ascending &= kept[i - 1].subject < kept[i].subject;
    ok(findings->kind[FINDING_JOB_CAPPED].count == FINDINGS_A_KIND && ascending,
       "a hundred findings of a kind are kept, in order");
    ok(findings->kind[FINDING_JOB_CAPPED].seen == 1000, "all are counted");
    ok(kept[0].subject == 1 && kept[FINDINGS_A_KIND - 1].subject <= 110,
       "those with the lowest subjects, whatever the order they came in");
    findings_destroy(findings);
}

int main(void)
{
    prices();
    counts();
    jobs();
    findings_are_bounded();
    return done_testing();
}
