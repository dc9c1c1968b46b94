/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/show/show_pbs.h"

#include <stdlib.h>

#include "command/command.h"
#include "command/named.h"
#include "core/fairshare/pbs.h"
#include "core/tree/tree.h"
#include "report/pbs_forms.h"
#include "results/snapshot.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* Every node's usage as it was published. */
static struct wide *plain_usage(const struct tree *tree)
{
    struct wide *usage = memory_zeroed(tree->count, sizeof *usage);
    for (uint32_t i = 0; i < tree->count; i++)
        usage[i] = tree->nodes[i].usage;
    return usage;
}

static int show_found(const struct named *one, const struct named *other, struct error *err)
{
    const struct snapshot *snapshot = one->snapshot;
    struct pbs_tree tree = { { snapshot->tree, &snapshot->options, snapshot->values },
                             snapshot->names,
                             NULL };
    struct wide *usage = pbs_counted_usage(&tree.fairshare);
    tree.usage = usage = usage ? usage : plain_usage(snapshot->tree);
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

int show_pbs(const struct settings *settings, const struct option_list *clusters,
             const char *const names[2], struct error *err)
{
    struct snapshots snapshots = { 0 };
    struct named one = { .node = NO_NODE }, other = one;
    int result = named_read(settings, clusters, &snapshots, err);
    if (!result)
        result = named_find(&snapshots, NULL, names[0], &one, err);
    if (!result && names[1])
        result = named_find(&snapshots, one.snapshot, names[1], &other, err);
    if (!result)
        result = show_found(&one, &other, err);
    snapshots_free(&snapshots);
    return result;
}
