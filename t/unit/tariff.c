/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/usage/clock.h"
#include "core/usage/tariff.h"

/* Whether a price is so many millionths of 2^20 units. */
static bool price_is(double factor, uint64_t millionths)
{
    return price_of_factor(factor) == (uint128)millionths << 20;
}

static void prices_of_doubles(void)
{
    ok(price_is(1, 1000000), "factor 1 is a TRES");
    ok(price_is(0.1, 100000) && price_is(2.5, 2500000) && price_is(0.000001, 1),
       "a decimal factor is exact");
    ok(price_is(0, 0), "factor 0 is free");
    ok(price_is(-1, 1000000) && price_is(0.0 / 0.0, 1000000), "a negative factor is none");
    ok(price_of_factor(1e-7) == 104858, "what is finer than a unit is rounded");
    ok(price_of_factor(1e-300) == 0 && price_of_factor(5e-324) == 0, "and gone in the end");
    ok(price_of_factor(1e25) == PRICE_TOO_LARGE && price_of_factor(1e300) == PRICE_TOO_LARGE,
       "a factor beyond the integers is too large");
}

static uint128 product(unsigned halvings, const char *first, const char *second, const char *third,
                       const char *fourth)
{
    const char *const texts[] = { first, second, third, fourth };
    struct decimal factors[PRICE_FACTORS];
    for (int i = 0; i < PRICE_FACTORS; i++)
        if (!decimal_parse(texts[i], strlen(texts[i]), &factors[i]))
            return 12345;
    return price_of_product(factors, PRICE_FACTORS, halvings);
}

static void products(void)
{
    ok(product(10, "0.25", "1", "1", "1") == 256000000, "a quarter of a TRES for 1024");
    ok(product(0, "0.1", "0.1", "0.1", "1e3") == UNITS_PER_TRES, "a tenth of a tenth is exact");
    ok(product(21, "1e-6", "1", "1", "1") == 0 && product(21, "3e-6", "1", "1", "1") == 2 &&
           product(21, "5e-6", "1", "1", "1") == 2 && product(21, "7e-6", "1", "1", "1") == 4,
       "halves are rounded to even");
    ok(product(21, "1.00000000000000001e-6", "1", "1", "1") == 1 &&
           product(21, "2.99999999999999999e-6", "1", "1", "1") == 1,
       "and the last digit tells that it is none");
    ok(product(0, "1e-6", "0.0000005", "1", "1e-0") == 1 &&
           product(0, "1e-12", "0.5", "1", "1") == 1,
       "a product is rounded once, not each factor");
    /* These from Python's fractions. */
    ok(product(0, "0.123456789012345678", "0.987654321098765432", "1.11111111111111111",
               "7.77777777777777777") == 1104925202951,
       "four factors with all their digits");
    ok(product(30, "123456789012345678", "0.987654321098765432", "1.11111111111111111",
               "7.77777777777777777") == ((uint128)0x37 << 64 | 0xc8d2d3269799e790),
       "divided by a power of two");
    ok(product(0, "19342813113834066795", "1", "1", "1") == 12345 &&
           product(0, "19342813113834066.8e3", "1", "1", "1") == PRICE_TOO_LARGE &&
           product(0, "19342813113834066.7e3", "1", "1", "1") < PRICE_TOO_LARGE,
       "a price ends below 2^104");
    ok(product(20, "1e50", "1e50", "1e-50", "1e-50") == 1000000 &&
           product(0, "1e400", "1e-400", "1", "1") == UNITS_PER_TRES,
       "large and small factors may cancel");
    ok(product(50, "1e64", "1", "1", "1") == PRICE_TOO_LARGE &&
           product(0, "999999999999999999e-126", "999999999999999999", "999999999999999999",
                   "999999999999999999") == 0 &&
           product(0, "0", "1e999", "1e999", "1e999") == 0,
       "at their limits prices are too large or nothing");
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

static struct tariffs *tariffs_under(enum charge_basis charge, enum weight_rule rule)
{
    static struct pricing pricing;
    pricing = (struct pricing){
        rule, { tres_weights, WEIGHTS }, partition_weights,
        2,    { qos_factors, 2 },        { partition_factors, 3 },
    };
    struct tariffs *tariffs = tariffs_create(charge, &pricing);
    tariffs_add_tres(tariffs, 1001, "gres", "gpu");
    tariffs_add_tres(tariffs, 1002, "gres", "gpu:a100");
    tariffs_add_qos(tariffs, 1, "normal", 6, 1);
    tariffs_add_qos(tariffs, 9, "high", 4, 1.5);
    tariffs_add_qos(tariffs, 2, "none", 4, -1);
    return tariffs;
}

static uint128 price(struct tariffs *tariffs, uint64_t qos, const char *partition)
{
    return tariffs_find(tariffs, qos, partition, strlen(partition))->price;
}

static void factors(void)
{
    struct tariffs *tariffs = tariffs_under(CHARGE_BILLING, WEIGHTS_SUM);
    const uint128 unit = UNITS_PER_TRES;
    ok(price(tariffs, 1, "batch") == unit, "without a factor a billing is a TRES");
    ok(price(tariffs, 9, "batch") == 3 * unit, "the setting's factor multiplies the QOS's own");
    ok(price(tariffs, 1, "gpu") == unit / 2, "a partition has a factor too");
    ok(price(tariffs, 9, "gpu") == 3 * unit / 2, "and all of them multiply");
    ok(price(tariffs, 2, "batch") == unit, "a negative usage_factor is none");
    ok(price(tariffs, 77, "batch") == unit && price(tariffs, 77, "gpu") == unit / 2,
       "a QOS that is not there is none either");
    ok(price(tariffs, 1, "gpu,batch") == unit / 2 && price(tariffs, 1, "batch,gpu") == unit,
       "of several partitions the first counts");
    ok(price(tariffs, 1, "GPU") == unit && price(tariffs, 1, "gp") == unit &&
           price(tariffs, 1, "gpu2") == unit && price(tariffs, 1, "") == unit &&
           tariffs_find(tariffs, 1, NULL, 0)->price == unit,
       "names are bytes");
    ok(price(tariffs, 1, "a:b") == 11 * unit, "whatever is in them");
    ok(tariffs_find(tariffs, 9, "gpu", 3) == tariffs_find(tariffs, 9, "gpu", 3) &&
           !tariffs_find(tariffs, 9, "gpu", 3)->tres_count,
       "a tariff is made once, and where billing is charged it weighs no TRES");
    ok(tariffs_plain(tariffs)->price == unit, "the plain tariff has no factor");

    size_t at = 0;
    is_string(tariffs_unused_qos(tariffs, &at), "hihg", "a QOS that nobody has is told");
    is_string(tariffs_unused_qos(tariffs, &at), NULL, "once");
    at = 0;
    is_string(tariffs_unused_partition(tariffs, &at), "gone",
              "so is a partition in which no job ran");
    is_string(tariffs_unused_partition(tariffs, &at), NULL, "once as well");
    at = 0;
    ok(!tariffs_unused_tres(tariffs, &at), "but no TRES, which are not charged");
    tariffs_destroy(tariffs);
}

/* Which TRES are charged, and which of them are under the maximum. */
static const char *charged(struct tariffs *tariffs)
{
    static char text[200];
    const struct tariff *tariff = tariffs_plain(tariffs);
    *text = '\0';
    for (size_t i = 0; i < tariff->tres_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%" PRIu64 "%s", i ? " " : "",
                 tariff->tres[i].id, tariff->tres[i].in_maximum ? "m" : "");
    return text;
}

static void weights(void)
{
    struct tariffs *tariffs = tariffs_under(CHARGE_TRES, WEIGHTS_SUM);
    is_string(charged(tariffs), "1 2 1001 1002",
              "TRES are found by name whatever its case; those without weight are not charged");
    const struct tariff *tariff = tariffs_find(tariffs, 9, "gpu", 3);
    ok(tariff->tres[0].price == (uint128)UNITS_PER_TRES * 3 / 2 &&
           tariff->tres[1].price == 384000000 &&
           tariff->tres[3].price == (uint128)UNITS_PER_TRES * 9 / 2,
       "each has a price from its weight and all factors");
    ok(tariffs_plain(tariffs)->tres[1].price == 256000000, "the plain tariff from its weight");
    size_t at = 0;
    const struct tres_weight *unmet = tariffs_unused_tres(tariffs, &at);
    is_string(unmet ? unmet->type : NULL, "license", "a TRES that is not there is told");
    unmet = tariffs_unused_tres(tariffs, &at);
    is_string(unmet ? unmet->type : NULL, "Billing", "and billing, which weights make");
    unmet = tariffs_unused_tres(tariffs, &at);
    is_string(unmet ? unmet->name : NULL, "z", "and one that only a partition weighs");
    ok(!tariffs_unused_tres(tariffs, &at), "but not what has no weight anyway");
    tariffs_destroy(tariffs);

    tariffs = tariffs_under(CHARGE_TRES, WEIGHTS_MAX_TRES);
    is_string(charged(tariffs), "1m 2m 1001m 1002m", "MAX_TRES is over cpu, mem, node and gres");
    tariffs_add_tres(tariffs, 1003, "license", "x");
    tariffs_destroy(tariffs);
    tariffs = tariffs_under(CHARGE_TRES, WEIGHTS_MAX_TRES_GRES);
    tariffs_add_tres(tariffs, 1003, "license", "x");
    is_string(charged(tariffs), "1m 2m 1001 1002 1003",
              "MAX_TRES_GRES adds gres up, and licenses are added in any case");
    tariffs_destroy(tariffs);
}

static void weights_of_partitions(void)
{
    struct tariffs *tariffs = tariffs_under(CHARGE_TRES, WEIGHTS_SUM);
    const struct tariff *tariff = tariffs_find(tariffs, 9, "a:b", 3);
    ok(tariff->tres_count == 1 && tariff->tres[0].id == 1 &&
           tariff->tres[0].price == (uint128)UNITS_PER_TRES * 4 * 3 * 11,
       "a partition's own weights are instead of those for all, and times its factor");
    ok(!tariffs_find(tariffs, 1, "free", 4)->tres_count, "they may be nothing");
    ok(tariffs_find(tariffs, 1, "free,a:b", 8) == tariffs_find(tariffs, 1, "free", 4),
       "of several partitions the first counts");
    ok(tariffs_find(tariffs, 1, "batch", 5)->tres_count == 4,
       "other partitions have those for all");
    uint64_t without = tariffs_hash(tariffs, UINT64_MAX);
    tariffs_add_tres(tariffs, 1005, "license", "z");
    ok(tariffs_hash(tariffs, UINT64_MAX) != without,
       "the id of a TRES that a partition weighs is in the hash");
    ok(tariffs_find(tariffs, 9, "a:b", 3)->tres_count == 1, "a tariff stays as it was made");
    tariffs_destroy(tariffs);
    tariffs = tariffs_under(CHARGE_BILLING, WEIGHTS_SUM);
    ok(!tariffs_find(tariffs, 1, "a:b", 3)->tres_count &&
           price(tariffs, 1, "free") == UNITS_PER_TRES,
       "where billing is charged they say nothing");
    tariffs_destroy(tariffs);
}

static uint64_t hash_with(enum charge_basis charge, uint64_t gpu, uint64_t qos, double factor)
{
    struct tariffs *tariffs = tariffs_under(charge, WEIGHTS_SUM);
    tariffs_add_tres(tariffs, gpu, "gres", "gpu");
    tariffs_add_qos(tariffs, qos, "other", 5, factor);
    uint64_t hash = tariffs_hash(tariffs, UINT64_MAX);
    tariffs_destroy(tariffs);
    return hash;
}

static void hashes(void)
{
    uint64_t usual = hash_with(CHARGE_TRES, 1001, 12, 1);
    ok(usual && usual == hash_with(CHARGE_TRES, 1001, 13, 1) &&
           usual == hash_with(CHARGE_TRES, 1001, 13, -1),
       "a QOS without a factor of its own changes no price");
    ok(usual != hash_with(CHARGE_TRES, 1001, 12, 2) &&
           hash_with(CHARGE_TRES, 1001, 12, 2) != hash_with(CHARGE_TRES, 1001, 13, 2) &&
           hash_with(CHARGE_TRES, 1001, 12, 2) != hash_with(CHARGE_TRES, 1001, 12, 3),
       "one that has one does");
    ok(usual != hash_with(CHARGE_TRES, 900, 12, 1), "as does another id of a TRES");
    ok(hash_with(CHARGE_BILLING, 1001, 12, 1) == hash_with(CHARGE_BILLING, 900, 12, 1),
       "unless billing is charged");
}

int main(void)
{
    prices_of_doubles();
    products();
    factors();
    weights();
    weights_of_partitions();
    hashes();
    return done_testing();
}
