/* SPDX-License-Identifier: MIT */
#include "core/tree/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "core/tree/tree.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* What slurmdbd adds to the parent's lineage: `NAME/`, and `0-NAME/` or `0-NAME/PARTITION/`. */
static struct text own_lineage(const struct names *names, const struct node *node)
{
    struct text text = { 0 };
    const char *partition = names_text(names, node->partition);
    text_format(&text, "%s%s/%s%s", node->is_user ? "0-" : "",
                names_text(names, node->is_user ? node->user : node->account), partition,
                *partition ? "/" : "");
    return text;
}

struct sibling {
    struct text lineage;
    uint32_t node;
};

static int by_lineage(const void *a, const void *b)
{
    const struct sibling *one = a, *other = b;
    int order = strcmp(one->lineage.bytes, other->lineage.bytes);
    return order ? order : (one->node > other->node) - (one->node < other->node);
}

/* Number siblings, each with room for all below it. */
static void order_siblings(struct tree *tree, struct sibling *siblings, uint32_t count,
                           const uint32_t *sizes)
{
    if (!count)
        return;
    uint32_t order = tree->nodes[tree->nodes[siblings[0].node].parent].order + 1;
    qsort(siblings, count, sizeof *siblings, by_lineage);
    for (uint32_t i = 0; i < count; i++) {
        tree->nodes[siblings[i].node].order = order;
        order += sizes[siblings[i].node];
        text_free(&siblings[i].lineage);
    }
}

void tree_order_by_lineage(struct tree *tree, const struct names *names)
{
    uint32_t *sizes = memory_zeroed(tree->count, sizeof *sizes), count = 0;
    struct sibling *siblings = memory_zeroed(tree->count, sizeof *siblings);
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
        siblings[count++] = (struct sibling){ own_lineage(names, &tree->nodes[i]), i };
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
