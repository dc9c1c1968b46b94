/* SPDX-License-Identifier: MIT */
#include "core/insight/turned.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

struct member {
    uint32_t before, after, number;
};

static int by_before(const void *a, const void *b)
{
    const struct member *one = a, *other = b;
    return (one->before > other->before) - (one->before < other->before);
}

/* How many of those that were added have a place up to this one (Fenwick, 1994). */
static uint32_t sum_to(const uint32_t *sums, uint32_t place)
{
    uint32_t sum = 0;
    for (; place; place &= place - 1)
        sum += sums[place];
    return sum;
}

static void add(uint32_t *sums, uint32_t size, uint32_t place)
{
    for (; place <= size; place += place & -place)
        sums[place]++;
}

/* The members in their order, of those that have a place in both. */
static struct member *sorted_members(const uint32_t *before, const uint32_t *after, size_t count,
                                     size_t *found, uint32_t *last)
{
    struct member *members = memory_zeroed(count + 1, sizeof *members);
    *found = 0;
    *last = 0;
    for (size_t i = 0; i < count; i++) {
        if (!before[i] || !after[i])
            continue;
        members[(*found)++] = (struct member){ before[i], after[i], (uint32_t)i };
        if (after[i] > *last)
            *last = after[i];
    }
    qsort(members, *found, sizeof *members, by_before);
    return members;
}

/* Where members begin, or end, that are equal to one. */
static size_t group_end(const struct member *members, size_t count, size_t from)
{
    size_t end = from;
    while (end < count && members[end].before == members[from].before)
        end++;
    return end;
}

void places_turned(const uint32_t *before, const uint32_t *after, size_t count, uint32_t *turned)
{
    size_t found, begin, end;
    uint32_t last;
    struct member *members = sorted_members(before, after, count, &found, &last);
    uint32_t *sums = memory_zeroed((size_t)last + 1, sizeof *sums);
    memset(turned, 0, count * sizeof *turned);
    /* Those that were ahead and are behind ... */
    for (begin = 0; begin < found; begin = end) {
        end = group_end(members, found, begin);
        for (size_t i = begin; i < end; i++)
            turned[members[i].number] += (uint32_t)begin - sum_to(sums, members[i].after);
        for (size_t i = begin; i < end; i++)
            add(sums, last, members[i].after);
    }
    /* ... and those that were behind and are ahead: what is taken out again is not among them. */
    memset(sums, 0, ((size_t)last + 1) * sizeof *sums);
    for (end = found; end > 0; end = begin) {
        begin = end - 1;
        while (begin && members[begin - 1].before == members[end - 1].before)
            begin--;
        for (size_t i = begin; i < end; i++)
            turned[members[i].number] += sum_to(sums, members[i].after - 1);
        for (size_t i = begin; i < end; i++)
            add(sums, last, members[i].after);
    }
    free(members);
    free(sums);
}
