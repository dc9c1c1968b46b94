/* SPDX-License-Identifier: MIT */
#include "report/pbs_forms.h"

#include <inttypes.h>

#include "core/fairshare/pbs.h"
#include "core/tree/tree.h"
#include "core/usage/clock.h"
#include "report/forms.h"
#include "report/shares.h"
#include "util/index.h"
#include "util/text.h"

#define INDENT 5
#define DEEPEST_INDENT 40u
#define NAME_WIDTH 10

static const struct node *node_of(const struct pbs_tree *tree, uint32_t i)
{
    return &tree->fairshare.tree->nodes[i];
}

static void add_name(struct text *text, const struct pbs_tree *tree, uint32_t i)
{
    const struct node *node = node_of(tree, i);
    text_add_printable(text, names_text(tree->names, node->is_user ? node->user : node->account));
}

static double usage_of(const struct pbs_tree *tree, uint32_t i)
{
    return clock_usage(tree->fairshare.options->clock, &tree->usage[i]);
}

static void add_way(struct text *text, const struct pbs_tree *tree, uint32_t node)
{
    struct path path = path_to(tree->fairshare.tree, node, false);
    text_add(text, "Path from root: \n");
    for (uint32_t at = 0; at < path.count; at++) {
        uint32_t i = path.nodes[at];
        double usage = usage_of(tree, i), target = tree->fairshare.values[i].shares_norm;
        struct text name = { 0 };
        text_add(&name, "");
        add_name(&name, tree, i);
        form_add_padded(text, name.bytes, NAME_WIDTH, true);
        text_format(text, ": %5" PRIu32 " %10.0f / %5.3f = %.0f\n", node_of(tree, i)->id, usage,
                    target, pbs_quotient(usage, target));
        text_free(&name);
    }
    path_free(&path);
}

void pbs_add_entity(struct text *text, const struct pbs_tree *tree, uint32_t i)
{
    const struct node *node = node_of(tree, i);
    const struct values *values = &tree->fairshare.values[i];
    bool shares = i && !node_has_parent_shares(node);
    int64_t group = i ? (int64_t)node_of(tree, node->parent)->id : -1;
    double usage = usage_of(tree, i);
    text_add(text, "fairshare entity: ");
    add_name(text, tree, i);
    text_format(text, "\nResgroup\t\t: %" PRId64 "\ncresgroup\t\t: %" PRIu32, group, node->id);
    text_format(text, "\nShares\t\t\t: %" PRId32 "\nPercentage\t\t: %f%%",
                shares ? node->shares : -1, values->shares_norm * 100);
    text_format(text, "\nfairshare_tree_usage\t: %f", values->pbs_tree_usage);
    text_format(text, "\nusage\t\t\t: %.0f (TRES-seconds)\nusage/perc\t\t: %.0f\n", usage,
                pbs_quotient(usage, values->shares_norm));
    add_way(text, tree, i);
}

void pbs_add_winner(struct text *text, const struct pbs_tree *tree, uint32_t one, uint32_t other)
{
    int order = pbs_compare(&tree->fairshare, tree->usage, one, other);
    if (order <= 0)
        add_name(text, tree, one);
    text_add(text, order ? "" : " == ");
    if (order >= 0)
        add_name(text, tree, other);
    text_add(text, "\n");
}

void pbs_add_tree(struct text *text, const struct share_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct share_row *row = &list->rows[i];
        if (!row->shown)
            continue;
        uint32_t depth = row->depth < DEEPEST_INDENT ? row->depth : DEEPEST_INDENT;
        text_format(text, "%*s", depth ? INDENT * (int)depth : 1, "");
        text_add_printable(text, *row->user ? row->user : row->account);
        text_format(text, "(%" PRId64 ")\n", row->id);
    }
}
