/* SPDX-License-Identifier: MIT */
#include "results/published_part.h"

#include <stdlib.h>

#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* Maximum number of accounts whose members are read by key.  If there are more, reading all rows of
 * the cluster takes about as long. */
#define ACCOUNTS 500

/* The associations that were found so far. */
struct part_node {
    uint64_t id, parent_id; /* parent_id is 0 for the root */
    bool is_account, parent_shares;
};
struct part_search {
    struct db *db;
    const char *cluster;
    struct id_index *known; /* ids of the nodes */
    struct part_node *nodes;
    size_t count;
    size_t accounts; /* number of accounts whose members were read */
};

static int part_take(struct part_search *search, struct db_rows *rows, struct error *err)
{
    const struct db_value *row;
    while (db_fetch(rows, &row, err) > 0) {
        struct part_node node = { rows_bits_of(&row[0]), rows_bits_of(&row[1]), row[2].integer == 1,
                                  row[3].type == DB_NULL };
        if (id_index_add(search->known, node.id, (uint32_t)search->count) == INDEX_NONE)
            *memory_append(&search->nodes, &search->count) = node;
    }
    return db_finish(rows);
}

static int part_add_named(struct part_search *search, const struct name_candidate *name,
                          struct error *err)
{
    const struct db_value arguments[] = { db_text(search->cluster), db_text(search->cluster),
                                          db_text(name->user), db_text(name->account) };
    const char *sql = name->account ? sql_query_part_of_name : sql_query_part_of_user;
    return part_take(search,
                     db_query(search->db, sql, arguments, name->account ? 4 : 3, "iiii", err), err);
}

/* Adds the results of a query for ids. */
static int part_add_for(struct part_search *search, const char *sql, struct row_ids ids,
                        struct error *err)
{
    const struct db_value key[] = { db_text(search->cluster), db_text(search->cluster) };
    int result = 0;
    for (size_t done = 0; !result && done < ids.count; done += ROW_IDS_AT_ONCE) {
        size_t left = ids.count - done;
        struct row_ids part = { ids.ids + done, left < ROW_IDS_AT_ONCE ? left : ROW_IDS_AT_ONCE };
        result = part_take(search, rows_query_for(search->db, sql, key, part, "iiii", err), err);
    }
    return result;
}

/* Adds all associations above the nodes. */
static int part_add_above(struct part_search *search, struct error *err)
{
    uint64_t *ids = NULL;
    size_t count, from = 0;
    int result = 0;
    do {
        count = 0;
        for (; from < search->count; from++)
            if (search->nodes[from].parent_id &&
                id_index_find(search->known, search->nodes[from].parent_id) == INDEX_NONE)
                *memory_append(&ids, &count) = search->nodes[from].id;
        result = part_add_for(search, sql_query_part_above, (struct row_ids){ ids, count }, err);
    } while (!result && count);
    free(ids);
    return result;
}

/*
 * Adds the children of the accounts among the nodes, and of the accounts among these children.  If
 * `levels` is true, the latter are only accounts with `parent` shares, whose children are members
 * of the same level.  Stops if there are too many accounts.
 */
static int part_add_below(struct part_search *search, bool levels, struct error *err)
{
    uint64_t *ids = NULL;
    size_t count, from = 0;
    int result = 0;
    do {
        bool is_first = !from;
        count = 0;
        for (; from < search->count; from++)
            if (search->nodes[from].is_account &&
                (is_first || !levels || search->nodes[from].parent_shares))
                *memory_append(&ids, &count) = search->nodes[from].id;
        search->accounts += count;
        if (search->accounts <= ACCOUNTS)
            result =
                part_add_for(search, sql_query_part_below, (struct row_ids){ ids, count }, err);
    } while (!result && count && search->accounts <= ACCOUNTS);
    free(ids);
    return result;
}

static int part_search_run(struct part_search *search, const struct name_candidates *names,
                           enum part_extent extent, struct error *err)
{
    for (size_t i = 0; i < names->count; i++)
        if (part_add_named(search, &names->list[i], err))
            return -1;
    if ((extent == PART_BELOW && part_add_below(search, false, err)) ||
        (extent != PART_NAMED && part_add_above(search, err)) ||
        (extent == PART_LEVELS && part_add_below(search, true, err)))
        return -1;
    return 0;
}

static struct row_ids part_ids_of(const struct part_search *search)
{
    uint64_t *ids = memory_zeroed(search->count + 1, sizeof *ids);
    for (size_t i = 0; i < search->count; i++)
        ids[i] = search->nodes[i].id;
    return (struct row_ids){ ids, row_ids_sort(ids, search->count) };
}

int published_part_find(struct published_part *part, const struct published *published,
                        const char *cluster, const struct name_list lists[SELECTION_KINDS],
                        enum part_extent extent, struct error *err)
{
    struct part_search search = { .db = published->db, .cluster = cluster };
    struct name_candidates names = { 0 };
    int result = 0;
    *part = (struct published_part){ 0 };
    for (enum selection_kind kind = 0; kind < SELECTION_KINDS; kind++)
        for (size_t i = 0; i < lists[kind].count; i++)
            name_candidates_add(&names, kind, lists[kind].values[i]);
    part->all = names.incomplete;
    if (!part->all) {
        search.known = id_index_create();
        result = part_search_run(&search, &names, extent, err);
        part->all = search.accounts > ACCOUNTS;
        part->ids = part_ids_of(&search);
        id_index_destroy(search.known);
        free(search.nodes);
    }
    name_candidates_free(&names);
    return result;
}

void published_part_free(struct published_part *part)
{
    free((uint64_t *)part->ids.ids);
    *part = (struct published_part){ 0 };
}

const struct row_ids *published_part_ids(const struct published_part *part)
{
    return part->all ? NULL : &part->ids;
}

static void part_pass(void *context, const struct published_row *row)
{
    (void)context;
    (void)row;
}

int published_look_for_names(struct published *published, struct error *err)
{
    struct error ignored;
    if (!published_check_names(published, &ignored))
        return 0;
    for (size_t i = 0; i < published->count; i++) {
        const struct published_cluster *cluster = &published->clusters[i];
        struct published_part part;
        int result = published_part_find(&part, published, cluster->name,
                                         published->selection.lists, PART_NAMED, err);
        if (!result)
            result = published_read_rows_of(published, cluster, published_part_ids(&part),
                                            part_pass, NULL, err);
        published_part_free(&part);
        if (result)
            return -1;
    }
    return published_check_names(published, err);
}

int published_read_part(struct published *published, struct published_cluster *cluster,
                        const struct name_list lists[SELECTION_KINDS], enum part_extent extent,
                        struct error *err)
{
    struct published_part part;
    struct error damaged;
    int result = published_part_find(&part, published, cluster->name, lists, extent, err);
    if (!result && (part.all || (part.ids.count &&
                                 published_read_tree_of(published, cluster, &part.ids, &damaged))))
        result = published_read_tree(published, cluster, err);
    published_part_free(&part);
    return result;
}

int published_read_levels(struct published *published, struct published_cluster *cluster,
                          const struct name_list *names, bool *enough, struct error *err)
{
    const struct name_list lists[SELECTION_KINDS] = { [SELECTION_NAMES] = *names };
    struct published_part part;
    struct error damaged;
    int result = published_part_find(&part, published, cluster->name, lists, PART_LEVELS, err);
    *enough = !result && !part.all &&
              (!part.ids.count || !published_read_tree_of(published, cluster, &part.ids, &damaged));
    published_part_free(&part);
    if (*enough && cluster->tree) {
        cluster->is_part = true;
        cluster->tree->user_count = (uint32_t)cluster->users;
    }
    return result;
}
