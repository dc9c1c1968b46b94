/* SPDX-License-Identifier: MIT */
#include "core/fairshare/fairshare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/decay_table.h"

/* Each algorithm is defined in its own file. */
extern const struct algorithm fair_tree, depth_oblivious, classic, linear, pbs;
const struct algorithm *const algorithms[] = {
    &fair_tree, &depth_oblivious, &classic, &linear, &pbs, NULL,
};

const struct algorithm *algorithm_named(const char *name)
{
    for (const struct algorithm *const *each = algorithms; *each; each++)
        if (!strcmp((*each)->name, name))
            return *each;
    return NULL;
}

/* Returns 0 without usage, even if the capacity is 0. */
static double part_of_capacity(const struct fairshare *fairshare, double usage)
{
    double capacity = fairshare->options->capacity;
    return usage == 0 && !isnan(capacity) ? 0 : usage / capacity;
}

/*
 * Sets the root's values.  The root has all shares and usage, and no siblings to be compared with.
 */
static void common_of_root(const struct fairshare *fairshare)
{
    const struct node *root = &fairshare->tree->nodes[0];
    double usage = decay_table_usage(fairshare->options->decay, &root->usage);
    fairshare->values[0] = (struct values){
        .shares_norm = 1,
        .usage_raw = usage,
        .usage_norm = wide_is_zero(&root->usage) ? 0 : 1,
        .capacity_usage = part_of_capacity(fairshare, usage),
        .level_shares_norm = NAN,
        .level_usage = NAN,
    };
}

static void fairshare_shares_of(const struct fairshare *fairshare, uint32_t i)
{
    const struct node *node = &fairshare->tree->nodes[i];
    const struct values *above = &fairshare->values[node->fairshare_parent];
    struct values *values = &fairshare->values[i];
    if (node_has_parent_shares(node)) {
        values->shares_norm = above->shares_norm;
        values->level_shares_norm = above->level_shares_norm;
    } else {
        uint64_t shares = level_shares(fairshare, node);
        values->level_shares_norm = shares ? (double)node->shares / (double)shares : 0;
        values->shares_norm = above->shares_norm * values->level_shares_norm;
    }
}

static void common_of(const struct fairshare *fairshare, uint32_t i)
{
    const struct tree *tree = fairshare->tree;
    const struct node *node = &tree->nodes[i];
    struct values *values = &fairshare->values[i];

    values->usage_raw = decay_table_usage(fairshare->options->decay, &node->usage);
    values->usage_norm = wide_quotient(&node->usage, &tree->nodes[0].usage);
    values->capacity_usage = part_of_capacity(fairshare, values->usage_raw);
    values->level_usage = wide_quotient(&node->usage, level_usage(fairshare, node));
    fairshare_shares_of(fairshare, i);
}

static void common_of_all(const struct fairshare *fairshare)
{
    common_of_root(fairshare);
    for (uint32_t i = 1; i < fairshare->tree->count; i++)
        common_of(fairshare, i);
}

void fairshare_compute(const struct tree *tree, const struct fairshare_options *options,
                       struct values *values)
{
    struct fairshare fairshare = { .tree = tree, .options = options, .values = values };
    common_of_all(&fairshare);
    for (const struct algorithm *const *each = algorithms; *each; each++)
        (*each)->compute(&fairshare);
    free(fairshare.ratios);
}

void fairshare_compute_shares(const struct tree *tree, const struct fairshare_options *options,
                              struct values *values)
{
    const struct fairshare fairshare = { .tree = tree, .options = options, .values = values };
    values[0].shares_norm = 1;
    for (uint32_t i = 1; i < tree->count; i++)
        fairshare_shares_of(&fairshare, i);
}

void fairshare_compute_one(const struct tree *tree, const struct fairshare_options *options,
                           const struct algorithm *algorithm, struct values *values)
{
    struct fairshare fairshare = { .tree = tree, .options = options, .values = values };
    common_of_all(&fairshare);
    algorithm->compute(&fairshare);
    free(fairshare.ratios);
}
