/* SPDX-License-Identifier: MIT */
#include "core/fairshare/level_order.h"

#include <math.h>
#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "util/memory.h"

/* Quotients that differ by less than this fraction count as tied.  The error of a quotient is below
 * 2^-51. */
#define LEVEL_ORDER_CLOSE 1e-12
#define LEVEL_ORDER_NO_MEMBER (-1.0)

struct level_order_entry {
    double quotient; /* usage divided by shares, or LEVEL_ORDER_NO_MEMBER; the lowest is first */
    uint32_t node;
    uint32_t users_before; /* users below the entries before this one */
};

struct level_orders {
    const struct tree *tree;
    struct level_order_entry *entries; /* in the order of tree->children, but sorted by level */
    bool slurmctld;                    /* slurmctld's rules apply */
    bool unknown;                      /* places cannot be found in this way */
};

/* Members without users cannot be tied with others, except under slurmctld's rules. */
static double level_order_quotient(const struct level_orders *orders, uint32_t node,
                                   const struct wide *usage)
{
    const struct node *member = &orders->tree->nodes[node];
    bool parent_shares = node_has_parent_shares(member);
    if (!member->is_user && (parent_shares || (!member->users_below && !orders->slurmctld)))
        return LEVEL_ORDER_NO_MEMBER;
    if (parent_shares)
        return 0;
    if (!member->shares)
        return INFINITY;
    struct natural number = natural_of_wide(usage);
    return number.length ? floating_to_double(natural_top(&number)) / member->shares : 0;
}

static int level_order_compare(const void *a, const void *b)
{
    const struct level_order_entry *one = a, *other = b;
    return (one->quotient > other->quotient) - (one->quotient < other->quotient);
}

static void level_order_sort(struct level_orders *orders, const struct node *account)
{
    const struct tree *tree = orders->tree;
    struct level_order_entry *entries = orders->entries + account->first_child;
    for (uint32_t i = 0; i < account->child_count; i++) {
        uint32_t child = tree->children[account->first_child + i];
        entries[i].node = child;
        entries[i].quotient = level_order_quotient(orders, child, &tree->nodes[child].usage);
    }
    qsort(entries, account->child_count, sizeof *entries, level_order_compare);
    for (uint32_t i = 0, users = 0; i < account->child_count; i++) {
        const struct node *member = &tree->nodes[entries[i].node];
        entries[i].users_before = users;
        users += member->is_user ? 1 : member->users_below;
    }
}

struct level_orders *level_orders_create(const struct tree *tree,
                                         const struct fairshare_options *options)
{
    struct level_orders *orders = memory_zeroed(1, sizeof *orders);
    orders->tree = tree;
    orders->slurmctld = options->conformance == CONFORMANCE_SLURMCTLD;
    orders->entries = memory_zeroed(tree->count, sizeof *orders->entries);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        /* slurmctld ranks an account with `parent` shares as a member of its level. */
        orders->unknown |= orders->slurmctld && !node->is_user && node_has_parent_shares(node);
        if (!node->is_user)
            level_order_sort(orders, node);
    }
    return orders;
}

void level_orders_destroy(struct level_orders *orders)
{
    if (orders)
        free(orders->entries);
    free(orders);
}

/* Returns the index of the first of `count` entries with a quotient of at least `quotient`, or
 * above it if `above`. */
static uint32_t level_order_search(const struct level_order_entry *entries, uint32_t count,
                                   double quotient, bool above)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double found = entries[middle].quotient;
        if (above ? found <= quotient : found < quotient)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts the users of other members that rank higher than the member if its usage is lower by
 * `less`.  Returns false if the quotient of another member is close. */
static bool level_order_count(const struct level_orders *orders, uint32_t member,
                              const struct wide *less, uint32_t *ahead)
{
    const struct tree *tree = orders->tree;
    const struct node *node = &tree->nodes[member], *account = &tree->nodes[node->fairshare_parent];
    const struct level_order_entry *entries = orders->entries + account->first_child;
    struct wide usage = node->usage;
    double before = level_order_quotient(orders, member, &usage);
    if (!wide_subtract(&usage, less) || wide_is_negative(&usage))
        return false;
    double quotient = level_order_quotient(orders, member, &usage);
    double close_above = quotient * (1 + LEVEL_ORDER_CLOSE);
    uint32_t from = level_order_search(entries, account->child_count,
                                       quotient * (1 - LEVEL_ORDER_CLOSE), false);
    uint32_t to = level_order_search(entries, account->child_count, close_above, true);
    if (to - from != (before <= close_above))
        return false;
    *ahead += entries[from].users_before;
    return true;
}

uint32_t level_orders_place(const struct level_orders *orders, uint32_t user,
                            const struct wide *less)
{
    uint32_t ahead = 0;
    if (orders->unknown)
        return 0;
    for (uint32_t at = user; at; at = orders->tree->nodes[at].fairshare_parent)
        if (!level_order_count(orders, at, less, &ahead))
            return 0;
    return ahead + 1;
}
