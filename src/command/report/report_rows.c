/* SPDX-License-Identifier: MIT */
#include "command/report/report_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/insight/standing.h"
#include "report/page/cluster.h"
#include "results/published.h"
#include "results/published_find.h"
#include "util/index.h"
#include "util/memory.h"

static struct page_row report_row_of(const struct published_cluster *published, uint32_t node)
{
    const struct node *association = &published->tree->nodes[node];
    const struct values *values = &published->values[node];
    struct association_name name = published_name(published, node);
    double whole = published->values[0].usage_raw;
    bool own = !node_has_parent_shares(association);
    double share = !own ? NAN : node ? values->shares_norm : 1;
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
        .factor = published->algorithm->factor(values),
    };
}

/* Sets the places and the levels of the rows.  The numbers include hidden users. */
static void report_rows_add_standings(struct page_cluster *cluster,
                                      const struct report_nodes *nodes,
                                      const struct published_cluster *published)
{
    const struct tree *tree = published->tree;
    struct standings *standings =
        standings_create(tree, published->algorithm, published->values, published->order);
    cluster->users = standings->users;
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        struct page_row *row = &cluster->rows[i];
        uint32_t node = nodes->nodes[i];
        row->place = standing_place(standings, node);
        row->users = standings->below[node].users;
        row->first_place = standings->below[node].first;
        row->last_place = standings->below[node].last;
        row->level = id_index_find(nodes->rows, tree->nodes[standings->owners[node]].id);
        row->level_ratio = standings->ratios[node];
        row->ahead = standings->ahead[node];
    }
    standings_destroy(standings);
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
    uint32_t *rows = memory_zeroed(tree->count, sizeof *rows); /* indexed by node */
    nodes->rows = id_index_create();
    nodes->nodes = memory_zeroed(tree->count, sizeof *nodes->nodes);
    cluster->rows = memory_zeroed(tree->count, sizeof *cluster->rows);
    cluster->any_usage = published->values[0].usage_raw > 0;
    for (uint32_t node = 0; node < tree->count; node++) {
        uint32_t row = (uint32_t)cluster->row_count;
        uint32_t parent = node ? rows[tree->nodes[node].parent] : 0;
        bool hidden = report_rows_hides(cluster, permissions, published, node);
        rows[node] = hidden ? parent : row;
        id_index_add(nodes->rows, tree->nodes[node].id, rows[node]);
        if (hidden)
            continue;
        nodes->nodes[row] = node;
        cluster->rows[row] = report_row_of(published, node);
        cluster->rows[row].parent = parent;
        if (node && !cluster->rows[parent].children++)
            cluster->rows[parent].first_child = row;
        cluster->row_count++;
    }
    free(rows);
    report_rows_add_standings(cluster, nodes, published);
}

void report_nodes_free(struct report_nodes *nodes)
{
    id_index_destroy(nodes->rows);
    free(nodes->nodes);
}
