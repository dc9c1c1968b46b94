/* SPDX-License-Identifier: MIT */
#include "command/report/report_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/cluster.h"
#include "results/published.h"
#include "results/published_find.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"

/* The direct children of each node, in ascending order of id. */
struct below {
    uint32_t *first, *next; /* NO_NODE: none */
};

static struct below below_of(const struct tree *tree)
{
    struct below below = { memory_zeroed(tree->count, sizeof(uint32_t)),
                           memory_zeroed(tree->count, sizeof(uint32_t)) };
    for (uint32_t i = 0; i < tree->count; i++)
        below.first[i] = below.next[i] = NO_NODE;
    for (uint32_t i = tree->count; i-- > 0;) {
        uint32_t node = tree->by_id[i];
        if (!node)
            continue;
        uint32_t parent = tree->nodes[node].parent;
        below.next[node] = below.first[parent];
        below.first[parent] = node;
    }
    return below;
}

static struct page_row report_row_of(const struct published_cluster *published, uint32_t node)
{
    const struct node *association = &published->tree->nodes[node];
    const struct values *values = &published->values[node];
    const struct algorithm *algorithm = published->algorithm;
    struct association_name name = published_name(published, node);
    double whole = published->values[0].usage_raw;
    bool own = !node_has_parent_shares(association);
    double share = !own ? NAN : node ? algorithm->norm_shares(values) : 1;
    double used = whole > 0 ? values->usage_raw / whole : 0;
    return (struct page_row){
        .id = association->id,
        .account = name.account,
        .user = name.user,
        .partition = name.partition,
        .own_share = own,
        .share = share,
        .used = used,
        .ratio = !own        ? NAN
                 : share > 0 ? used / share
                             : INFINITY,
        .factor = algorithm->factor(values),
        .place = published->order[node],
        .level_ratio = NAN,
    };
}

/* ---- Users and their places ---- */

static int report_rows_by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Returns, indexed by node, the place of each user among all users.  Tied users share a place. Sets
 * `*users` to their number.  The caller frees the array. */
static uint32_t *report_rows_places(const struct published_cluster *published, uint32_t *users)
{
    const struct tree *tree = published->tree;
    uint32_t *places = memory_zeroed(tree->count, sizeof *places);
    uint32_t *orders = memory_zeroed(tree->count, sizeof *orders), count = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        if (tree->nodes[i].is_user && !isnan(published->algorithm->factor(&published->values[i])))
            places[i] = published->order[i];
    for (uint32_t i = 0; i < tree->count; i++)
        if (places[i])
            orders[count++] = places[i];
    qsort(orders, count, sizeof *orders, report_rows_by_number);
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t low = 0, high = count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (orders[middle] < places[i])
                low = middle + 1;
            else
                high = middle;
        }
        places[i] = places[i] ? low + 1 : 0;
    }
    free(orders);
    *users = count;
    return places;
}

/* Sets the places of the rows, and the numbers and places of the users below them, including hidden
 * users. */
static void report_rows_add_places(struct page_cluster *cluster, const struct report_nodes *nodes,
                                   const struct published_cluster *published)
{
    const struct tree *tree = published->tree;
    uint32_t *places = report_rows_places(published, &cluster->users);
    for (uint32_t i = 0; i < cluster->row_count; i++)
        cluster->rows[i].place = places[nodes->nodes[i]];
    for (uint32_t i = 0; i < tree->count; i++) {
        struct page_row *row = &cluster->rows[id_index_find(nodes->rows, tree->nodes[i].id)];
        if (!places[i])
            continue;
        row->users++;
        if (!row->first_place || places[i] < row->first_place)
            row->first_place = places[i];
        if (places[i] > row->last_place)
            row->last_place = places[i];
    }
    for (size_t i = cluster->row_count; i-- > 1;) {
        const struct page_row *row = &cluster->rows[i];
        struct page_row *parent = &cluster->rows[row->parent];
        parent->users += row->users;
        if (row->first_place && (!parent->first_place || row->first_place < parent->first_place))
            parent->first_place = row->first_place;
        if (row->last_place > parent->last_place)
            parent->last_place = row->last_place;
    }
    free(places);
}

/* ---- Rows ---- */

static bool report_rows_hides(const struct page_cluster *cluster,
                              const struct permissions *permissions,
                              const struct published_cluster *published, uint32_t node)
{
    struct association_name name = published_name(published, node);
    if (!cluster->hides_users || !published->tree->nodes[node].is_user)
        return false;
    return !permissions || !permissions_show(permissions, cluster->name, name.account, name.user);
}

void report_rows_add(struct page_cluster *cluster, struct report_nodes *nodes,
                     const struct published_cluster *published,
                     const struct permissions *permissions)
{
    const struct tree *tree = published->tree;
    struct below below = below_of(tree);
    nodes->rows = id_index_create();
    nodes->nodes = memory_zeroed(tree->count, sizeof *nodes->nodes);
    cluster->rows = memory_zeroed(tree->count, sizeof *cluster->rows);
    cluster->rows[0] = report_row_of(published, 0);
    cluster->row_count = 1;
    cluster->any_usage = published->values[0].usage_raw > 0;
    id_index_add(nodes->rows, tree->nodes[0].id, 0);
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        uint32_t first = (uint32_t)cluster->row_count;
        for (uint32_t node = below.first[nodes->nodes[i]]; node != NO_NODE;
             node = below.next[node]) {
            bool hidden = report_rows_hides(cluster, permissions, published, node);
            uint32_t row = hidden ? i : (uint32_t)cluster->row_count;
            id_index_add(nodes->rows, tree->nodes[node].id, row);
            if (hidden)
                continue;
            nodes->nodes[row] = node;
            cluster->rows[row] = report_row_of(published, node);
            cluster->rows[cluster->row_count++].parent = i;
        }
        cluster->rows[i].first_child = first;
        cluster->rows[i].children = (uint32_t)cluster->row_count - first;
    }
    free(below.first);
    free(below.next);
    report_rows_add_places(cluster, nodes, published);
}

void report_nodes_free(struct report_nodes *nodes)
{
    id_index_destroy(nodes->rows);
    free(nodes->nodes);
}

uint32_t report_row_of_account(const struct page_cluster *cluster, const char *asked)
{
    for (uint32_t i = 0; i < cluster->row_count; i++)
        if (!*cluster->rows[i].user && name_is(asked, cluster->rows[i].account))
            return i;
    return INDEX_NONE;
}
