/* SPDX-License-Identifier: MIT */
#include "command/show/show_pbs.h"

#include <stdlib.h>

#include "command/command.h"
#include "core/fairshare/pbs.h"
#include "core/usage/clock.h"
#include "report/pbs_forms.h"
#include "results/published.h"
#include "results/published_find.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/text.h"

/* pbsfs's tree of a cluster whose own has been read; to be freed. */
static struct pbs_tree tree_of(const struct published_cluster *cluster)
{
    struct pbs_tree tree = { .fairshare = { .tree = cluster->tree,
                                            .options = &cluster->options,
                                            .values = cluster->values },
                             .names = cluster->names,
                             .unit = cluster->usage_unit,
                             .root_is_zero = scheduler_of(cluster->settings)->has_pbsfs };
    pbs_tree_count(&tree);
    return tree;
}

/* What pbsfs reads after it has decayed and written: each entity's usage with its base, times the
 * factor, if that is more than the base; groups are summed again. */
static void decay_tree(const struct published_cluster *cluster, double factor)
{
    struct node *nodes = cluster->tree->nodes;
    struct wide *counted =
        pbs_usage(&(struct fairshare){ .tree = cluster->tree, .options = &cluster->options });
    for (uint32_t i = cluster->tree->count; i-- > 0;) {
        double usage = clock_usage(cluster->clock, &counted[i]) * factor;
        nodes[i].usage = (struct wide){ 0 };
        nodes[i].usage_is_set = true;
        if (nodes[i].is_user && usage > cluster->options.pbs_minimum_usage)
            clock_sum_of(cluster->clock, usage, &nodes[i].usage);
    }
    free(counted);
    for (uint32_t i = cluster->tree->count; i-- > 1;)
        wide_add(&nodes[nodes[i].parent].usage, &nodes[i].usage);
}

int show_pbs_cluster(struct text *text, struct published *published,
                     struct published_cluster *cluster, const struct share_list *shares,
                     const double *decay, struct error *err)
{
    if (!cluster->tree && published_read_tree(published, cluster, err))
        return -1;
    if (decay && *decay < 1)
        decay_tree(cluster, *decay);
    struct pbs_tree tree = tree_of(cluster);
    if (decay)
        pbs_add_list(text, &tree, shares);
    else
        pbs_add_tree(text, &tree, shares);
    pbs_tree_free(&tree);
    return 0;
}

static int show_found(const struct published_node *one, const struct published_node *other,
                      struct error *err)
{
    struct pbs_tree tree = tree_of(one->cluster);
    struct text text = { 0 };
    if (other->node == NO_NODE)
        pbs_add_entity(&text, &tree, one->node);
    else
        pbs_add_winner(&text, &tree, one->node, other->node);
    int result = command_print(&text, err);
    text_free(&text);
    pbs_tree_free(&tree);
    return result;
}

int show_pbs(const struct settings *settings, const struct name_list *clusters,
             const char *const names[2], struct error *err)
{
    struct published published = { 0 };
    struct published_node one = { .node = NO_NODE }, other = one;
    int result = published_read(&published, settings, clusters, err);
    if (!result)
        result = published_find(&published, NULL, names[0], &one, err);
    if (!result && names[1])
        result = published_find(&published, one.cluster, names[1], &other, err);
    if (!result)
        result = show_found(&one, &other, err);
    published_free(&published);
    return result;
}
