/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <math.h>

#include "core/insight/correlation.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

struct correlation {
    double spearman, kendall;
};

/* Ranks each value by the number of values that are not above it. */
static struct ordering ordering_of_values(const double *values, size_t count)
{
    uint32_t ranks[200] = { 0 };
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            ranks[i] += values[j] <= values[i];
    return ordering_of(ranks, count);
}

static struct correlation correlation_of(const double *a, const double *b, size_t count)
{
    struct ordering one = ordering_of_values(a, count), other = ordering_of_values(b, count);
    struct correlation found = { spearman_of(&one, &other), kendall_of(&one, &other) };
    ordering_free(&one);
    ordering_free(&other);
    return found;
}

static void orders(void)
{
    const double up[] = { 1, 2, 3, 4, 5 }, down[] = { 50, 40, 30, 20, 10 };
    const double swapped[] = { 1, 2, 3, 5, 4 }, flat[] = { 7, 7, 7, 7, 7 };
    struct correlation same = correlation_of(up, up, 5), discordant = correlation_of(up, down, 5);
    ok(near(same.spearman, 1) && near(same.kendall, 1), "equal orders correlate with 1");
    ok(near(discordant.spearman, -1) && near(discordant.kendall, -1),
       "opposite orders correlate with -1");
    struct correlation pair = correlation_of(up, swapped, 5);
    /* rho = 1 - 6 x 2 / (5 x 24).  Nine of ten pairs agree and one does not, so tau = 8 / 10. */
    ok(near(pair.spearman, 0.9) && near(pair.kendall, 0.8),
       "swapping two members gives rho 0.9 and tau 0.8");
    struct correlation none = correlation_of(up, flat, 5);
    ok(isnan(none.spearman) && isnan(none.kendall),
       "the correlation with a constant is not a number");
    struct correlation lone = correlation_of(up, up, 1), empty = correlation_of(up, up, 0);
    ok(isnan(lone.kendall) && isnan(lone.spearman) && isnan(empty.kendall),
       "the correlation of fewer than two members is not a number");
}

/* The root of a sum of squares is rounded: the root of 24 squared may not be 24. */
static void within_one(void)
{
    double one[200], other[200];
    unsigned within = 0, whole = 0;
    for (size_t count = 2; count <= 200; count++) {
        for (size_t i = 0; i < count; i++) {
            one[i] = (double)(i / 3);
            other[i] = -one[i];
        }
        if (count <= 3)
            continue;
        struct correlation same = correlation_of(one, one, count);
        struct correlation discordant = correlation_of(one, other, count);
        within += fabs(same.spearman) <= 1 && fabs(same.kendall) <= 1 &&
                  fabs(discordant.spearman) <= 1 && fabs(discordant.kendall) <= 1;
        whole += fmin(same.spearman, same.kendall) >= 1 &&
                 fmax(discordant.spearman, discordant.kendall) <= -1;
    }
    ok(within == 197, "no coefficient is outside -1 to 1");
    ok(whole == 197, "equal orders have exactly 1 and opposite orders -1");
}

/* Both orders have ties.  By hand, the mean ranks are 1.5 1.5 3 4 and 1 2.5 2.5 4.  In each
 * order, one of the six pairs is tied.  Four pairs agree. */
static void ties(void)
{
    const double a[] = { 1, 1, 2, 3 }, b[] = { 1, 2, 2, 3 };
    struct correlation tied = correlation_of(a, b, 4);
    ok(near(tied.spearman, 3.75 / 4.5), "Spearman's rho gives tied members their mean rank");
    ok(near(tied.kendall, 0.8), "Kendall's tau-b leaves out tied pairs");
}

/* Kendall's tau-b from its definition, in quadratic time. */
static double slow_kendall(const double *a, const double *b, size_t count)
{
    double sum = 0, untied_a = 0, untied_b = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            int x = (a[i] > a[j]) - (a[i] < a[j]), y = (b[i] > b[j]) - (b[i] < b[j]);
            sum += x * y;
            untied_a += x != 0;
            untied_b += y != 0;
        }
    return sum / sqrt(untied_a * untied_b);
}

static void pairs(void)
{
    double a[50], b[50];
    unsigned alike = 0;
    uint64_t state = 3;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < 50; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            a[i] = (double)(state >> 33) / (double)(1 << 28) * (1 + round % 5);
            b[i] = round % 2 ? floor(a[i]) : floor((double)(state >> 40 & 31) - a[i]);
            a[i] = round % 3 ? a[i] : floor(a[i]);
        }
        alike += near(correlation_of(a, b, 50).kendall, slow_kendall(a, b, 50));
    }
    is_int(alike, 200, "tau-b equals the pair-by-pair result for random members");
}

int main(void)
{
    orders();
    within_one();
    ties();
    pairs();
    return done_testing();
}
