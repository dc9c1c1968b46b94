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
    ok(term.start == 5060 && term.weight == 40, "what rollups tell of a job is not charged again");
    ok(charge(&how, 0, 5000, 5100, 0, "1=8,5=2") == JOB_CHARGED &&
           term.units == (uint128)UNITS_PER_TRES * 2 && term.weight == 100,
       "a job charges its billing for as long as it ran");
    charge(&cpus, 0, 5000, 5100, 0, "1=8,5=2");
    ok(term.units == (uint128)UNITS_PER_TRES * 8, "or its CPUs where these are charged");
    ok(charge(&how, 0, 5000, 5100, 0, "1=8,4=1") == JOB_CHARGED && !term.units,
       "an absent billing is a free job, not an inconsistent one");
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
    ok(charge(&how, 0, 9000, 10300, 0, "5=1") == JOB_CHARGED && term.weight == 1000,
       "one that ended up to five minutes after now has by a clock that differs");
    ok(charge(&how, 0, 5000, 10300, 10, "5=1") == JOB_ENDS_BEYOND_LIMIT && term.weight == 5000,
       "its end counts, whatever its limit was");
    ok(charge(&how, 0, 9000, 10301, 0, "5=1") == JOB_ENDS_IN_FUTURE && term.weight == 1000,
       "one that ends later is odd, and open");
    ok(charge(&how, 0, 5000, 10301, 10, "5=1") == JOB_CAPPED && term.weight == 1200,
       "so it is charged to open_job_cap beyond its limit, too");
    ok(charge(&past, 0, 5000, 10301, 10, "5=1") == JOB_CHARGED && term.weight == 1200,
       "as it is at an instant of the past, where that is not odd");
    ok(charge(&past, 0, 5000, 0, 10, "5=1") == JOB_CAPPED && term.weight == 1200,
       "but to be open still is");
    ok(charge(&how, 0, 5000, 6200, 10, "5=1") == JOB_CHARGED && term.weight == 1200,
       "an end right at open_job_cap is good");
    ok(charge(&how, 0, 5000, 6201, 10, "5=1") == JOB_ENDS_BEYOND_LIMIT && term.weight == 1201,
       "one beyond it is odd, and charged");
    is_int(charge(&past, 0, 5000, 6201, 10, "5=1"), JOB_ENDS_BEYOND_LIMIT,
           "at an instant of the past likewise");
    is_int(charge(&how, 0, 5000, 9000, TIME_LIMIT_NONE, "5=1"), JOB_CHARGED,
           "where there is no limit no end is beyond it");
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
    charge_rate.rate = rate_of_factor(2);
    ok(charge(&how, 0, 5000, 5100, 0, "5=18446744073709551613") == JOB_CHARGE_TOO_LARGE &&
           !term.units,
       "twice that is beyond the integers and charges nothing");
    charge_rate.rate = rate_of_factor(1e30);
    ok(charge(&how, 0, 5000, 5100, 0, "5=0") == JOB_CHARGED, "nothing is nothing at any price");
    decay_table_destroy(decay);
}

/* What a list is charged, in thousandths of a TRES; -1 unreadable, -2 too large. */
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
    is_int(weighed(rates, 2, "1=1,2=8192"), 3000, "as in the document's example");
    for (int i = 0; i < 3; i++)
        rates[i].in_maximum = true;
    is_int(weighed(rates, 4, list), 8500, "or the highest of some and the sum of others");
    is_int(weighed(rates, 2, "1=1,2=8192"), 2000, "as in the document's other example");
    is_int(weighed(rates, 4, ""), 0, "nothing costs nothing");
    is_int(weighed(rates, 0, list), 0, "nor does what has no weight");
    is_int(weighed(rates, 4, "1=2,1=x,1=5"), 2000,
           "of a TRES that is there twice the first counts");
    is_int(weighed(rates, 4, "4=x,3=18446744073709551614,11=z,,=,1=2"), 2000,
           "what is not charged is not judged");
    ok(weighed(rates, 4, "1=2,2=18446744073709551614") == -1 &&
           weighed(rates, 4, "1=2,1003=") == -1,
       "but one that is charged and unreadable spoils the whole");
    is_int(weighed(rates, 4, "1001=18446744073709551613"), -2, "as does one that costs too much");
    rates[0].rate = rates[3].rate = RATE_TOO_LARGE / 2;
    is_int(weighed(rates, 4, "1=1,1003=1"), -2, "or two of them together");
    rates[3].in_maximum = true;
    ok(weighed(rates, 4, "1=1,1003=1") > 0, "though not where the higher one counts");
    rates[0].rate = RATE_TOO_LARGE;
    is_int(weighed(rates, 4, "1=0,1001=1"), 2000, "none of what is too dear costs nothing");
}

/* The weights that a partition has, and what a job of it is charged in thousandths of a TRES; -1
 * unreadable, -2 too large.  *stored: by its stored billing, as its weights seem to have been
 * others. */
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
           "where cutting what the weights make gives the billing, it is charged uncut");
    ok(!stored, "and is nothing odd");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=2", &stored) == 600 && !stored &&
           verified(WEIGHTS_SUM, thirds, 1, "1=2,5=0", &stored) == 600 && !stored,
       "of a billing that is cut to 0 the fraction is charged, also where it is left out");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=5,5=2", &stored) == 2000 && stored,
       "a billing that is higher counts by itself, and the weights were others");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=5,5=0", &stored) == 0 && stored,
       "so does one that is lower, though it be 0");
    ok(verified(WEIGHTS_SUM, thirds, 1, "1=5", &stored) == 0 && !stored,
       "an absent billing is 0 and not inconsistent, also if the weights of today give one");
    ok(verified(WEIGHTS_SUM, twos, 1, "1=1,5=1", &stored) == 1000 && stored &&
           verified(WEIGHTS_SUM, twos, 1, "1=1,5=3", &stored) == 3000 && stored &&
           verified(WEIGHTS_SUM, twos, 1, "1=1,5=2", &stored) == 2000 && !stored,
       "an integer that needs no rounding is no neighbour of itself");
    ok(verified(WEIGHTS_SUM, tenths, 3, "1=1,2=1,4=1,5=1", &stored) == 1000 && !stored &&
           verified(WEIGHTS_SUM, tenths, 3, "1=1,2=1,4=1", &stored) == 1000 && !stored,
       "0.1 + 0.2 + 0.7 is 1, whichever side of it a sum of doubles is on");
    ok(verified(WEIGHTS_SUM, tenths, 3, "1=1,2=1,4=1,5=2", &stored) == 2000 && stored,
       "and is not 2");
    ok(verified(WEIGHTS_SUM, sums, 2, "1=2,2=2560,5=3", &stored) == 3625 && !stored &&
           verified(WEIGHTS_MAX_TRES, sums, 2, "1=2,2=2560,5=3", &stored) == 3000 && !stored &&
           verified(WEIGHTS_MAX_TRES, sums, 2, "1=1,2=1024,5=1", &stored) == 1500 && !stored,
       "what is cut is the sum, or the highest where that is the rule");
    ok(verified(WEIGHTS_SUM, thirds, 0, "1=2,5=7", &stored) == 7000 && !stored &&
           verified(WEIGHTS_SUM, thirds, 0, "1=2", &stored) == 0 && !stored,
       "without weights the billing counts, and an absent one is 0");
    ok(verified(WEIGHTS_SUM, sums, 2, "1=2,2=18446744073709551614,5=3", &stored) == 3000 && stored,
       "what cannot be weighed does not make the billing");
    is_int(verified(WEIGHTS_SUM, sums, 2, "1=2,2=2560,5=x", &stored), -1,
           "a billing that cannot be read charges nothing");
    is_int(verified(WEIGHTS_SUM, thirds, 1, "", &stored), 0, "nothing costs nothing");
    ok(!stored, "and is nothing odd");
}

/* How many seconds are taken off a job of [3000, 4000) without decay. */
static uint64_t off(struct suspensions *walk, const struct decay_table *decay, uint64_t key,
                    uint64_t start, uint64_t end)
{
    struct charge_term job = { 1, 1000, 3000, 4000 };
    return (uint64_t)suspensions_weight(walk, decay, key, &job, start, end);
}

static void suspended(void)
{
    struct decay_table *decay = decay_table_create(0, 10000, 0);
    struct suspensions walk = { 0 };
    is_int((int64_t)off(&walk, decay, 7, 3100, 3200), 100, "a suspension takes its seconds off");
    is_int((int64_t)off(&walk, decay, 7, 3150, 3180), 0, "one within another takes nothing off");
    is_int((int64_t)off(&walk, decay, 7, 3150, 3250), 50,
           "of one that overlaps what is new counts");
    is_int((int64_t)off(&walk, decay, 7, 3300, 3290), 0, "one that ends before its start is none");
    is_int((int64_t)off(&walk, decay, 7, 3300, 3300), 0, "nor is one without length");
    is_int((int64_t)off(&walk, decay, 7, 3900, 0), 100, "an open one lasts to the job's end");
    is_int((int64_t)off(&walk, decay, 7, 3950, 0), 0, "and leaves nothing to others");
    is_int((int64_t)off(&walk, decay, 8, 2000, 3010), 10, "what came before the job is no loss");
    is_int((int64_t)off(&walk, decay, 8, 3990, 9000), 10, "nor what came after it");
    is_int((int64_t)off(&walk, decay, 9, 2000, 9000), 1000, "all of a job may go");
    is_int((int64_t)off(&walk, decay, 10, 0, 9000), 0, "one without a start is none");
    is_int((int64_t)off(&walk, decay, 11, 4000, 5000), 0, "one after the job takes nothing off");
    decay_table_destroy(decay);

    /* With decay and a reset: what is left of a job is what its other parts would be. */
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
    ok(left == parts && left, "what is left weighs, to the bit, what its parts would");
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
       "a hundred findings of a kind are kept, in order");
    ok(findings->kind[FINDING_JOB_CAPPED].seen == 1000, "all are counted");
    ok(kept[0].subject == 1 && kept[FINDINGS_PER_KIND - 1].subject <= 110,
       "those with the lowest subjects, whatever the order they came in");
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
