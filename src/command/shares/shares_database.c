/* SPDX-License-Identifier: MIT */
#include "command/shares/shares_database.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/finding.h"
#include "core/priority/priority.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* A tree on its way into a list. */
struct taking {
    struct share_set *list;
    const struct accounting *accounting;
    const struct tree *tree;
    struct id_index *priorities; /* of ids: where they are in the accounting */
    const char **defaults;       /* by the number of a user's name: the account; NULL */
};

static const char *name_of(const struct taking *taking, uint32_t number)
{
    const struct names *names = taking->accounting->names;
    struct text text = { 0 };
    text_add_as_utf8(&text, names_text(names, number), names_length(names, number));
    const char *copy = share_set_text(taking->list, text.bytes);
    text_free(&text);
    return copy;
}

static void index_small(struct taking *taking)
{
    const struct accounting *accounting = taking->accounting;
    taking->priorities = id_index_create();
    for (size_t i = 0; i < accounting->priority_count; i++)
        id_index_add(taking->priorities, accounting->priorities[i].id, (uint32_t)i);
    taking->defaults = memory_zeroed(names_count(accounting->names), sizeof *taking->defaults);
    for (size_t i = 0; i < accounting->count; i++)
        if (accounting->rows[i].is_default && !accounting->rows[i].deleted)
            taking->defaults[accounting->rows[i].user] =
                name_of(taking, accounting->rows[i].account);
}

static int take_node(struct taking *taking, const struct node *node, struct error *err)
{
    uint32_t priority = id_index_find(taking->priorities, node->id);
    const struct share_entry entry = {
        .id = node->id,
        .account = name_of(taking, node->account),
        .user = name_of(taking, node->user),
        .partition = name_of(taking, node->partition),
        .parent = node->parent == NO_NODE
                      ? ""
                      : name_of(taking, taking->tree->nodes[node->parent].account),
        .default_account = node->is_user ? taking->defaults[node->user] : NULL,
        .shares = node->shares,
        .says_shares = true,
        .priority = priority == INDEX_NONE ? PRIORITY_NONE
                                           : taking->accounting->priorities[priority].priority,
        .depth = node->depth,
    };
    if (share_set_add(taking->list, &entry))
        return 0;
    return fail(err, ERROR_DATA,
                "association %" PRIu32 " has the account, user and partition of another one",
                node->id);
}

static int take_tree(struct share_set *list, const struct accounting *accounting,
                     const struct tree *tree, struct error *err)
{
    struct taking taking = { list, accounting, tree, NULL, NULL };
    int result = 0;
    index_small(&taking);
    for (uint32_t i = 0; !result && i < tree->count; i++)
        result = take_node(&taking, &tree->nodes[i], err);
    id_index_destroy(taking.priorities);
    free(taking.defaults);
    return result;
}

/* Whatever is left out of a tree would seem to be missing, so bad rows fail. */
static int build(struct share_set *list, const struct accounting *accounting, struct error *err)
{
    const struct associations associations = { accounting->rows, accounting->count,
                                               accounting->names, accounting->empty_name, false };
    struct findings *findings = findings_create();
    struct tree *tree = NULL;
    int result = tree_build(&tree, &associations, BAD_ROWS_FAIL, findings, err);
    if (!result)
        result = take_tree(list, accounting, tree, err);
    tree_destroy(tree);
    findings_destroy(findings);
    return result;
}

int shares_read(struct share_set *list, const struct settings *settings, struct db *source,
                const char *cluster, struct error *err)
{
    struct source of = source_of(settings, source, cluster);
    struct accounting *accounting = NULL;
    of.ordered = false;
    if (db_begin(source, err))
        return -1;
    int result = of.layout->read(&of, &accounting, err);
    if (result)
        db_rollback(source);
    else
        result = db_commit(source, err);
    *list = share_set_create(cluster);
    if (!result)
        result = build(list, accounting, err);
    if (result)
        share_set_free(list);
    accounting_destroy(accounting);
    return result ? fail_in(err, "cluster '%s'", cluster) : 0;
}
