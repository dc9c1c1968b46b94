/* SPDX-License-Identifier: MIT */
#include "core/insight/usage_lines.h"

#include <stdlib.h>

#include "core/tree/tree.h"
#include "util/memory.h"

static size_t count_of(const struct tree *tree)
{
    return (size_t)tree->count + tree->level_count;
}

/* Where the level's line is that a node is a member of, and whether its usage is in it. */
static size_t level_place(const struct tree *tree, uint32_t node, bool *counts)
{
    const struct node *one = &tree->nodes[node];
    *counts = one->is_user || !node_has_parent_shares(one);
    return (size_t)tree->count + tree->nodes[one->fairshare_parent].level;
}

void usage_lines_begin(struct usage_lines *lines, const struct tree *tree)
{
    *lines = (struct usage_lines){
        .tree = tree,
        .aged = memory_zeroed(count_of(tree), sizeof *lines->aged),
        .rates = memory_zeroed(count_of(tree), sizeof *lines->rates),
        .usable = true,
    };
}

void usage_lines_add_rate(struct usage_lines *lines, uint32_t node, uint128 rate)
{
    lines->rates[node] += rate;
}

/* False where the sum has more than 127 bits. */
static bool add_rate(uint128 *sum, uint128 more)
{
    *sum += more;
    return *sum >= more && !(*sum >> 127);
}

void usage_lines_sum_rates(struct usage_lines *lines)
{
    const struct tree *tree = lines->tree;
    for (uint32_t i = tree->count; i-- > 1;)
        lines->usable &= add_rate(&lines->rates[tree->nodes[i].parent], lines->rates[i]);
    for (uint32_t i = 1; i < tree->count; i++) {
        bool counts;
        size_t level = level_place(tree, i, &counts);
        if (counts)
            lines->usable &= add_rate(&lines->rates[level], lines->rates[i]);
    }
}

void usage_lines_set_aged(struct usage_lines *lines, uint32_t node, const struct wide *own)
{
    lines->aged[node] = *own;
    lines->usable &= !wide_is_negative(own);
}

void usage_lines_sum_aged(struct usage_lines *lines)
{
    const struct tree *tree = lines->tree;
    for (size_t i = 0; i < tree->level_count; i++)
        lines->aged[tree->count + i] = (struct wide){ { 0 } };
    for (uint32_t i = tree->count; i-- > 1;)
        lines->usable &= wide_add(&lines->aged[tree->nodes[i].parent], &lines->aged[i]);
    for (uint32_t i = 1; i < tree->count; i++) {
        bool counts;
        size_t level = level_place(tree, i, &counts);
        if (counts)
            lines->usable &= wide_add(&lines->aged[level], &lines->aged[i]);
    }
}

void usage_lines_free(struct usage_lines *lines)
{
    free(lines->aged);
    free(lines->rates);
    *lines = (struct usage_lines){ 0 };
}

bool usage_lines_fit(const struct usage_lines *lines, uint128 weight)
{
    struct wide all = lines->aged[0];
    return lines->usable && wide_add_product(&all, lines->rates[0], weight, false);
}

static struct wide usage_of(const struct usage_at *at, size_t place)
{
    struct wide usage = at->lines->aged[place];
    wide_add_product(&usage, at->lines->rates[place], at->weight, false);
    return usage;
}

void usage_lines_set(const void *usage_at, uint32_t node)
{
    const struct usage_at *at = usage_at;
    bool counts;
    at->tree->nodes[node].usage = usage_of(at, node);
    size_t level = level_place(at->tree, node, &counts);
    at->tree->levels[level - at->tree->count].usage = usage_of(at, level);
}
