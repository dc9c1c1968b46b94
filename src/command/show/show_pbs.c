/* SPDX-License-Identifier: MIT */
#include "command/show/show_pbs.h"

#include <stdlib.h>

#include "command/command.h"
#include "results/published_find.h"
#include "core/fairshare/pbs.h"
#include "report/pbs_forms.h"
#include "results/published.h"
#include "util/memory.h"

/* Every node's usage as it was published. */
static struct wide *plain_usage(const struct tree *tree)
{
    struct wide *usage = memory_zeroed(tree->count, sizeof *usage);
    for (uint32_t i = 0; i < tree->count; i++)
        usage[i] = tree->nodes[i].usage;
    return usage;
}

static int show_found(const struct published_node *one, const struct published_node *other,
                      struct error *err)
{
    const struct published_cluster *cluster = one->cluster;
    struct pbs_tree tree = { .fairshare = { .tree = cluster->tree,
                                            .options = &cluster->options,
                                            .values = cluster->values },
                             .names = cluster->names };
    struct wide *usage = pbs_counted_usage(&tree.fairshare);
    tree.usage = usage = usage ? usage : plain_usage(cluster->tree);
    struct text text = { 0 };
    if (other->node == NO_NODE)
        pbs_add_entity(&text, &tree, one->node);
    else
        pbs_add_winner(&text, &tree, one->node, other->node);
    int result = command_print(&text, err);
    text_free(&text);
    free(usage);
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
