/* SPDX-License-Identifier: MIT */
#include "core/insight/waits.h"

#include <math.h>
#include <stdlib.h>

typedef __int128 int128;

static const int64_t wait_bounds[WAIT_BUCKETS] = { 60,    300,   900,    3600,           14400,
                                                   43200, 86400, 259200, WAIT_LONGEST_S, -1 };

size_t wait_bucket_at(int64_t bound_s)
{
    size_t i = 0;
    while (i < WAIT_BUCKETS && wait_bounds[i] != bound_s)
        i++;
    return i;
}

size_t wait_bucket_of(uint64_t seconds)
{
    size_t i = 0;
    while (i + 1 < WAIT_BUCKETS && seconds > (uint64_t)wait_bounds[i])
        i++;
    return i;
}

int64_t wait_bucket_bound(size_t bucket)
{
    return wait_bounds[bucket];
}

uint64_t wait_counts_sum(const struct wait_counts *counts)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < WAIT_BUCKETS; i++)
        sum += counts->jobs[i];
    return sum;
}

double wait_quantile(const struct wait_counts *counts, double quantile)
{
    uint64_t all = wait_counts_sum(counts), below = 0;
    double rank = quantile * (double)all;
    size_t i = 0;
    if (!all)
        return NAN;
    while (i + 1 < WAIT_BUCKETS && (!counts->jobs[i] || (double)(below + counts->jobs[i]) < rank))
        below += counts->jobs[i++];
    if (i + 1 == WAIT_BUCKETS)
        return INFINITY;
    double from = i ? (double)wait_bounds[i - 1] : 0, to = (double)wait_bounds[i];
    return from + (to - from) * (rank - (double)below) / (double)counts->jobs[i];
}

static int wait_by_factor(const void *a, const void *b)
{
    const struct wait_observation *one = a, *other = b;
    return (one->factor > other->factor) - (one->factor < other->factor);
}

/* The sums for Spearman's coefficient.  Ranks are doubled, so that mean ranks are integers. */
struct wait_sums {
    int128 products, factor_squares, bucket_squares;
};

/* Returns twice the mean rank of `jobs` tied jobs that come after `before` jobs. */
static uint64_t wait_mean_rank(uint64_t before, uint64_t jobs)
{
    return 2 * before + jobs + 1;
}

/* Adds the observations from `from` to `end`, which have the same factor. */
static void wait_add_tied(struct wait_sums *sums, const struct wait_observation *from,
                          const struct wait_observation *end, uint64_t before,
                          const uint64_t bucket_ranks[WAIT_BUCKETS])
{
    uint64_t jobs = 0;
    for (const struct wait_observation *at = from; at < end; at++)
        jobs += at->jobs;
    uint64_t rank = wait_mean_rank(before, jobs);
    sums->factor_squares += (int128)rank * rank * jobs;
    for (const struct wait_observation *at = from; at < end; at++)
        sums->products += (int128)rank * bucket_ranks[at->bucket] * at->jobs;
}

double wait_correlation(struct wait_observation *observations, size_t count)
{
    struct wait_sums sums = { 0 };
    struct wait_counts counts = { 0 };
    uint64_t bucket_ranks[WAIT_BUCKETS], before = 0;
    for (size_t i = 0; i < count; i++)
        counts.jobs[observations[i].bucket] += observations[i].jobs;
    uint64_t all = wait_counts_sum(&counts);
    /* A larger number could exceed the range of the sums. */
    if (all < WAIT_CORRELATED_JOBS || all > UINT64_C(1) << 31)
        return NAN;
    for (size_t i = 0; i < WAIT_BUCKETS; before += counts.jobs[i++]) {
        bucket_ranks[i] = wait_mean_rank(before, counts.jobs[i]);
        sums.bucket_squares += (int128)bucket_ranks[i] * bucket_ranks[i] * counts.jobs[i];
    }
    qsort(observations, count, sizeof *observations, wait_by_factor);
    before = 0;
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t jobs = 0;
        for (end = i; end < count && observations[end].factor == observations[i].factor; end++)
            jobs += observations[end].jobs;
        wait_add_tied(&sums, observations + i, observations + end, before, bucket_ranks);
        before += jobs;
    }
    int128 n = all, mean = n * (n + 1); /* n times twice the mean of all ranks */
    double x = (double)(n * sums.factor_squares - mean * mean);
    double y = (double)(n * sums.bucket_squares - mean * mean);
    double product = (double)(n * sums.products - mean * mean);
    return x > 0 && y > 0 ? fmax(-1, fmin(1, product / sqrt(x * y))) : NAN;
}

enum wait_relation wait_relation_of(double correlation)
{
    return isnan(correlation)    ? WAIT_RELATION_UNKNOWN
           : correlation <= -0.1 ? WAIT_RELATION_LESS
           : correlation < 0.1   ? WAIT_RELATION_NONE
                                 : WAIT_RELATION_LONGER;
}
