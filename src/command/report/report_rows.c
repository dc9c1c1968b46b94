/* SPDX-License-Identifier: MIT */
#include "command/report/report_rows.h"

#include <math.h>
#include <stdlib.h>

#include "results/published.h"
#include "results/published_find.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"

/* The nodes right below each one, by id. */
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

static struct page_row row_of(const struct published_cluster *published, uint32_t node)
{
    const struct node *association = &published->tree->nodes[node];
    const struct values *values = &published->values[node];
    const struct algorithm *algorithm = published->algorithm;
    struct association_name name = published_name(published, node);
    return (struct page_row){
        .id = association->id,
        .account = name.account,
        .user = name.user,
        .partition = name.partition,
        .shares = node_has_parent_shares(association) ? -1 : association->shares,
        .level_share = values->level_shares_norm,
        .level_used = values->level_usage,
        .whole = values->shares_norm,
        .share = algorithm->norm_shares(values),
        .used = algorithm->effective_usage(values),
        .usage = values->usage_raw,
        .factor = algorithm->factor(values),
        .level_fs = algorithm->ranks_users ? values->level_fs : NAN,
        .place = published->order[node],
    };
}

static int by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* From how many associations are ahead to how many users are: who is equal shares a place. */
static void give_places(struct page_cluster *cluster)
{
    uint32_t *orders = memory_zeroed(cluster->row_count, sizeof *orders);
    for (size_t i = 0; i < cluster->row_count; i++)
        if (*cluster->rows[i].user && cluster->rows[i].place && !isnan(cluster->rows[i].factor))
            orders[cluster->users++] = cluster->rows[i].place;
    qsort(orders, cluster->users, sizeof *orders, by_number);
    for (size_t i = 0; i < cluster->row_count; i++) {
        struct page_row *row = &cluster->rows[i];
        uint32_t low = 0, high = cluster->users;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (orders[middle] < row->place)
                low = middle + 1;
            else
                high = middle;
        }
        row->place = *row->user && row->place && !isnan(row->factor) ? low + 1 : 0;
    }
    free(orders);
}

void report_rows_add(struct page_cluster *cluster, const struct published_cluster *published,
                     struct id_index *places)
{
    const struct tree *tree = published->tree;
    struct below below = below_of(tree);
    uint32_t *nodes = memory_zeroed(tree->count, sizeof *nodes);
    cluster->rows = memory_zeroed(tree->count, sizeof *cluster->rows);
    cluster->rows[0] = row_of(published, 0);
    cluster->row_count = 1;
    id_index_add(places, tree->nodes[0].id, 0);
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        cluster->rows[i].first_child = (uint32_t)cluster->row_count;
        for (uint32_t node = below.first[nodes[i]]; node != NO_NODE; node = below.next[node]) {
            bool hidden = cluster->accounts_only && tree->nodes[node].is_user;
            id_index_add(places, tree->nodes[node].id, hidden ? i : (uint32_t)cluster->row_count);
            if (hidden)
                continue;
            nodes[cluster->row_count] = node;
            cluster->rows[cluster->row_count] = row_of(published, node);
            cluster->rows[cluster->row_count++].parent = i;
        }
        cluster->rows[i].children = (uint32_t)cluster->row_count - cluster->rows[i].first_child;
    }
    free(below.first);
    free(below.next);
    free(nodes);
    give_places(cluster);
}

uint32_t report_row_of_account(const struct page_cluster *cluster, const char *asked)
{
    for (uint32_t i = 0; i < cluster->row_count; i++)
        if (!*cluster->rows[i].user && name_is(asked, cluster->rows[i].account))
            return i;
    return INDEX_NONE;
}
