/* SPDX-License-Identifier: MIT */
#include "core/tree/tree.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/linking.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

bool node_has_parent_shares(const struct node *node)
{
    return node->shares == SHARES_PARENT;
}

static void add_node(struct tree *tree, struct linking *linking, uint32_t i, uint32_t parent)
{
    const struct association *row = &linking->rows[i];
    struct node *node = &tree->nodes[tree->count];
    *node = (struct node){
        .id = row->id,
        .account = row->account,
        .user = row->user,
        .partition = row->partition,
        .parent = parent,
        .depth = parent == NO_NODE ? 0 : tree->nodes[parent].depth + 1,
        .shares = row->shares,
        .order = row->order,
        .usage_is_set = row->usage_is_set,
        .is_user = !linking_is_account(linking, row),
    };
    linking->node[i] = tree->count++;
    tree->user_count += node->is_user;
}

/*
 * Sets `row_of_node` to the rows of the nodes, level by level from the root, and `parent` to the
 * index of each node's parent.  Returns the number of nodes.
 */
static uint32_t order_rows(const struct linking *linking, uint32_t *row_of_node, uint32_t *parent)
{
    size_t count = linking->count;
    uint32_t *first = memory_zeroed(count + 1, sizeof *first), nodes = 1;
    uint32_t *sorted = memory_zeroed(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        if (linking_is_live_child(linking, i))
            first[linking->parent[i] + 1]++;
    for (size_t i = 0; i < count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < count; i++)
        if (linking_is_live_child(linking, i))
            sorted[first[linking->parent[i]]++] = i;
    /* Now first[p] is the end of the children of p. */
    row_of_node[0] = linking->root;
    parent[0] = NO_NODE;
    for (uint32_t at = 0; at < nodes; at++) {
        uint32_t row = row_of_node[at];
        if (at + PREFETCH_DISTANCE < nodes)
            __builtin_prefetch(&first[row_of_node[at + PREFETCH_DISTANCE]]);
        for (uint32_t i = row ? first[row - 1] : 0; i < first[row]; i++) {
            row_of_node[nodes] = sorted[i];
            parent[nodes++] = at;
        }
    }
    free(first);
    free(sorted);
    return nodes;
}

/* Creates the nodes: parents before children, and the children of one parent next to each other. */
static void lay_out(struct tree *tree, struct linking *linking)
{
    uint32_t *row_of_node = memory_zeroed(linking->count, sizeof *row_of_node);
    uint32_t *parent = memory_zeroed(linking->count, sizeof *parent);
    uint32_t nodes = order_rows(linking, row_of_node, parent);
    for (uint32_t i = 0; i < nodes; i++) {
        if (i + PREFETCH_DISTANCE < nodes) {
            __builtin_prefetch(&linking->rows[row_of_node[i + PREFETCH_DISTANCE]]);
            __builtin_prefetch(&linking->node[row_of_node[i + PREFETCH_DISTANCE]], 1);
        }
        add_node(tree, linking, row_of_node[i], parent[i]);
    }
    free(row_of_node);
    free(parent);
}

/* Maps each id to the node that gets its usage.  Each chain of deleted rows is followed once. */
static void place_ids(struct tree *tree, struct linking *linking)
{
    uint32_t *path = memory_zeroed(linking->count, sizeof *path), of_ids = 0;
    unsigned char *seen = memory_zeroed(linking->count, 1);
    tree->by_id = memory_zeroed(tree->count, sizeof *tree->by_id);
    for (uint32_t i = 0; i < linking->count; i++) {
        size_t length = 0;
        uint32_t at = i;
        if (linking->node[i] != NO_NODE && linking->kind[i] != GONE)
            tree->by_id[of_ids++] = linking->node[i];
        while (linking->node[at] == NO_NODE && linking->kind[at] == GONE && !seen[at]) {
            seen[at] = 1;
            path[length++] = at;
            if (linking->parent[at] >= linking->count)
                break;
            at = linking->parent[at];
        }
        uint32_t node = linking->node[at];
        while (length > 0)
            linking->node[path[--length]] = node;
        if (linking->node[i] != NO_NODE)
            id_index_add(tree->places, linking->rows[i].id, linking->node[i]);
        else if (linking->rows[i].deleted && linking->parent[i] != DUPLICATE)
            linking_note_orphan(linking, &linking->rows[i]);
    }
    free(path);
    free(seen);
}

/* Sets the fairshare parent, the list of fairshare children, `users_below` and `level` of each
 * node.  Creates tree->children and tree->levels, which do not contain usage yet. */
static void link_fairshare(struct tree *tree)
{
    struct node *nodes = tree->nodes;
    nodes[0].fairshare_parent = NO_NODE;
    for (uint32_t i = 0; i < tree->count; i++) {
        struct node *node = &nodes[i];
        node->level = node->is_user ? NO_NODE : tree->level_count++;
        if (i == 0)
            continue;
        uint32_t parent = node->parent;
        if (parent != 0 && node_has_parent_shares(&nodes[parent]))
            parent = nodes[parent].fairshare_parent;
        node->fairshare_parent = parent;
        nodes[parent].child_count++;
    }
    uint32_t place = 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        nodes[i].first_child = place;
        place += nodes[i].child_count;
        nodes[i].child_count = 0;
    }
    tree->children = memory_zeroed(tree->count, sizeof *tree->children);
    for (uint32_t i = 1; i < tree->count; i++) {
        struct node *parent = &nodes[nodes[i].fairshare_parent];
        tree->children[parent->first_child + parent->child_count++] = i;
    }
    for (uint32_t i = tree->count; i-- > 1;)
        nodes[nodes[i].fairshare_parent].users_below += nodes[i].is_user ? 1 : nodes[i].users_below;

    tree->levels = memory_zeroed(tree->level_count, sizeof *tree->levels);
    for (uint32_t i = 1; i < tree->count; i++)
        if (!node_has_parent_shares(&nodes[i]))
            tree->levels[nodes[nodes[i].fairshare_parent].level].shares +=
                (uint64_t)nodes[i].shares;
}

static int tree_place_rows(struct tree *tree, struct linking *linking, struct error *err)
{
    if (linking_link(linking, err))
        return -1;
    lay_out(tree, linking);
    if (linking_check_reached(linking, tree->count, err))
        return -1;
    place_ids(tree, linking);
    return 0;
}

int tree_build(struct tree **built, const struct associations *associations, enum bad_rows bad_rows,
               struct findings *findings, struct error *err)
{
    struct tree *tree = memory_zeroed(1, sizeof *tree);
    tree->nodes = memory_zeroed(associations->count, sizeof *tree->nodes);
    tree->places = id_index_create();
    struct linking linking = linking_of(associations, bad_rows, findings);
    int result = tree_place_rows(tree, &linking, err);
    linking_free(&linking);
    if (result) {
        tree_destroy(tree);
        return -1;
    }
    link_fairshare(tree);
    *built = tree;
    return 0;
}

void tree_destroy(struct tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->by_id);
    free(tree->children);
    free(tree->levels);
    id_index_destroy(tree->places);
    free(tree);
}

uint32_t tree_place(const struct tree *tree, uint64_t id)
{
    return id_index_find(tree->places, id);
}

void tree_mark_below(const struct tree *tree, uint32_t top, bool *below)
{
    for (uint32_t i = 0; i < tree->count; i++)
        below[i] = i == top || (i && below[tree->nodes[i].parent]);
}

bool tree_sum_levels(struct tree *tree)
{
    for (uint32_t i = 0; i < tree->level_count; i++)
        tree->levels[i].usage = tree->levels[i].sharer_usage = (struct wide){ { 0 } };
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        struct level *level = &tree->levels[tree->nodes[node->fairshare_parent].level];
        bool sharer = !node_has_parent_shares(node);
        if ((sharer || node->is_user) && !wide_add(&level->usage, &node->usage))
            return false;
        if (sharer && !wide_add(&level->sharer_usage, &node->usage))
            return false;
    }
    return true;
}

int tree_roll_up_usage(struct tree *tree, struct error *err)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (wide_is_negative(&tree->nodes[i].usage))
            tree->nodes[i].usage = (struct wide){ { 0 } };
    for (uint32_t i = tree->count; i-- > 1;) {
        struct node *node = &tree->nodes[i];
        if (!wide_add(&tree->nodes[node->parent].usage, &node->usage))
            return fail(err, ERROR_DATA, "the usage below association %u is out of range",
                        tree->nodes[node->parent].id);
    }
    if (!tree_sum_levels(tree))
        return fail(err, ERROR_DATA, "the usage of a level is out of range");
    return 0;
}

static uint32_t tree_above(const struct tree *tree, uint32_t node, bool fairshare)
{
    return fairshare ? tree->nodes[node].fairshare_parent : tree->nodes[node].parent;
}

struct path path_to(const struct tree *tree, uint32_t node, bool fairshare)
{
    struct path path = { 0 };
    for (uint32_t at = node; at != NO_NODE; at = tree_above(tree, at, fairshare))
        path.count++;
    path.nodes = memory_zeroed(path.count, sizeof *path.nodes);
    for (uint32_t at = node, i = path.count; i-- > 0; at = tree_above(tree, at, fairshare))
        path.nodes[i] = at;
    return path;
}

void path_free(struct path *path)
{
    free(path->nodes);
}

/* Lineages. */

/*
 * Returns the node's part of its lineage, as slurmdbd forms it: `NAME/` for an account, `0-NAME/`
 * or `0-NAME/PARTITION/` for a user.
 */
static struct text own_lineage(const struct names *names, const struct node *node)
{
    struct text text = { 0 };
    const char *partition = names_text(names, node->partition);
    text_format(&text, "%s%s/%s%s", node->is_user ? "0-" : "",
                names_text(names, node->is_user ? node->user : node->account), partition,
                *partition ? "/" : "");
    return text;
}

struct tree_sibling {
    struct text lineage;
    uint32_t node;
};

static int tree_by_lineage(const void *a, const void *b)
{
    const struct tree_sibling *one = a, *other = b;
    int order = strcmp(one->lineage.bytes, other->lineage.bytes);
    return order ? order : (one->node > other->node) - (one->node < other->node);
}

/* Numbers siblings, and leaves a gap after each sibling for all nodes below it. */
static void order_siblings(struct tree *tree, struct tree_sibling *siblings, uint32_t count,
                           const uint32_t *sizes)
{
    if (!count)
        return;
    uint32_t order = tree->nodes[tree->nodes[siblings[0].node].parent].order + 1;
    qsort(siblings, count, sizeof *siblings, tree_by_lineage);
    for (uint32_t i = 0; i < count; i++) {
        tree->nodes[siblings[i].node].order = order;
        order += sizes[siblings[i].node];
        text_free(&siblings[i].lineage);
    }
}

void tree_order_by_lineage(struct tree *tree, const struct names *names)
{
    uint32_t *sizes = memory_zeroed(tree->count, sizeof *sizes), count = 0;
    struct tree_sibling *siblings = memory_zeroed(tree->count, sizeof *siblings);
    for (uint32_t i = tree->count; i-- > 0;) {
        sizes[i]++;
        if (i)
            sizes[tree->nodes[i].parent] += sizes[i];
    }
    tree->nodes[0].order = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        if (count && tree->nodes[i].parent != tree->nodes[i - 1].parent) {
            order_siblings(tree, siblings, count, sizes);
            count = 0;
        }
        siblings[count++] = (struct tree_sibling){ own_lineage(names, &tree->nodes[i]), i };
    }
    order_siblings(tree, siblings, count, sizes);
    free(siblings);
    free(sizes);
}

uint32_t *tree_places_in_order(const struct tree *tree)
{
    uint32_t *places = memory_zeroed(tree->count, sizeof *places), highest = 0, place = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        highest = tree->nodes[i].order > highest ? tree->nodes[i].order : highest;
    uint32_t *counts = memory_zeroed((size_t)highest + 1, sizeof *counts);
    for (uint32_t i = 0; i < tree->count; i++)
        counts[tree->nodes[i].order]++;
    for (uint32_t order = 0, count; order <= highest; order++, place += count) {
        count = counts[order];
        counts[order] = place;
    }
    for (uint32_t i = 0; i < tree->count; i++)
        places[i] = counts[tree->nodes[i].order];
    free(counts);
    return places;
}
