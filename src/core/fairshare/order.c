/* SPDX-License-Identifier: MIT */
#include "core/fairshare/order.h"

#include <stdlib.h>

#include "core/number/floating.h"

static int by_value(const void *a, const void *b, void *context)
{
    const struct contest *contest = context;
    const struct contender *one = a, *other = b;
    int order = floating_compare(one->value, other->value);
    if (order)
        return contest->higher_is_ahead ? -order : order;
    return (one->node > other->node) - (one->node < other->node);
}

static int by_integers(const void *a, const void *b, void *context)
{
    const struct contest *contest = context;
    const struct contender *one = a, *other = b;
    int order = contest->compare(contest->context, one->node, other->node);
    return order ? order : (one->node > other->node) - (one->node < other->node);
}

/* Behind the last one that is near the one before it. */
static uint32_t end_of_cluster(const struct contest *contest, uint32_t from)
{
    uint32_t end = from + 1;
    while (end < contest->count &&
           (contest->unknown || floating_is_near(contest->list[end - 1].value,
                                                 contest->list[end].value, contest->units)))
        end++;
    return end;
}

/* Number those of a cluster.  Nearly always all are equal, so that each is only compared with the
 * one before it. */
static void decide_cluster(struct contest *contest, uint32_t from, uint32_t end, uint32_t *order)
{
    struct contender *list = contest->list;
    bool sorted = false;
    for (uint32_t i = from, ahead = from; i < end; i++) {
        int side =
            i == from ? 0 : contest->compare(contest->context, list[i - 1].node, list[i].node);
        if (side > 0 && !sorted) {
            qsort_r(list + from, end - from, sizeof *list, by_integers, contest);
            sorted = true;
            i = ahead = from;
        } else if (side) {
            ahead = i;
        }
        order[list[i].node] = ahead + 1;
    }
}

void contest_decide(struct contest *contest, const struct tree *tree, uint32_t *order)
{
    for (uint32_t i = 1; i < tree->count; i++)
        order[i] = contest->count + 1;
    qsort_r(contest->list, contest->count, sizeof *contest->list, by_value, contest);
    for (uint32_t from = 0, end; from < contest->count; from = end) {
        end = end_of_cluster(contest, from);
        decide_cluster(contest, from, end, order);
    }
}
