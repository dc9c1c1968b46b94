/* SPDX-License-Identifier: MIT */
#include "report/pbs_forms.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/fairshare/pbs.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "report/column.h"
#include "report/shares.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define INDENT 5
#define DEEPEST_INDENT 40u
#define NAME_WIDTH 10

static const struct node *pbs_forms_node_of(const struct pbs_tree *tree, uint32_t i)
{
    return &tree->fairshare.tree->nodes[i];
}

static uint32_t pbs_forms_number_of(const struct pbs_tree *tree, uint32_t i)
{
    return i || !tree->root_is_zero ? pbs_forms_node_of(tree, i)->id : 0;
}

/* A node with `parent` shares has the percentage of its parent.  Parents come first in the tree. */
static float *percentages_of(const struct fairshare *fairshare)
{
    const struct tree *tree = fairshare->tree;
    float *percentages = memory_zeroed(tree->count, sizeof *percentages);
    percentages[0] = 1;
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        float above = percentages[node->parent];
        uint64_t level = level_shares(fairshare, node);
        if (node_has_parent_shares(node))
            percentages[i] = above;
        else if (level)
            percentages[i] = (float)node->shares / (float)level * above;
    }
    return percentages;
}

void pbs_tree_count(struct pbs_tree *tree)
{
    tree->usage = pbs_usage(&tree->fairshare);
    tree->percentages = percentages_of(&tree->fairshare);
}

void pbs_tree_free(struct pbs_tree *tree)
{
    free(tree->usage);
    free(tree->percentages);
    tree->usage = NULL;
    tree->percentages = NULL;
}

struct pbs_member pbs_tree_member(const struct pbs_tree *tree, uint32_t i)
{
    const struct node *node = pbs_forms_node_of(tree, i);
    return (struct pbs_member){
        .name = names_text(tree->names, node->is_user ? node->user : node->account),
        .group = i ? (int64_t)pbs_forms_number_of(tree, node->parent) : -1,
        .number = pbs_forms_number_of(tree, i),
        .shares = i && !node_has_parent_shares(node) ? node->shares : -1,
        .usage = decay_table_usage(tree->fairshare.options->decay, &tree->usage[i]),
        .percentage = (double)(tree->percentages[i] * 100)
    };
}

static double pbs_forms_quotient_of(const struct pbs_tree *tree, uint32_t i)
{
    return pbs_quotient(pbs_tree_member(tree, i).usage, (double)tree->percentages[i]);
}

static void pbs_forms_add_padded(struct text *text, const struct pbs_member *member)
{
    struct text name = { 0 };
    text_add(&name, "");
    text_add_printable(&name, member->name);
    form_add_padded(text, name.bytes, NAME_WIDTH, true);
    text_free(&name);
}

static void add_way(struct text *text, const struct pbs_tree *tree, uint32_t node)
{
    struct path path = path_to(tree->fairshare.tree, node, false);
    text_add(text, "Path from root: \n");
    for (uint32_t at = 0; at < path.count; at++) {
        uint32_t i = path.nodes[at];
        const struct pbs_member member = pbs_tree_member(tree, i);
        pbs_forms_add_padded(text, &member);
        text_format(text, ": %5" PRIu32 " %10.0f / %5.3f = %.0f\n", member.number, member.usage,
                    (double)tree->percentages[i], pbs_forms_quotient_of(tree, i));
    }
    path_free(&path);
}

void pbs_add_entity(struct text *text, const struct pbs_tree *tree, uint32_t i)
{
    const struct pbs_member member = pbs_tree_member(tree, i);
    text_add(text, "fairshare entity: ");
    text_add_printable(text, member.name);
    text_format(text, "\nResgroup\t\t: %" PRId64 "\ncresgroup\t\t: %" PRIu32, member.group,
                member.number);
    text_format(text, "\nShares\t\t\t: %" PRId32 "\nPercentage\t\t: %f%%", member.shares,
                member.percentage);
    text_format(text, "\nfairshare_tree_usage\t: %f", tree->fairshare.values[i].pbs_tree_usage);
    text_format(text, "\nusage\t\t\t: %.0f (%s)\nusage/perc\t\t: %.0f\n", member.usage, tree->unit,
                pbs_forms_quotient_of(tree, i));
    add_way(text, tree, i);
}

void pbs_add_winner(struct text *text, const struct pbs_tree *tree, uint32_t one, uint32_t other)
{
    int order = pbs_compare(&tree->fairshare, tree->usage, one, other);
    if (order <= 0)
        text_add_printable(text, pbs_tree_member(tree, one).name);
    text_add(text, order ? "" : " == ");
    if (order >= 0)
        text_add_printable(text, pbs_tree_member(tree, other).name);
    text_add(text, "\n");
}

static uint32_t node_of_row(const struct pbs_tree *tree, const struct share_row *row)
{
    return id_index_find(tree->fairshare.tree->places, (uint64_t)row->id);
}

void pbs_add_tree(struct text *text, const struct pbs_tree *tree, const struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct share_row *row = &list->rows[i];
        if (!row->shown)
            continue;
        uint32_t depth = row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT;
        text_format(text, "%*s", depth ? INDENT * (int)depth : 1, "");
        text_add_printable(text, *row->user ? row->user : row->account);
        text_format(text, "(%" PRIu32 ")\n", pbs_forms_number_of(tree, node_of_row(tree, row)));
    }
}

void pbs_add_list(struct text *text, const struct pbs_tree *tree, const struct share_list *list)
{
    text_format(text, "Fairshare usage units are in: %s\n", tree->unit);
    for (size_t at = 0; at < list->count; at++) {
        if (!list->rows[at].shown)
            continue;
        struct pbs_member member = pbs_tree_member(tree, node_of_row(tree, &list->rows[at]));
        pbs_forms_add_padded(text, &member);
        text_format(text, ": Grp: %-5" PRId64 "  cgrp: %-5" PRIu32 "Shares: %-6" PRId32,
                    member.group, member.number, member.shares);
        text_format(text, " Usage: %-6.0f Perc: %6.3f%%\n", member.usage, member.percentage);
    }
}
