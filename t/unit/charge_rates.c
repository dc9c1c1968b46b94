/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/usage/decay_table.h"
#include "core/usage/charge_rates.h"

/* Returns true if the rate for this factor is `millionths` times 2^20 units. */
static bool rate_is(double factor, uint64_t millionths)
{
    return rate_of_factor(factor) == (uint128)millionths << 20;
}

static void rates_of_doubles(void)
{
    ok(rate_is(1, 1000000), "factor 1 is one TRES");
    ok(rate_is(0.1, 100000) && rate_is(2.5, 2500000) && rate_is(0.000001, 1),
       "a decimal factor is exact");
    ok(rate_is(0, 0), "factor 0 is free");
    ok(rate_is(-1, 1000000) && rate_is(0.0 / 0.0, 1000000),
       "a negative or non-finite factor counts as 1");
    ok(rate_of_factor(1e-7) == 104858, "a rate is rounded to whole units");
    ok(rate_of_factor(1e-300) == 0 && rate_of_factor(5e-324) == 0, "a tiny factor gives rate 0");
    ok(rate_of_factor(1e25) == RATE_TOO_LARGE && rate_of_factor(1e300) == RATE_TOO_LARGE,
       "a factor beyond the range is too large");
}

static uint128 product(unsigned halvings, const char *first, const char *second, const char *third,
                       const char *fourth)
{
    const char *const texts[] = { first, second, third, fourth };
    struct decimal factors[RATE_FACTORS];
    for (int i = 0; i < RATE_FACTORS; i++)
        if (!decimal_parse(texts[i], strlen(texts[i]), &factors[i]))
            return 12345;
    return rate_of_product(factors, RATE_FACTORS, halvings);
}

static void products(void)
{
    ok(product(10, "0.25", "1", "1", "1") == 256000000, "a quarter of a TRES per 1024 is exact");
    ok(product(0, "0.1", "0.1", "0.1", "1e3") == UNITS_PER_TRES, "a tenth of a tenth is exact");
    ok(product(21, "1e-6", "1", "1", "1") == 0 && product(21, "3e-6", "1", "1", "1") == 2 &&
           product(21, "5e-6", "1", "1", "1") == 2 && product(21, "7e-6", "1", "1", "1") == 4,
       "halves are rounded to even");
    ok(product(21, "1.00000000000000001e-6", "1", "1", "1") == 1 &&
           product(21, "2.99999999999999999e-6", "1", "1", "1") == 1,
       "the last digit decides whether a rate is exactly a half");
    ok(product(0, "1e-6", "0.0000005", "1", "1e-0") == 1 &&
           product(0, "1e-12", "0.5", "1", "1") == 1,
       "a product is rounded once, not once per factor");
    /* Expected values from Python's fractions module. */
    ok(product(0, "0.123456789012345678", "0.987654321098765432", "1.11111111111111111",
               "7.77777777777777777") == 1104925202951,
       "the product of four factors uses all their digits");
    ok(product(30, "123456789012345678", "0.987654321098765432", "1.11111111111111111",
               "7.77777777777777777") == ((uint128)0x37 << 64 | 0xc8d2d3269799e790),
       "the product of four factors divided by 2^30 uses all digits");
    ok(product(0, "19342813113834066795", "1", "1", "1") == 12345 &&
           product(0, "19342813113834066.8e3", "1", "1", "1") == RATE_TOO_LARGE &&
           product(0, "19342813113834066.7e3", "1", "1", "1") < RATE_TOO_LARGE,
       "rates of 2^104 and above are too large");
    ok(product(20, "1e50", "1e50", "1e-50", "1e-50") == 1000000 &&
           product(0, "1e400", "1e-400", "1", "1") == UNITS_PER_TRES,
       "large and small factors may cancel each other");
    ok(product(50, "1e64", "1", "1", "1") == RATE_TOO_LARGE &&
           product(0, "999999999999999999e-126", "999999999999999999", "999999999999999999",
                   "999999999999999999") == 0 &&
           product(0, "0", "1e999", "1e999", "1e999") == 0,
       "extreme factors give a rate of too large or 0");
}

static struct named_factor qos_factors[] = { { "high", { 2, 0 } }, { "hihg", { 3, 0 } } };
static struct named_factor partition_factors[] = { { "gpu", { 5, -1 } },
                                                   { "gone", { 7, 0 } },
                                                   { "a:b", { 11, 0 } } };
static struct tres_weight tres_weights[] = {
    { "CPU", "", { 1, 0 }, 0 },       { "Mem", "", { 25, -2 }, 10 },
    { "GRES", "gpu", { 2, 0 }, 0 },   { "gres", "gpu:A100", { 3, 0 }, 0 },
    { "license", "x", { 10, 0 }, 0 }, { "Billing", "", { 1, 0 }, 0 },
    { "node", "", { 0, 0 }, 0 },      { "license", "y", { 0, 0 }, 0 },
};
#define WEIGHTS (sizeof tres_weights / sizeof *tres_weights)
static struct tres_weight big_weights[] = { { "CPU", "", { 4, 0 }, 0 },
                                            { "license", "z", { 1, 0 }, 0 } };
static struct tres_weight free_weights[] = { { "CPU", "", { 0, 0 }, 0 } };
static struct named_weights partition_weights[] = { { (char[]){ "a:b" }, { big_weights, 2 } },
                                                    { (char[]){ "free" }, { free_weights, 1 } } };

static struct charge_rates *charge_rates_under(enum charge_basis charge, enum weight_rule rule)
{
    static struct charge_weights weights;
    weights = (struct charge_weights){
        rule, { tres_weights, WEIGHTS }, partition_weights,
        2,    { qos_factors, 2 },        { partition_factors, 3 },
    };
    struct charge_rates *rates = charge_rates_create(charge, &weights);
    charge_rates_add_tres(rates, 1001, "gres", "gpu");
    charge_rates_add_tres(rates, 1002, "gres", "gpu:a100");
    charge_rates_add_qos(rates, 1, "normal", 6, 1);
    charge_rates_add_qos(rates, 9, "high", 4, 1.5);
    charge_rates_add_qos(rates, 2, "none", 4, -1);
    return rates;
}

static uint128 price(struct charge_rates *rates, uint64_t qos, const char *partition)
{
    return charge_rates_find(rates, qos, partition, strlen(partition))->rate;
}

static void factors(void)
{
    struct charge_rates *rates = charge_rates_under(CHARGE_BILLING, WEIGHTS_SUM);
    const uint128 unit = UNITS_PER_TRES;
    ok(price(rates, 1, "batch") == unit, "without factors, one billing unit is one TRES");
    ok(price(rates, 9, "batch") == 3 * unit,
       "the configured factor multiplies the QOS's usage factor");
    ok(price(rates, 1, "gpu") == unit / 2, "a partition's factor applies");
    ok(price(rates, 9, "gpu") == 3 * unit / 2, "QOS and partition factors multiply");
    ok(price(rates, 2, "batch") == unit, "a negative usage_factor counts as 1");
    ok(price(rates, 77, "batch") == unit && price(rates, 77, "gpu") == unit / 2,
       "an unknown QOS has factor 1");
    ok(price(rates, 1, "gpu,batch") == unit / 2 && price(rates, 1, "batch,gpu") == unit,
       "the first of several partitions sets the factor");
    ok(price(rates, 1, "GPU") == unit && price(rates, 1, "gp") == unit &&
           price(rates, 1, "gpu2") == unit && price(rates, 1, "") == unit &&
           charge_rates_find(rates, 1, NULL, 0)->rate == unit,
       "partition names are compared byte by byte");
    ok(price(rates, 1, "a:b") == 11 * unit, "a partition name may contain a colon");
    ok(charge_rates_find(rates, 9, "gpu", 3) == charge_rates_find(rates, 9, "gpu", 3) &&
           !charge_rates_find(rates, 9, "gpu", 3)->tres_count,
       "a rate is created once; by billing it has no TRES weights");
    ok(charge_rates_plain(rates)->rate == unit, "the plain rate has no factor");

    size_t at = 0;
    is_string(charge_rates_unused_qos(rates, &at), "hihg",
              "a configured QOS that does not exist is reported");
    is_string(charge_rates_unused_qos(rates, &at), NULL, "an unused QOS is reported once");
    at = 0;
    is_string(charge_rates_unused_partition(rates, &at), "gone",
              "a partition without jobs is reported");
    is_string(charge_rates_unused_partition(rates, &at), NULL,
              "an unused partition is reported once");
    at = 0;
    ok(!charge_rates_unused_tres(rates, &at),
       "no TRES is reported as unused if billing is charged");
    charge_rates_destroy(rates);
}

/* Returns the ids of the charged TRES, with an `m` after ids that belong to the maximum. */
static const char *charged(struct charge_rates *rates)
{
    static char text[200];
    const struct charge_rate *rate = charge_rates_plain(rates);
    *text = '\0';
    for (size_t i = 0; i < rate->tres_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRIu64 "%s", i ? " " : "",
                 rate->tres[i].id, rate->tres[i].in_maximum ? "m" : "");
    return text;
}

static void weights(void)
{
    struct charge_rates *rates = charge_rates_under(CHARGE_TRES, WEIGHTS_SUM);
    is_string(charged(rates), "1 2 1001 1002",
              "TRES names ignore case, and TRES with weight 0 are not charged");
    const struct charge_rate *rate = charge_rates_find(rates, 9, "gpu", 3);
    ok(rate->tres[0].rate == (uint128)UNITS_PER_TRES * 3 / 2 && rate->tres[1].rate == 384000000 &&
           rate->tres[3].rate == (uint128)UNITS_PER_TRES * 9 / 2,
       "a TRES rate is its weight times all factors");
    ok(charge_rates_plain(rates)->tres[1].rate == 256000000,
       "the plain rate of a TRES is its weight");
    size_t at = 0;
    const struct tres_weight *unmet = charge_rates_unused_tres(rates, &at);
    is_string(unmet ? unmet->type : NULL, "license",
              "a weighted TRES that does not exist is reported");
    unmet = charge_rates_unused_tres(rates, &at);
    is_string(unmet ? unmet->type : NULL, "Billing", "a weight for billing is reported");
    unmet = charge_rates_unused_tres(rates, &at);
    is_string(unmet ? unmet->name : NULL, "z", "a TRES weighted by only one partition is reported");
    ok(!charge_rates_unused_tres(rates, &at), "a missing TRES with weight 0 is not reported");
    charge_rates_destroy(rates);

    rates = charge_rates_under(CHARGE_TRES, WEIGHTS_MAX_TRES);
    is_string(charged(rates), "1m 2m 1001m 1002m",
              "MAX_TRES takes the maximum of cpu, mem, node and gres");
    charge_rates_add_tres(rates, 1003, "license", "x");
    charge_rates_destroy(rates);
    rates = charge_rates_under(CHARGE_TRES, WEIGHTS_MAX_TRES_GRES);
    charge_rates_add_tres(rates, 1003, "license", "x");
    is_string(charged(rates), "1m 2m 1001 1002 1003",
              "MAX_TRES_GRES sums gres, and both rules sum licenses");
    charge_rates_destroy(rates);
}

static void weights_of_partitions(void)
{
    struct charge_rates *rates = charge_rates_under(CHARGE_TRES, WEIGHTS_SUM);
    const struct charge_rate *tariff = charge_rates_find(rates, 9, "a:b", 3);
    ok(tariff->tres_count == 1 && tariff->tres[0].id == 1 &&
           tariff->tres[0].rate == (uint128)UNITS_PER_TRES * 4 * 3 * 11,
       "a partition's weights replace the general weights and take its factor");
    ok(!charge_rates_find(rates, 1, "free", 4)->tres_count,
       "a partition's weights may charge nothing");
    ok(charge_rates_find(rates, 1, "free,a:b", 8) == charge_rates_find(rates, 1, "free", 4),
       "the first of several partitions sets the weights");
    ok(charge_rates_find(rates, 1, "batch", 5)->tres_count == 4,
       "other partitions have the general weights");
    uint64_t without = charge_rates_hash(rates, UINT64_MAX);
    charge_rates_add_tres(rates, 1005, "license", "z");
    ok(charge_rates_hash(rates, UINT64_MAX) != without,
       "the hash depends on the id of a partition-weighted TRES");
    ok(charge_rates_find(rates, 9, "a:b", 3)->tres_count == 1,
       "an existing rate does not change when a TRES is added");
    charge_rates_destroy(rates);
    rates = charge_rates_under(CHARGE_BILLING, WEIGHTS_SUM);
    ok(!charge_rates_find(rates, 1, "a:b", 3)->tres_count &&
           price(rates, 1, "free") == UNITS_PER_TRES,
       "partition weights have no effect if billing is charged");
    charge_rates_destroy(rates);
}

static uint64_t hash_with(enum charge_basis charge, uint64_t gpu, uint64_t qos, double factor)
{
    struct charge_rates *rates = charge_rates_under(charge, WEIGHTS_SUM);
    charge_rates_add_tres(rates, gpu, "gres", "gpu");
    charge_rates_add_qos(rates, qos, "other", 5, factor);
    uint64_t hash = charge_rates_hash(rates, UINT64_MAX);
    charge_rates_destroy(rates);
    return hash;
}

static void hashes(void)
{
    uint64_t usual = hash_with(CHARGE_TRES, 1001, 12, 1);
    ok(usual && usual == hash_with(CHARGE_TRES, 1001, 13, 1) &&
           usual == hash_with(CHARGE_TRES, 1001, 13, -1),
       "a QOS with factor 1 does not change the hash");
    ok(usual != hash_with(CHARGE_TRES, 1001, 12, 2) &&
           hash_with(CHARGE_TRES, 1001, 12, 2) != hash_with(CHARGE_TRES, 1001, 13, 2) &&
           hash_with(CHARGE_TRES, 1001, 12, 2) != hash_with(CHARGE_TRES, 1001, 12, 3),
       "a QOS with another factor changes the hash");
    ok(usual != hash_with(CHARGE_TRES, 900, 12, 1), "another TRES id changes the hash");
    ok(hash_with(CHARGE_BILLING, 1001, 12, 1) == hash_with(CHARGE_BILLING, 900, 12, 1),
       "if billing is charged, another TRES id keeps the hash");
}

int main(void)
{
    rates_of_doubles();
    products();
    factors();
    weights();
    weights_of_partitions();
    hashes();
    return done_testing();
}
