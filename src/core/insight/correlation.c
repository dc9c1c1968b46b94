/* SPDX-License-Identifier: MIT */
#include "core/insight/correlation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

typedef __int128 int128;

struct member {
    double a, b;
    uint32_t place;
};

static int compare_reals(double one, double other)
{
    return (one > other) - (one < other);
}

static int by_a_then_b(const void *one, const void *other)
{
    const struct member *first = one, *second = other;
    int order = compare_reals(first->a, second->a);
    return order ? order : compare_reals(first->b, second->b);
}

static struct member *sorted_members(const double *a, const double *b, size_t count)
{
    struct member *members = memory_zeroed(count + 1, sizeof *members);
    for (size_t i = 0; i < count; i++)
        members[i] = (struct member){ a[i], b[i], (uint32_t)i };
    qsort(members, count, sizeof *members, by_a_then_b);
    return members;
}

/* Behind the last member that is tied with the one at `from` in a. */
static size_t end_of_tie(const struct member *members, size_t count, size_t from)
{
    size_t end = from + 1;
    while (end < count && compare_reals(members[end].a, members[from].a) == 0)
        end++;
    return end;
}

void ranks_of(const double *values, size_t count, uint32_t *ranks)
{
    struct member *members = sorted_members(values, values, count);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_tie(members, count, i);
        for (size_t j = i; j < end; j++)
            ranks[members[j].place] = (uint32_t)end;
    }
    free(members);
}

/* Twice the mean ranks, which are whole numbers. */
static uint64_t *mean_ranks(const double *values, size_t count)
{
    uint64_t *ranks = memory_zeroed(count + 1, sizeof *ranks);
    struct member *members = sorted_members(values, values, count);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_tie(members, count, i);
        for (size_t j = i; j < end; j++)
            ranks[members[j].place] = i + 1 + end;
    }
    free(members);
    return ranks;
}

/* covariance / sqrt(x y), which is within -1 and 1 but for what doubles are off.  The root of a
 * rounded square is exact, so that like orders come out as 1 and turned ones as -1. */
static double coefficient_of(double covariance, double x, double y)
{
    return x > 0 && y > 0 ? fmax(-1, fmin(1, covariance / sqrt(x * y))) : NAN;
}

/* In integers, so that like orders come out as 1. */
static double spearman_of(const double *a, const double *b, size_t count)
{
    uint64_t *x = mean_ranks(a, count), *y = mean_ranks(b, count);
    int128 n = (int128)count, sum = n * (n + 1), products = 0, squares_x = 0, squares_y = 0;
    for (size_t i = 0; i < count; i++) {
        products += (int128)x[i] * (int128)y[i];
        squares_x += (int128)x[i] * (int128)x[i];
        squares_y += (int128)y[i] * (int128)y[i];
    }
    free(x);
    free(y);
    /* Both sums are n (n + 1), whatever the ties. */
    return coefficient_of((double)(n * products - sum * sum), (double)(n * squares_x - sum * sum),
                          (double)(n * squares_y - sum * sum));
}

/* Sort by b; how many pairs stood the other way round. */
static uint64_t sort_and_count(struct member *members, struct member *scratch, size_t count)
{
    uint64_t swaps = 0;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = start + 2 * width < count ? start + 2 * width : count;
            for (size_t left = start, right = middle, to = start; to < end; to++) {
                bool later = left == middle ||
                             (right < end && compare_reals(members[right].b, members[left].b) < 0);
                if (later && left < middle)
                    swaps += middle - left;
                scratch[to] = members[later ? right++ : left++];
            }
        }
        memcpy(members, scratch, count * sizeof *members);
    }
    return swaps;
}

static uint64_t pairs_of(uint64_t members)
{
    return members * (members - 1) / 2;
}

/* How many pairs of neighbours are tied in these. */
static uint64_t tied_pairs(const struct member *members, size_t count, bool in_a, bool in_b)
{
    uint64_t pairs = 0, run = 1;
    for (size_t i = 1; i <= count; i++) {
        bool tied = i < count && (!in_a || compare_reals(members[i].a, members[i - 1].a) == 0) &&
                    (!in_b || compare_reals(members[i].b, members[i - 1].b) == 0);
        if (tied) {
            run++;
            continue;
        }
        pairs += pairs_of(run);
        run = 1;
    }
    return pairs;
}

/* By Knight's method, A Computer Method for Calculating Kendall's Tau (1966): n log n. */
static double kendall_of(const double *a, const double *b, size_t count)
{
    if (count < 2)
        return NAN;
    struct member *members = sorted_members(a, b, count);
    struct member *scratch = memory_zeroed(count, sizeof *scratch);
    uint64_t all = pairs_of(count), tied_a = tied_pairs(members, count, true, false);
    uint64_t tied_both = tied_pairs(members, count, true, true);
    uint64_t swaps = sort_and_count(members, scratch, count);
    uint64_t tied_b = tied_pairs(members, count, false, true);
    free(members);
    free(scratch);
    int128 difference =
        (int128)all - (int128)tied_a - (int128)tied_b + (int128)tied_both - 2 * (int128)swaps;
    return coefficient_of((double)difference, (double)(all - tied_a), (double)(all - tied_b));
}

struct correlation correlation_of(const double *a, const double *b, size_t count)
{
    return (struct correlation){ spearman_of(a, b, count), kendall_of(a, b, count) };
}
