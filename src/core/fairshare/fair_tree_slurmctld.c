/* SPDX-License-Identifier: MIT */
#include "core/fairshare/fair_tree_slurmctld.h"

#include <stdlib.h>

#include "core/fairshare/algorithm.h"
#include "core/number/floating.h"
#include "core/usage/decay_table.h"
#include "util/memory.h"

/*
 * Fair Tree as a running slurmctld computes it, from the output of sshare:
 *
 *   - LF is an x86 long double, computed from S as a double.  Ties are ties of that format.
 *   - Tied accounts are not merged.  They are visited one after the other, in `lineage` order
 *     (`lft` in older releases).  The first child of the second account is treated as tied with the
 *     previous user.
 *   - An account with `parent` shares is a member of its list with LF 4294967294, without its
 *     children.
 */

#define NO_VALUE 4294967294.0

struct slurmctld_order_entry {
    struct extended level_fs;
    uint32_t node;
};

struct slurmctld_order_list {
    uint32_t start, next, end;
    struct extended before; /* LF of the member before `next` */
};

struct slurmctld_order_walk {
    const struct tree *tree;
    struct values *values;
    const struct extended *level_fs; /* indexed by node */
    struct slurmctld_order_entry *entries;
    uint32_t used;
    struct slurmctld_order_list *lists;
    uint32_t depth;
    uint32_t rank, next_rank;
};

static struct extended slurmctld_order_level_fs_of(const struct fairshare *fairshare, uint32_t i)
{
    const struct tree *tree = fairshare->tree;
    const struct node *node = &tree->nodes[i];
    const struct node *parent = &tree->nodes[node->fairshare_parent];
    const struct decay_table *decay = fairshare->options->decay;
    if (node_has_parent_shares(node))
        return node->is_user ? extended_infinite() : extended_of_double(NO_VALUE);
    struct extended shares = extended_of_double(fairshare->values[i].level_shares_norm);
    if (!shares.mantissa)
        return shares;
    /* U is also 0 below an account without usage; such a tree can occur in `explain`. */
    if (wide_is_zero(&node->usage) || wide_is_zero(&parent->usage))
        return extended_infinite();
    struct floating usage = decay_table_usage_floating(decay, &node->usage);
    struct floating above = decay_table_usage_floating(decay, &parent->usage);
    struct extended part =
        extended_quotient(extended_of_floating(usage), extended_of_floating(above));
    return extended_quotient(shares, part);
}

/* slurmctld uses a stable sort on a list in `lineage` order. */
static int slurmctld_order_by_level_fs(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    const struct slurmctld_order_entry *one = a, *other = b;
    const struct node *node = &tree->nodes[one->node], *second = &tree->nodes[other->node];
    int order = extended_compare(other->level_fs, one->level_fs);
    if (order)
        return order;
    if (node->is_user != second->is_user)
        return second->is_user - node->is_user;
    return (node->order > second->order) - (node->order < second->order);
}

static void push_children(struct slurmctld_order_walk *walk, uint32_t account)
{
    const struct node *node = &walk->tree->nodes[account];
    uint32_t start = walk->used;
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t child = walk->tree->children[node->first_child + i];
        walk->entries[walk->used++] =
            (struct slurmctld_order_entry){ walk->level_fs[child], child };
    }
    qsort_r(walk->entries + start, walk->used - start, sizeof *walk->entries,
            slurmctld_order_by_level_fs, (void *)walk->tree);
    walk->lists[walk->depth++] =
        (struct slurmctld_order_list){ start, start, walk->used, extended_of_double(NO_VALUE) };
}

static void slurmctld_order_rank_user(struct slurmctld_order_walk *walk, uint32_t node, bool tied)
{
    if (!tied)
        walk->rank = walk->next_rank;
    walk->next_rank--;
    walk->values[node].fair_tree_rank = walk->rank;
    walk->values[node].fair_tree_factor = walk->rank / (double)walk->tree->user_count;
}

static void walk_tree(struct slurmctld_order_walk *walk)
{
    /* True if the first member of the list on top is tied with the previous member. */
    bool inherited = false;
    push_children(walk, 0);
    while (walk->depth) {
        struct slurmctld_order_list *list = &walk->lists[walk->depth - 1];
        if (list->next == list->end) {
            walk->used = list->start;
            walk->depth--;
            continue;
        }
        const struct slurmctld_order_entry *entry = &walk->entries[list->next];
        bool tied = (list->next == list->start && inherited) ||
                    !extended_compare(list->before, entry->level_fs);
        list->before = entry->level_fs;
        list->next++;
        if (walk->tree->nodes[entry->node].is_user) {
            slurmctld_order_rank_user(walk, entry->node, tied);
        } else {
            inherited = tied;
            push_children(walk, entry->node);
        }
    }
}

void fair_tree_rank_as_slurmctld(struct fairshare *fairshare)
{
    const struct tree *tree = fairshare->tree;
    struct extended *level_fs = memory_zeroed(tree->count, sizeof *level_fs);
    for (uint32_t i = 1; i < tree->count; i++) {
        level_fs[i] = slurmctld_order_level_fs_of(fairshare, i);
        if (!node_has_parent_shares(&tree->nodes[i]))
            fairshare->values[i].level_fs = extended_to_double(level_fs[i]);
    }
    struct slurmctld_order_walk walk = {
        .tree = tree,
        .values = fairshare->values,
        .level_fs = level_fs,
        .entries = memory_zeroed(tree->count, sizeof *walk.entries),
        .lists = memory_zeroed(tree->level_count + 1, sizeof *walk.lists),
        .rank = tree->user_count,
        .next_rank = tree->user_count,
    };
    walk_tree(&walk);
    free(walk.entries);
    free(walk.lists);
    free(level_fs);
}
