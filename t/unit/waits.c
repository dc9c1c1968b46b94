/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "core/insight/waits.h"

/*
 * Tests statistics of waiting times.  The expected correlations were computed in Python from one
 * observation for each job, as Pearson's coefficient of average ranks in exact fractions.  The
 * quantiles follow bucketQuantile() of Prometheus (promql/quantile.go).
 */

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void quantiles(void)
{
    const struct wait_counts none = { { 0 } }, first = { { 10 } };
    const struct wait_counts mixed = { { 3, 5, 0, 8, 4 } }, late = { { 1, [9] = 9 } };
    const struct wait_counts days = { { [7] = 7, [8] = 13, [9] = 2 } };
    const struct wait_counts apart = { { 5, [8] = 5 } };
    ok(isnan(wait_quantile(&none, 0.5)), "without jobs, there is no quantile");
    is_close(wait_quantile(&first, 0.5), 30, 0, "the lowest bucket begins at 0");
    is_close(wait_quantile(&mixed, 0.5), 1575, 1e-12, "a quantile is interpolated in its bucket");
    is_close(wait_quantile(&mixed, 0.9), 9000, 1e-12, "each bucket has its own width");
    ok(isinf(wait_quantile(&late, 0.5)), "the highest bucket has no upper bound");
    is_close(wait_quantile(&days, 0.5), 365538.4615384615, 1e-12,
             "the bucket before the highest is interpolated");
    is_close(wait_quantile(&days, 0.9), 599483.0769230769, 1e-12,
             "jobs in the highest bucket count");
    is_close(wait_quantile(&apart, 0.5), 60, 0,
             "a quantile between two buckets is in the lower one");
    is_int((long long)wait_counts_sum(&mixed), 20, "the sum has the jobs of all buckets");
}

static void bounds(void)
{
    is_int((long long)wait_bucket_at(60), 0, "the first bucket ends at a minute");
    is_int((long long)wait_bucket_at(604800), 8, "the highest bound is seven days");
    is_int((long long)wait_bucket_at(-1), 9, "-1 is the bucket without a bound");
    is_int((long long)wait_bucket_at(61), WAIT_BUCKETS, "other bounds are not buckets");
}

static void correlations(void)
{
    struct wait_observation fair[] = { { 0.9, 0, 5 }, { 0.5, 3, 4 }, { 0.1, 6, 3 } };
    struct wait_observation unfair[] = { { 0.9, 6, 5 }, { 0.5, 3, 4 }, { 0.1, 0, 3 } };
    struct wait_observation ties[] = { { 0.2, 0, 7 }, { 0.2, 4, 3 }, { 0.7, 0, 5 },
                                       { 0.7, 2, 1 }, { 0.9, 9, 2 }, { 0.1, 5, 4 } };
    struct wait_observation even[] = { { 0.3, 1, 4 }, { 0.6, 1, 2 }, { 0.3, 2, 2 },
                                       { 0.6, 2, 1 }, { 0.6, 3, 1 }, { 0.3, 3, 2 } };
    struct wait_observation few[] = { { 0.9, 0, 5 }, { 0.1, 6, 4 } };
    struct wait_observation flat[] = { { 0.9, 2, 50 }, { 0.1, 2, 40 } };
    struct wait_observation same[] = { { 0.9, 2, 50 }, { 0.9, 3, 40 } };
    struct wait_observation many[] = { { 0.1, 9, 1000000000 }, { 0.9, 0, 1000000000 } };
    struct wait_observation more[] = { { 0.1, 9, 2000000000 }, { 0.9, 0, 2000000000 } };
    is_close(wait_correlation(fair, COUNT(fair)), -1, 0, "the reversed order has -1");
    is_close(wait_correlation(unfair, COUNT(unfair)), 1, 0, "the same order has 1");
    is_close(wait_correlation(ties, COUNT(ties)), -0.19018292442007856, 1e-12,
             "tied jobs share their mean rank");
    is_close(wait_correlation(even, COUNT(even)), 0, 1e-12, "independent values have 0");
    ok(isnan(wait_correlation(few, COUNT(few))), "nine jobs have no correlation");
    ok(isnan(wait_correlation(flat, COUNT(flat))), "equal waiting times have no correlation");
    ok(isnan(wait_correlation(same, COUNT(same))), "equal factors have no correlation");
    ok(isnan(wait_correlation(NULL, 0)), "no jobs have no correlation");
    is_close(wait_correlation(many, COUNT(many)), -1, 0, "two billion jobs do not overflow");
    ok(isnan(wait_correlation(more, COUNT(more))), "more jobs than 2^31 have no correlation");
}

static void relations(void)
{
    is_int(wait_relation_of(-0.1), WAIT_RELATION_LESS, "-0.1 means that jobs waited less");
    is_int(wait_relation_of(-0.09), WAIT_RELATION_NONE, "-0.09 means no relation");
    is_int(wait_relation_of(0.09), WAIT_RELATION_NONE, "0.09 means no relation");
    is_int(wait_relation_of(0.1), WAIT_RELATION_LONGER, "0.1 means that jobs waited longer");
    is_int(wait_relation_of(NAN), WAIT_RELATION_UNKNOWN, "an unknown correlation means nothing");
}

int main(void)
{
    quantiles();
    bounds();
    correlations();
    relations();
    return done_testing();
}
