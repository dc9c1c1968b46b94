/* SPDX-License-Identifier: MIT */
#include "compute/watched.h"

#include <stdlib.h>

#include "compute/computation.h"
#include "core/usage/owners.h"
#include "util/memory.h"

static bool is_charged_to(const struct tree *tree, const bool *below, uint64_t id)
{
    uint32_t place = tree_place(tree, id);
    return place != NO_NODE && below[place];
}

/* An owner's, for some time. */
static bool was_charged_to(const struct computation *computation, const bool *below, uint64_t id)
{
    const struct owner *owner = owners_find(computation->owners, id);
    while (owner && !is_charged_to(computation->tree, below, owner->association))
        owner = owner->later;
    return owner != NULL;
}

static void add(struct computation *computation, uint64_t id)
{
    size_t count = computation->watched_count++;
    computation->watched_ids = memory_grown(computation->watched_ids, count, sizeof id);
    computation->watched_ids[count] = id;
}

void watched_find(struct computation *computation)
{
    const struct tree *tree = computation->tree;
    const struct accounting *accounting = computation->accounting;
    bool *below = memory_zeroed(tree->count, sizeof *below);
    uint64_t id;
    tree_mark_below(tree, tree_place(tree, computation->watched), below);
    for (size_t i = 0; i < accounting->count; i++)
        if (is_charged_to(tree, below, accounting->rows[i].id))
            add(computation, accounting->rows[i].id);
    for (uint32_t i = 0; owners_at(computation->owners, i, &id); i++)
        if (!is_charged_to(tree, below, id) && was_charged_to(computation, below, id))
            add(computation, id);
    free(below);
}
