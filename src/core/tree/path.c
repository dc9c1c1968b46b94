/* SPDX-License-Identifier: MIT */
#include "core/tree/path.h"

#include <stdlib.h>

#include "core/tree/tree.h"
#include "util/memory.h"

static uint32_t above(const struct tree *tree, uint32_t node, bool fairshare)
{
    return fairshare ? tree->nodes[node].fairshare_parent : tree->nodes[node].parent;
}

struct path path_to(const struct tree *tree, uint32_t node, bool fairshare)
{
    struct path path = { 0 };
    for (uint32_t at = node; at != NO_NODE; at = above(tree, at, fairshare))
        path.count++;
    path.nodes = memory_zeroed(path.count, sizeof *path.nodes);
    for (uint32_t at = node, i = path.count; i-- > 0; at = above(tree, at, fairshare))
        path.nodes[i] = at;
    return path;
}

void path_free(struct path *path)
{
    free(path->nodes);
}
