/* SPDX-License-Identifier: MIT */
#include "core/insight/correlation.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

typedef __int128 int128;

struct correlation_member {
    uint32_t rank, place;
};

static int by_rank(const void *one, const void *other)
{
    const struct correlation_member *first = one, *second = other;
    int order = (first->rank > second->rank) - (first->rank < second->rank);
    return order ? order : (first->place > second->place) - (first->place < second->place);
}

/* Returns the index after the last member that is tied with the member at `from`. */
static size_t end_of_ranks(const struct correlation_member *members, size_t count, size_t from)
{
    size_t end = from + 1;
    while (end < count && members[end].rank == members[from].rank)
        end++;
    return end;
}

struct ordering ordering_of(const uint32_t *ranks, size_t count)
{
    struct ordering ordering = { memory_zeroed(count + 1, sizeof *ordering.members),
                                 memory_zeroed(count + 1, sizeof *ordering.means), count };
    struct correlation_member *members = memory_zeroed(count + 1, sizeof *members);
    for (size_t i = 0; i < count; i++)
        members[i] = (struct correlation_member){ ranks[i], (uint32_t)i };
    qsort(members, count, sizeof *members, by_rank);
    for (size_t i = 0, end; i < count; i = end) {
        end = end_of_ranks(members, count, i);
        for (size_t j = i; j < end; j++) {
            ordering.members[j] = members[j].place;
            ordering.means[members[j].place] = (uint32_t)(i + 1 + end);
        }
    }
    free(members);
    return ordering;
}

void ordering_free(struct ordering *ordering)
{
    free(ordering->members);
    free(ordering->means);
    *ordering = (struct ordering){ 0 };
}

/* Returns, in a finished ordering, the index after the last member that is tied with the member at
 * `from`. */
static size_t end_of_tie(const struct ordering *ordering, size_t from)
{
    size_t end = from + 1;
    while (end < ordering->count &&
           ordering->means[ordering->members[end]] == ordering->means[ordering->members[from]])
        end++;
    return end;
}

/* Returns covariance / sqrt(x * y), limited to -1..1 because of rounding errors.  The square root
 * of a rounded square is exact, so equal orders give 1 and reversed orders give -1. */
static double coefficient_of(double covariance, double x, double y)
{
    return x > 0 && y > 0 ? fmax(-1, fmin(1, covariance / sqrt(x * y))) : NAN;
}

/* Computes in integers, so that equal orders give exactly 1. */
double spearman_of(const struct ordering *a, const struct ordering *b)
{
    int128 n = (int128)a->count, sum = n * (n + 1), products = 0, squares_a = 0, squares_b = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t x = a->means[i], y = b->means[i];
        products += (int128)(x * y);
        squares_a += (int128)(x * x);
        squares_b += (int128)(y * y);
    }
    /* The sum of the doubled mean ranks is n * (n + 1) in both orderings, with or without ties. */
    return coefficient_of((double)(n * products - sum * sum), (double)(n * squares_a - sum * sum),
                          (double)(n * squares_b - sum * sum));
}

/* Sorts by merging.  Returns the number of pairs that were in the wrong order.  `scratch` has room
 * for `count` elements. */
static uint64_t sort_and_count(uint32_t *ranks, uint32_t *scratch, size_t count)
{
    uint64_t swaps = 0;
    uint32_t *from = ranks, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = start + width < count ? start + width : count;
            size_t end = start + 2 * width < count ? start + 2 * width : count;
            size_t left = start, right = middle, at = start;
            while (left < middle && right < end) {
                bool later = from[right] < from[left];
                swaps += later ? middle - left : 0;
                to[at++] = later ? from[right++] : from[left++];
            }
            memcpy(to + at, from + left, (middle - left) * sizeof *to);
            memcpy(to + at + (middle - left), from + right, (end - right) * sizeof *to);
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    return swaps;
}

static int correlation_by_number(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

static uint64_t pairs_of(uint64_t members)
{
    return members * (members - 1) / 2;
}

static uint64_t tied_pairs(const struct ordering *ordering)
{
    uint64_t pairs = 0;
    for (size_t i = 0, end; i < ordering->count; i = end) {
        end = end_of_tie(ordering, i);
        pairs += pairs_of(end - i);
    }
    return pairs;
}

/* Sets `ranks` to the mean ranks of b, sorted by a and, within ties of a, by b.  Returns the number
 * of pairs that are tied in both. */
static uint64_t order_by_both(const struct ordering *a, const struct ordering *b, uint32_t *ranks)
{
    uint64_t tied = 0;
    for (size_t i = 0, end; i < a->count; i = end) {
        end = end_of_tie(a, i);
        for (size_t j = i; j < end; j++)
            ranks[j] = b->means[a->members[j]];
        if (end - i > 1)
            qsort(ranks + i, end - i, sizeof *ranks, correlation_by_number);
        for (size_t j = i, begin = i; j < end; j++) {
            begin = ranks[j] == ranks[begin] ? begin : j;
            tied += j - begin;
        }
    }
    return tied;
}

/* Uses Knight's method, A Computer Method for Calculating Kendall's Tau (1966), in n log n time. */
double kendall_of(const struct ordering *a, const struct ordering *b)
{
    if (a->count < 2)
        return NAN;
    uint32_t *ranks = memory_zeroed(a->count, sizeof *ranks);
    uint32_t *scratch = memory_zeroed(a->count, sizeof *scratch);
    uint64_t all = pairs_of(a->count), tied_a = tied_pairs(a), tied_b = tied_pairs(b);
    uint64_t tied_both = order_by_both(a, b, ranks);
    uint64_t swaps = sort_and_count(ranks, scratch, a->count);
    free(ranks);
    free(scratch);
    int128 difference =
        (int128)all - (int128)tied_a - (int128)tied_b + (int128)tied_both - 2 * (int128)swaps;
    return coefficient_of((double)difference, (double)(all - tied_a), (double)(all - tied_b));
}
