/* SPDX-License-Identifier: MIT */
#include "command/shares/shares_difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "core/priority/priority.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "report/table.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The state of converting a tree to a list. */
struct taking {
    struct share_set *list;
    const struct accounting *accounting;
    const struct tree *tree;
    struct id_index *priorities; /* index in accounting->priorities, by association id */
    /* indexed by number of the user's name: the default account; NULL: none */
    const char **defaults;
};

static const char *shares_difference_name_of(const struct taking *taking, uint32_t number)
{
    const struct names *names = taking->accounting->names;
    return utf8_copy_in(taking->list->arena, names_text(names, number),
                        names_length(names, number));
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
                shares_difference_name_of(taking, accounting->rows[i].account);
}

static int shares_difference_take_node(struct taking *taking, const struct node *node,
                                       struct error *err)
{
    uint32_t priority = id_index_find(taking->priorities, node->id);
    const struct share_entry entry = {
        .id = node->id,
        .account = shares_difference_name_of(taking, node->account),
        .user = shares_difference_name_of(taking, node->user),
        .partition = shares_difference_name_of(taking, node->partition),
        .parent = node->parent == NO_NODE ? ""
                                          : shares_difference_name_of(
                                                taking, taking->tree->nodes[node->parent].account),
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
                "association %" PRIu32 " has the same account, user and partition as another",
                node->id);
}

static int shares_difference_take_tree(struct share_set *list, const struct accounting *accounting,
                                       const struct tree *tree, struct error *err)
{
    struct taking taking = { list, accounting, tree, NULL, NULL };
    int result = 0;
    index_small(&taking);
    for (uint32_t i = 0; !result && i < tree->count; i++)
        result = shares_difference_take_node(&taking, &tree->nodes[i], err);
    id_index_destroy(taking.priorities);
    free(taking.defaults);
    return result;
}

/* Fails on bad rows, because rows that a tree omits would appear to be missing. */
static int build(struct share_set *list, const struct accounting *accounting, struct error *err)
{
    const struct associations associations = { accounting->rows, accounting->count,
                                               accounting->names, accounting->empty_name, false };
    struct findings *findings = findings_create();
    struct tree *tree = NULL;
    int result = tree_build(&tree, &associations, BAD_ROWS_FAIL, findings, err);
    if (!result)
        result = shares_difference_take_tree(list, accounting, tree, err);
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

static void shares_difference_add(struct share_differences *differences,
                                  enum share_difference_kind kind, const struct share_entry *file,
                                  const struct share_entry *database)
{
    *memory_append(&differences->rows, &differences->count) =
        (struct share_difference){ kind, file, database };
}

static void shares_difference_compare(struct share_differences *differences,
                                      const struct share_entry *file)
{
    const struct share_entry *database =
        share_set_find(differences->database, file->account, file->user, file->partition);
    if (!database) {
        shares_difference_add(differences, DIFFERS_ONLY_IN_FILE, file, NULL);
        return;
    }
    if (!*file->user && strcmp(file->parent, database->parent) != 0)
        shares_difference_add(differences, DIFFERS_IN_PARENT, file, database);
    if (file->says_shares && file->shares != database->shares)
        shares_difference_add(differences, DIFFERS_IN_SHARES, file, database);
}

static bool makes_itself(const struct share_set *list, const struct share_entry *entry)
{
    return !strcmp(entry->account, list->entries[0].account) && !*entry->partition &&
           !strcmp(entry->user, "root");
}

struct share_differences share_differences_find(const struct share_set *file,
                                                const struct share_set *database)
{
    struct share_differences differences = { file, database, NULL, 0 };
    for (size_t i = 0; i < file->count; i++)
        shares_difference_compare(&differences, &file->entries[i]);
    for (size_t i = 0; i < database->count; i++) {
        const struct share_entry *entry = &database->entries[i];
        if (!share_set_find(file, entry->account, entry->user, entry->partition) &&
            !makes_itself(database, entry))
            shares_difference_add(&differences, DIFFERS_ONLY_IN_DATABASE, NULL, entry);
    }
    return differences;
}

void share_differences_free(struct share_differences *differences)
{
    free(differences->rows);
    *differences = (struct share_differences){ 0 };
}

static const struct share_entry *shares_difference_entry_of(const struct share_difference *row)
{
    return row->file ? row->file : row->database;
}

static void shares_difference_get_name(const void *row, struct cell *cell)
{
    const struct share_entry *entry = shares_difference_entry_of(row);
    const char *const names[] = { entry->account, entry->user, entry->partition };
    cell_text(cell, names[cell->column->index]);
}

const char *share_difference_word(const struct share_difference *difference)
{
    static const char *const words[] = {
        [DIFFERS_ONLY_IN_FILE] = "only in the file",
        [DIFFERS_ONLY_IN_DATABASE] = "only in the database",
        [DIFFERS_IN_PARENT] = "parent",
        [DIFFERS_IN_SHARES] = "shares",
    };
    return words[difference->kind];
}

static void shares_difference_get_difference(const void *row, struct cell *cell)
{
    cell_text(cell, share_difference_word(row));
}

/* Fills a cell with the parent or the shares on one side. */
static void get_side(const void *of, struct cell *cell)
{
    const struct share_difference *row = of;
    const struct share_entry *entry = cell->column->index ? row->database : row->file;
    struct text shares = { 0 };
    if (!entry)
        return;
    share_add(&shares, entry->shares);
    cell_format(cell, "%s", row->kind == DIFFERS_IN_PARENT ? entry->parent : shares.bytes);
    text_free(&shares);
}

static void get_line(const void *row, struct cell *cell)
{
    const struct share_difference *difference = row;
    if (difference->file)
        cell_integer(cell, difference->file->line);
}

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "account", "Account", COLUMN_TEXT, .get = shares_difference_get_name, .index = 0 },
    { "username", "User", COLUMN_TEXT, .get = shares_difference_get_name, .index = 1 },
    { "partition", "Partition", COLUMN_TEXT, .get = shares_difference_get_name, .index = 2,
      .optional = true },
    { "difference", "Difference", COLUMN_TEXT, .get = shares_difference_get_difference },
    { "file", "File", COLUMN_TEXT, .get = get_side, .index = 0, .right = true },
    { "database", "Database", COLUMN_TEXT, .get = get_side, .index = 1, .right = true },
    { "line", "Line", COLUMN_INTEGER, .get = get_line, .expendable = 1 },
    { .name = NULL },
};

const struct table_layout share_differences_layout = { columns, "differences", .by_cluster = true };
