/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/finding.h"
#include "core/usage/usage.h"

static int64_t count_of(const char *list, uint64_t id)
{
    uint64_t count;
    enum tres_reading reading = tres_count(list, strlen(list), id, &count);
    return reading == TRES_FOUND ? (int64_t)count : reading == TRES_ABSENT ? -1 : -2;
}

static void counts(void)
{
    is_int(count_of("1=16,2=64000,4=1,5=24", 5), 24, "the count of a TRES is found");
    is_int(count_of("1=16,2=64000,4=1,5=24", 1), 16, "the count at the start of a list is found");
    is_int(count_of("1=16,15=3", 5), -1, "id 15 is not read as id 5");
    is_int(count_of("", 5), -1, "an empty list does not contain a TRES");
    is_int(count_of("nonsense", 5), -1, "an invalid list does not contain a TRES");
    is_int(count_of("3=18446744073709551614,5=2", 5), 2, "counts of other TRES are not checked");
    ok(count_of("5=18446744073709551614", 5) == -2 && count_of("5=18446744073709551615", 5) == -2,
       "Slurm's values for no value and infinite are unreadable");
    ok(count_of("5=", 5) == -2 && count_of("5=x", 5) == -2 && count_of("5=1.5", 5) == -2 &&
           count_of("5=-1", 5) == -2 && count_of("5", 5) == -2 &&
           count_of("5=18446744073709551616", 5) == -2,
       "a count that is not an unsigned number is unreadable");
    is_int(count_of("5=18446744073709551613", 5), (int64_t)18446744073709551613u,
           "any other count of 64 bits is accepted");
}

static struct charge_term term;

static struct charge_rate charge_rate = { .rate = UNITS_PER_TRES };

static enum job_outcome charge(const struct charging *charging, uint64_t submit, uint64_t start,
                               uint64_t end, uint64_t limit, const char *tres)
{
    struct job job = { submit, start, end, limit, tres, strlen(tres), 0 };
    const struct job_span span = job_span(charging, &job);
    return job_charge(charging, &job, &span, &charge_rate, &term);
}

static void jobs(void)
{
    struct decay_table *decay = decay_table_create(0, 10000, 2000);
    struct charging how = { decay, CHARGE_BILLING, 600, false, 0, UINT64_MAX };
    struct charging past = { decay, CHARGE_BILLING, 600, true, 0, UINT64_MAX };
    struct charging cpus = { decay, CHARGE_CPU, 600, false, 0, UINT64_MAX };
    struct charging later = { decay, CHARGE_BILLING, 600, false, 5060, UINT64_MAX };

    charge(&later, 0, 5000, 5100, 0, "5=2");
    ok(term.start == 5060 && term.weight == 40, "time that rollups cover is not charged again");
    ok(charge(&how, 0, 5000, 5100, 0, "1=8,5=2") == JOB_CHARGED &&
           term.units == (uint128)UNITS_PER_TRES * 2 && term.weight == 100,
       "a job is charged its billing for its run time");
    charge(&cpus, 0, 5000, 5100, 0, "1=8,5=2");
    ok(term.units == (uint128)UNITS_PER_TRES * 8, "a job is charged its CPUs if these are charged");
    ok(charge(&how, 0, 5000, 5100, 0, "1=8,4=1") == JOB_CHARGED && !term.units,
       "a job without billing is charged 0, without a finding");
    charge(&how, 5050, 5000, 5100, 0, "5=1");
    ok(term.weight == 50, "a later row of a resized job begins at its time_submit");
    charge(&how, 0, 1000, 5000, 0, "5=1");
    ok(term.weight == 3000, "time before the reset does not count");
    charge(&how, 0, 9000, 0, 0, "5=1");
    ok(term.weight == 1000, "an open job is charged up to now");
    ok(charge(&how, 0, 5000, 0, 10, "5=1") == JOB_CAPPED && term.weight == 1200,
       "an open job is charged at most open_job_cap beyond its limit");
    ok(charge(&how, 0, 5000, 0, 74, "5=1") == JOB_CHARGED && term.weight == 5000,
       "an open job within the cap is charged up to now");
    ok(charge(&how, 0, 5000, 0, TIME_LIMIT_NONE, "5=1") == JOB_CHARGED && term.weight == 5000,
       "without a time limit there is no cap");
    ok(charge(&how, 0, 9000, 10300, 0, "5=1") == JOB_CHARGED && term.weight == 1000,
       "an end up to five minutes after now counts as clock skew");
    ok(charge(&how, 0, 5000, 10300, 10, "5=1") == JOB_ENDS_BEYOND_LIMIT && term.weight == 5000,
       "such an end counts whatever the time limit");
    ok(charge(&how, 0, 9000, 10301, 0, "5=1") == JOB_ENDS_IN_FUTURE && term.weight == 1000,
       "a later end is a finding, and the job counts as open");
    ok(charge(&how, 0, 5000, 10301, 10, "5=1") == JOB_CAPPED && term.weight == 1200,
       "a job with a later end is charged up to the cap");
    ok(charge(&past, 0, 5000, 10301, 10, "5=1") == JOB_CHARGED && term.weight == 1200,
       "at a past time, a later end is not a finding");
    ok(charge(&past, 0, 5000, 0, 10, "5=1") == JOB_CAPPED && term.weight == 1200,
       "at past times, open jobs beyond the cap are findings");
    ok(charge(&how, 0, 5000, 6200, 10, "5=1") == JOB_CHARGED && term.weight == 1200,
       "an end exactly at open_job_cap is accepted");
    ok(charge(&how, 0, 5000, 6201, 10, "5=1") == JOB_ENDS_BEYOND_LIMIT && term.weight == 1201,
       "an end beyond open_job_cap is a finding, and is charged");
    is_int(charge(&past, 0, 5000, 6201, 10, "5=1"), JOB_ENDS_BEYOND_LIMIT,
           "at a past time, an end beyond open_job_cap is a finding");
    is_int(charge(&how, 0, 5000, 9000, TIME_LIMIT_NONE, "5=1"), JOB_CHARGED,
           "without a time limit, no end is beyond it");
    ok(charge(&how, 0, 0, 5000, 0, "5=1") == JOB_CHARGED && !term.units,
       "a job that never ran is not charged");

    is_int(charge(&how, 0, 5000, 4999, 0, "5=1"), JOB_ENDS_BEFORE_START,
           "an end before the start is a finding");
    is_int(charge(&how, 0, 10300, 0, 0, "5=1"), JOB_CHARGED,
           "a start up to five minutes after now counts as clock skew");
    is_int(charge(&how, 0, 10301, 0, 0, "5=1"), JOB_STARTS_IN_FUTURE, "a later start is a finding");
    is_int(charge(&past, 0, 20000, 0, 0, "5=1"), JOB_CHARGED,
           "at a past time, a later start is not a finding");
    is_int(charge(&how, 0, 5000, 5100, 0, "5=x"), JOB_TRES_UNREADABLE,
           "a charged TRES that is not a number is a finding");
    ok(charge(&how, 0, 5000, 5100, 0, "5=18446744073709551613") == JOB_CHARGED && term.units,
       "the largest count is charged");
    charge_rate.rate = rate_of_factor(2);
    ok(charge(&how, 0, 5000, 5100, 0, "5=18446744073709551613") == JOB_CHARGE_TOO_LARGE &&
           !term.units,
       "a charge beyond the integer range is a finding, and charges 0");
    charge_rate.rate = rate_of_factor(1e30);
    ok(charge(&how, 0, 5000, 5100, 0, "5=0") == JOB_CHARGED,
       "a count of 0 is charged 0 at any rate");
    decay_table_destroy(decay);
}

/* Returns the charge of a list in thousandths of a TRES; -1 if it is unreadable, -2 if it is too
 * large. */
static int64_t weighed(const struct tres_rate *rates, size_t count, const char *list)
{
    struct charge_rate weighing = { .tres_count = count, .tres = rates };
    enum job_outcome outcome;
    uint128 units = tres_charge(CHARGE_TRES, &weighing, list, strlen(list), &outcome);
    if (outcome != JOB_CHARGED)
        return outcome == JOB_TRES_UNREADABLE ? -1 : -2;
    return (int64_t)(units / (UNITS_PER_TRES / 1000));
}

static void weights(void)
{
    struct tres_rate rates[] = { { 1, false, UNITS_PER_TRES, 1 },
                                 { 2, false, UNITS_PER_TRES / 4096, 1.0 / 4096 },
                                 { 1001, false, 2 * (uint128)UNITS_PER_TRES, 2 },
                                 { 1003, false, UNITS_PER_TRES / 2, .5 } };
    const char *list = "1=1,2=8192,4=1,5=77,1001=3,1003=5";
    is_int(weighed(rates, 4, list), 11500, "weighted TRES are added up");
    is_int(weighed(rates, 2, "1=1,2=8192"), 3000, "the sum matches the example in slurm.conf(5)");
    for (int i = 0; i < 3; i++)
        rates[i].in_maximum = true;
    is_int(weighed(rates, 4, list), 8500, "the maximum of some TRES is added to the sum of others");
    is_int(weighed(rates, 2, "1=1,2=8192"), 2000,
           "the maximum matches the other example in slurm.conf(5)");
    is_int(weighed(rates, 4, ""), 0, "an empty list is charged 0");
    is_int(weighed(rates, 0, list), 0, "TRES without weight are charged 0");
    is_int(weighed(rates, 4, "1=2,1=x,1=5"), 2000, "the first of two counts of a TRES counts");
    is_int(weighed(rates, 4, "4=x,3=18446744073709551614,11=z,,=,1=2"), 2000,
           "TRES that are not charged are not checked");
    ok(weighed(rates, 4, "1=2,2=18446744073709551614") == -1 &&
           weighed(rates, 4, "1=2,1003=") == -1,
       "one unreadable charged TRES makes the list unreadable");
    is_int(weighed(rates, 4, "1001=18446744073709551613"), -2,
           "one charge out of range makes the list too large");
    rates[0].rate = rates[3].rate = RATE_TOO_LARGE / 2;
    is_int(weighed(rates, 4, "1=1,1003=1"), -2, "a sum of two charges out of range is too large");
    rates[3].in_maximum = true;
    ok(weighed(rates, 4, "1=1,1003=1") > 0,
       "two charges of which only the maximum counts are accepted");
    rates[0].rate = RATE_TOO_LARGE;
    is_int(weighed(rates, 4, "1=0,1001=1"), 2000, "a count of 0 at a rate out of range costs 0");
}

/* Returns the charge of a job in a partition with these weights, in thousandths of a TRES; -1 if it
 * is unreadable, -2 if it is too large.  Sets `*stored` if the stored billing was charged because
 * the weights do not explain it. */
struct weight_drawn {
    const char *type;
    uint64_t digits;
    int power;
    unsigned halvings;
};
static int64_t verified(enum weight_rule rule, const struct weight_drawn *drawn, size_t count,
                        const char *list, bool *stored)
{
    static char nothing[] = "";
    struct tres_weight given[4];
    struct named_weights partition = { (char[]){ "p" }, { given, count } };
    struct named_factor factor = { (char[]){ "p" }, { 2, 0 } };
    const struct charge_weights weights = { .weight_rule = rule,
                                            .partition_weights = &partition,
                                            .partition_weight_count = 1,
                                            .partition_factors = { &factor, 1 } };
    for (size_t i = 0; i < count; i++)
        given[i] = (struct tres_weight){
            (char *)drawn[i].type, nothing, { drawn[i].digits, drawn[i].power }, drawn[i].halvings
        };
    struct charge_rates *rates = charge_rates_create(CHARGE_AUTO, &weights);
    enum job_outcome outcome;
    uint128 units =
        tres_charge(CHARGE_AUTO, charge_rates_find(rates, 1, "p", 1), list, strlen(list), &outcome);
    charge_rates_destroy(rates);
    *stored = outcome == JOB_OTHER_WEIGHTS;
    if (!job_is_charged(outcome))
        return outcome == JOB_TRES_UNREADABLE ? -1 : -2;
    return (int64_t)(units / 2 / (UNITS_PER_TRES / 1000));
}

static void verified_weights(void)
{
    static const struct weight_drawn thirds[] = { { "cpu", 3, -1, 0 } },
                                     sums[] = { { "cpu", 15, -1, 0 }, { "mem", 25, -2, 10 } },
                                     twos[] = { { "cpu", 2, 0, 0 } },
                                     tenths[] = { { "cpu", 1, -1, 0 },
                                                  { "mem", 2, -1, 0 },
                                                  { "node", 7, -1, 0 } };
    bool stored;
    is_int(verified(WEIGHTS_SUM, thirds, 1, "1=5,5=1", &stored), 1500,
           "weights whose truncated sum equals the billing are charged unrounded");
    ok(!stored, "such a charge is not a finding");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=2", &stored) == 600 && !stored &&
           verified(WEIGHTS_SUM, thirds, 1, "1=2,5=0", &stored) == 600 && !stored,
       "the fraction of a billing of 0 is charged, also if absent");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=5,5=2", &stored) == 2000 && stored,
       "a higher billing is charged as stored, and is a finding");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=5,5=0", &stored) == 0 && stored,
       "a lower billing is charged as stored, even if it is 0");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=5", &stored) == 0 && !stored,
       "an absent billing is charged 0, without a finding");
    ok(verified(WEIGHTS_SUM, twos, 1, "1=1,5=1", &stored) == 1000 && stored &&
           verified(WEIGHTS_SUM, twos, 1, "1=1,5=3", &stored) == 3000 && stored &&
           verified(WEIGHTS_SUM, twos, 1, "1=1,5=2", &stored) == 2000 && !stored,
       "an exact integer matches only itself");
    ok(verified(WEIGHTS_SUM, tenths, 3, "1=1,2=1,4=1,5=1", &stored) == 1000 && !stored &&
           verified(WEIGHTS_SUM, tenths, 3, "1=1,2=1,4=1", &stored) == 1000 && !stored,
       "0.1 + 0.2 + 0.7 is 1 despite rounding of doubles");
    ok(verified(WEIGHTS_SUM, tenths, 3, "1=1,2=1,4=1,5=2", &stored) == 2000 && stored,
       "0.1 + 0.2 + 0.7 is not 2");
    ok(verified(WEIGHTS_SUM, sums, 2, "1=2,2=2560,5=3", &stored) == 3625 && !stored &&
           verified(WEIGHTS_MAX_TRES, sums, 2, "1=2,2=2560,5=3", &stored) == 3000 && !stored &&
           verified(WEIGHTS_MAX_TRES, sums, 2, "1=1,2=1024,5=1", &stored) == 1500 && !stored,
       "the sum or maximum is compared, according to the rule");
    ok(verified(WEIGHTS_SUM, thirds, 0, "1=2,5=7", &stored) == 7000 && !stored &&
           verified(WEIGHTS_SUM, thirds, 0, "1=2", &stored) == 0 && !stored,
       "without weights the billing is charged, 0 if absent");
    ok(verified(WEIGHTS_SUM, sums, 2, "1=2,2=18446744073709551614,5=3", &stored) == 3000 && stored,
       "a billing whose TRES are unreadable is charged as stored");
    is_int(verified(WEIGHTS_SUM, sums, 2, "1=2,2=2560,5=x", &stored), -1,
           "an unreadable billing is not charged");
    is_int(verified(WEIGHTS_SUM, thirds, 1, "", &stored), 0, "a job without TRES is charged 0");
    ok(!stored, "a job without TRES is not a finding");
}

/* Returns the seconds that a suspension removes from a job of [3000, 4000), without decay. */
static uint64_t off(struct suspensions *walk, const struct decay_table *decay, uint64_t key,
                    uint64_t start, uint64_t end)
{
    struct charge_term job = { .units = 1, .weight = 1000, .start = 3000, .end = 4000 };
    return (uint64_t)suspensions_weight(walk, decay, key, &job, start, end);
}

static void suspended(void)
{
    struct decay_table *decay = decay_table_create(0, 10000, 0);
    struct suspensions walk = { 0 };
    is_int((int64_t)off(&walk, decay, 7, 3100, 3200), 100, "a suspension removes its seconds");
    is_int((int64_t)off(&walk, decay, 7, 3150, 3180), 0,
           "a suspension within another removes nothing");
    is_int((int64_t)off(&walk, decay, 7, 3150, 3250), 50,
           "an overlapping suspension removes only the new seconds");
    is_int((int64_t)off(&walk, decay, 7, 3300, 3290), 0,
           "a suspension that ends before its start removes nothing");
    is_int((int64_t)off(&walk, decay, 7, 3300, 3300), 0,
           "a suspension of length 0 removes nothing");
    is_int((int64_t)off(&walk, decay, 7, 3900, 0), 100,
           "an open suspension lasts until the job's end");
    is_int((int64_t)off(&walk, decay, 7, 3950, 0), 0,
           "a suspension after an open one removes nothing");
    is_int((int64_t)off(&walk, decay, 8, 2000, 3010), 10,
           "suspended time before the job is not removed");
    is_int((int64_t)off(&walk, decay, 8, 3990, 9000), 10,
           "suspended time after the job is not removed");
    is_int((int64_t)off(&walk, decay, 9, 2000, 9000), 1000, "a suspension may remove all of a job");
    is_int((int64_t)off(&walk, decay, 10, 0, 9000), 0,
           "a suspension without a start removes nothing");
    is_int((int64_t)off(&walk, decay, 11, 4000, 5000), 0,
           "a suspension after the job removes nothing");
    decay_table_destroy(decay);

    /* With decay and a reset, the rest of a job weighs as much as its parts would as separate
     * jobs. */
    decay = decay_table_create(86400, 1750500000, 1750400000);
    struct charging how = { decay, CHARGE_BILLING, 600, false, 0, UINT64_MAX };
    charge_rate.rate = UNITS_PER_TRES;
    uint64_t cuts[] = { 1750300000, 1750399990, 1750400010, 1750450000, 1750480000 };
    uint128 left = 0, parts = 0;
    charge(&how, 0, cuts[0], cuts[4], 0, "5=1");
    left = term.weight;
    walk = (struct suspensions){ 0 };
    for (int i = 1; i < 4; i += 2)
        left -= suspensions_weight(&walk, decay, 1, &term, cuts[i], cuts[i + 1]);
    for (int i = 0; i < 4; i += 2) {
        charge(&how, 0, cuts[i], cuts[i + 1], 0, "5=1");
        parts += term.weight;
    }
    ok(left == parts && left, "the rest of a job weighs exactly as much as its parts");
    decay_table_destroy(decay);
}

static void findings_are_bounded(void)
{
    struct findings *findings = findings_create();
    for (uint64_t i = 1000; i > 0; i--)
        findings_add(findings, FINDING_JOB_CAPPED, i * 7 % 1009, "%d", (int)i);
    const struct finding *kept = findings->kind[FINDING_JOB_CAPPED].kept;
    bool ascending = true;
    for (size_t i = 1; i < FINDINGS_PER_KIND; i++)
        ascending &= kept[i - 1].subject < kept[i].subject;
    ok(findings->kind[FINDING_JOB_CAPPED].count == FINDINGS_PER_KIND && ascending,
       "a hundred findings of a kind are kept in order");
    ok(findings->kind[FINDING_JOB_CAPPED].seen == 1000, "all findings are counted");
    ok(kept[0].subject == 1 && kept[FINDINGS_PER_KIND - 1].subject <= 110,
       "findings with the lowest subjects are kept");
    findings_destroy(findings);
}

int main(void)
{
    counts();
    jobs();
    weights();
    verified_weights();
    suspended();
    findings_are_bounded();
    return done_testing();
}
