/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Where a row stands while the tree is built. */
struct placing {
    struct association *rows;
    size_t count;
    const struct names *names;
    uint32_t empty_name;
    struct findings *findings;
    struct id_index *row_of_id;
    uint32_t *account_row; /* by name: the account's own row */
    uint32_t *parent;      /* by row: the parent's row, or NO_NODE */
    uint32_t *node;        /* by row: its node, or NO_NODE */
    unsigned char *kind;   /* by row: what is asked of parents, at hand */
    uint32_t root;
    struct text bad; /* what is wrong, for the message */
    size_t bad_count;
    enum bad_rows bad_rows;
    bool any_flaw; /* in any name */
};

#define BAD_ROWS_NAMED 10

/* In characters: what the results have room for, and more than slurmdbd has. */
#define LONGEST_NAME 255

/* Kinds of rows. */
enum { LIVE_USER, LIVE_ACCOUNT, GONE };

/* So many rows ahead what a loop will look at is fetched: with very many rows, waiting for what is
 * not in the processor's caches would be most of its time. */
#define AHEAD 12

/* As a row's parent: the row is there twice, and this one does not count. */
#define DUPLICATE (NO_NODE - 1)

bool node_has_parent_shares(const struct node *node)
{
    return node->shares == SHARES_PARENT;
}

static bool is_account(const struct placing *placing, const struct association *row)
{
    return row->user == placing->empty_name;
}

/* A name of the source as readers know it, to be freed. */
static struct text readable(const struct placing *placing, uint32_t name)
{
    struct text text = { 0 };
    const char *bytes = names_text(placing->names, name);
    text_add_as_utf8(&text, bytes, strlen(bytes));
    return text;
}

static void note_bad(struct placing *placing, const struct association *row, const char *what)
{
    if (placing->bad_count++ < BAD_ROWS_NAMED) {
        struct text user = readable(placing, row->user), account = readable(placing, row->account);
        text_format(&placing->bad, "%sassociation %u (", placing->bad.length ? "; " : "", row->id);
        if (!is_account(placing, row))
            text_format(&placing->bad, "user '%s', ", user.bytes);
        text_format(&placing->bad, "account '%s') %s", account.bytes, what);
        text_free(&user);
        text_free(&account);
    }
    if (placing->bad_rows == BAD_ROWS_SKIP)
        findings_add(placing->findings, FINDING_ASSOCIATION_LEFT_OUT, row->id, "%s", what);
}

static int by_id(const void *a, const void *b)
{
    const struct association *one = a, *other = b;
    if (one->id != other->id)
        return one->id < other->id ? -1 : 1;
    return one->deleted - other->deleted;
}

static void sort_by_id(struct association *rows, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (rows[i].id <= rows[i - 1].id) {
            qsort(rows, count, sizeof *rows, by_id);
            return;
        }
}

static bool same_names(const struct association *a, const struct association *b)
{
    return a->account == b->account && a->user == b->user && a->partition == b->partition;
}

static size_t names_hash(const struct association *row)
{
    uint64_t hash = row->account * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ row->user) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 32 ^ row->partition) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(hash >> 20);
}

/* The living rows by names: an open-addressed table of their places. */
struct row_set {
    uint32_t *places;
    size_t mask;
};

static void fetch_names(const struct row_set *set, const struct association *row)
{
    __builtin_prefetch(&set->places[names_hash(row) & set->mask]);
}

/* Whether these names were there already; they are now. */
static bool add_names(struct row_set *set, const struct association *rows, uint32_t i)
{
    size_t at = names_hash(&rows[i]) & set->mask;
    for (; set->places[at] != NO_NODE; at = (at + 1) & set->mask)
        if (same_names(&rows[set->places[at]], &rows[i]))
            return true;
    set->places[at] = i;
    return false;
}

/* Enter the rows in the look-ups, and mark those that are there already. */
static void enter_rows(struct placing *placing)
{
    struct row_set living = { .mask = 63 };
    while (living.mask < 2 * placing->count)
        living.mask = 2 * living.mask + 1;
    living.places = memory_resized(NULL, living.mask + 1, sizeof *living.places);
    memset(living.places, 0xff, (living.mask + 1) * sizeof *living.places);
    for (uint32_t i = 0; i < placing->count; i++) {
        const struct association *row = &placing->rows[i];
        if (i + AHEAD < placing->count)
            fetch_names(&living, row + AHEAD);
        placing->parent[i] = NO_NODE;
        placing->node[i] = NO_NODE;
        placing->kind[i] = row->deleted               ? GONE
                           : is_account(placing, row) ? LIVE_ACCOUNT
                                                      : LIVE_USER;
        if (id_index_add(placing->row_of_id, row->id, i) != INDEX_NONE) {
            note_bad(placing, row, "has an id that is there twice");
            placing->parent[i] = DUPLICATE;
            continue;
        }
        if (!row->deleted && add_names(&living, placing->rows, i)) {
            note_bad(placing, row, "is there twice under other ids");
            placing->parent[i] = DUPLICATE;
            continue;
        }
        /* A deleted account's row stands until a living one of that name is found. */
        uint32_t *account = &placing->account_row[row->account];
        if (is_account(placing, row) && (*account == NO_NODE || placing->kind[*account] == GONE))
            *account = i;
    }
    free(living.places);
}

/* What is wrong with a name that cannot be published; NULL where it can. */
static const char *flaw_of(const struct placing *placing, uint32_t name)
{
    const char *bytes = names_text(placing->names, name);
    size_t length = names_length(placing->names, name);
    if (strlen(bytes) < length)
        return "has a name with a NUL byte";
    if (length <= LONGEST_NAME)
        return NULL;
    bool fits = utf8_valid(bytes, length) && utf8_length(bytes) <= LONGEST_NAME;
    return fits ? NULL : "has a name of more than 255 characters";
}

/* Hardly any site has one, so that rows need not be looked at. */
static bool any_flaw(const struct placing *placing)
{
    for (uint32_t name = 0; name < names_count(placing->names); name++)
        if (flaw_of(placing, name))
            return true;
    return false;
}

static const char *flaw_of_row(const struct placing *placing, const struct association *row)
{
    if (!placing->any_flaw)
        return NULL;
    const char *flaw = flaw_of(placing, row->account);
    flaw = flaw ? flaw : flaw_of(placing, row->user);
    return flaw ? flaw : flaw_of(placing, row->partition);
}

static bool claims_root(const struct placing *placing, const struct association *row)
{
    return is_account(placing, row) && row->parent_account == placing->empty_name &&
           row->parent_id == 0;
}

static int find_root(struct placing *placing, struct error *err)
{
    size_t roots = 0, named = 0;
    uint32_t named_root = NO_NODE, first = NO_NODE;
    struct text ids = { 0 };
    for (uint32_t i = 0; i < placing->count; i++) {
        const struct association *row = &placing->rows[i];
        if (row->deleted || !claims_root(placing, row) || placing->parent[i] == DUPLICATE)
            continue;
        if (roots++ < BAD_ROWS_NAMED)
            text_format(&ids, "%s%u", ids.length ? ", " : "", row->id);
        first = first == NO_NODE ? i : first;
        if (!strcmp(names_text(placing->names, row->account), "root")) {
            named++;
            named_root = i;
        }
    }
    placing->root = roots == 1 ? first : named_root;
    int result = 0;
    if (roots == 0)
        result =
            fail(err, ERROR_DATA, "there is no root among the %zu associations", placing->count);
    else if (roots > 1 && (placing->bad_rows == BAD_ROWS_FAIL || named != 1))
        result = fail(err, ERROR_DATA, "there are %zu roots: associations %s", roots, ids.bytes);
    text_free(&ids);
    return result;
}

static void note_disagreement(struct placing *placing, const struct association *row,
                              uint32_t account, uint32_t name)
{
    struct text by_id = readable(placing, account), by_name = readable(placing, name);
    findings_add(placing->findings, FINDING_PARENTS_DISAGREE, row->id,
                 "id_parent is %u (account '%s'), by name it is account '%s'", row->parent_id,
                 by_id.bytes, by_name.bytes);
    text_free(&by_id);
    text_free(&by_name);
}

/* The row that the source names as a row's parent, NO_NODE where it is not there. */
static uint32_t parent_row(struct placing *placing, const struct association *row)
{
    uint32_t name = is_account(placing, row) ? row->parent_account : row->account;
    if (!row->parent_id)
        return name == placing->empty_name ? NO_NODE : placing->account_row[name];
    uint32_t parent = id_index_find(placing->row_of_id, row->parent_id);
    if (parent != INDEX_NONE && placing->rows[parent].account != name && !row->deleted)
        note_disagreement(placing, row, placing->rows[parent].account, name);
    return parent;
}

static void link_parents(struct placing *placing)
{
    for (uint32_t i = 0; i < placing->count; i++) {
        struct association *row = &placing->rows[i];
        if (i == placing->root || placing->parent[i] == DUPLICATE)
            continue;
        placing->parent[i] = parent_row(placing, row);
        if (row->deleted)
            continue;
        const char *flaw = flaw_of_row(placing, row);
        if (flaw) {
            note_bad(placing, row, flaw);
            placing->parent[i] = NO_NODE;
        } else if (placing->parent[i] == NO_NODE)
            note_bad(placing, row,
                     claims_root(placing, row) ? "is a second root" : "has no parent");
        else if (placing->kind[placing->parent[i]] == GONE)
            note_bad(placing, row, "has a parent that is deleted");
        else if (placing->kind[placing->parent[i]] == LIVE_USER) {
            note_bad(placing, row, "has a user association as its parent");
            placing->parent[i] = NO_NODE;
        }
        if (row->shares < 0) {
            findings_add(placing->findings, FINDING_SHARES_NEGATIVE, row->id, "shares are %d",
                         row->shares);
            row->shares = 0;
        }
    }
}

static bool is_live_child(const struct placing *placing, uint32_t i)
{
    uint32_t parent = placing->parent[i];
    return i != placing->root && placing->kind[i] != GONE && parent < placing->count &&
           placing->kind[parent] != GONE;
}

static void add_node(struct tree *tree, struct placing *placing, uint32_t i, uint32_t parent)
{
    const struct association *row = &placing->rows[i];
    struct node *node = &tree->nodes[tree->count];
    *node = (struct node){
        .id = row->id,
        .account = row->account,
        .user = row->user,
        .partition = row->partition,
        .parent = parent,
        .depth = parent == NO_NODE ? 0 : tree->nodes[parent].depth + 1,
        .shares = row->shares,
        .order = row->order,
        .is_user = !is_account(placing, row),
    };
    placing->node[i] = tree->count++;
    tree->user_count += node->is_user;
}

/* The rows of the nodes, level by level from the root, and where each node's parent is. */
static uint32_t order_rows(const struct placing *placing, uint32_t *row_of_node, uint32_t *parent)
{
    size_t count = placing->count;
    uint32_t *first = memory_zeroed(count + 1, sizeof *first), nodes = 1;
    uint32_t *sorted = memory_zeroed(count, sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        if (is_live_child(placing, i))
            first[placing->parent[i] + 1]++;
    for (size_t i = 0; i < count; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < count; i++)
        if (is_live_child(placing, i))
            sorted[first[placing->parent[i]]++] = i;
    /* first[p] has moved to where the children of p end. */
    row_of_node[0] = placing->root;
    parent[0] = NO_NODE;
    for (uint32_t at = 0; at < nodes; at++) {
        uint32_t row = row_of_node[at];
        if (at + AHEAD < nodes)
            __builtin_prefetch(&first[row_of_node[at + AHEAD]]);
        for (uint32_t i = row ? first[row - 1] : 0; i < first[row]; i++) {
            row_of_node[nodes] = sorted[i];
            parent[nodes++] = at;
        }
    }
    free(first);
    free(sorted);
    return nodes;
}

/* Lay the live rows out: parents come before children, and the children of one parent stand
 * together. */
static void lay_out(struct tree *tree, struct placing *placing)
{
    uint32_t *row_of_node = memory_zeroed(placing->count, sizeof *row_of_node);
    uint32_t *parent = memory_zeroed(placing->count, sizeof *parent);
    uint32_t nodes = order_rows(placing, row_of_node, parent);
    for (uint32_t i = 0; i < nodes; i++) {
        if (i + AHEAD < nodes) {
            __builtin_prefetch(&placing->rows[row_of_node[i + AHEAD]]);
            __builtin_prefetch(&placing->node[row_of_node[i + AHEAD]], 1);
        }
        add_node(tree, placing, row_of_node[i], parent[i]);
    }
    free(row_of_node);
    free(parent);
}

/* Live rows that were not reached hang below a bad row or in a cycle.  A cycle is named once. */
static void note_unreached(struct tree *tree, struct placing *placing)
{
    if (tree->count == placing->count)
        return;
    enum { UNSEEN, ON_PATH, DONE };
    unsigned char *state = memory_zeroed(placing->count, 1);
    for (uint32_t i = 0; i < placing->count; i++) {
        uint32_t at = i;
        while (is_live_child(placing, at) && placing->node[at] == NO_NODE && state[at] == UNSEEN) {
            state[at] = ON_PATH;
            at = placing->parent[at];
        }
        if (state[at] == ON_PATH && is_live_child(placing, at))
            note_bad(placing, &placing->rows[at], "is in a cycle of parents");
        for (at = i; state[at] == ON_PATH; at = placing->parent[at])
            state[at] = DONE;
    }
    free(state);
}

static void note_orphan(struct placing *placing, const struct association *row)
{
    struct text account = readable(placing, row->account);
    findings_add(placing->findings, FINDING_DELETED_WITHOUT_PARENT, row->id, "account '%s'",
                 account.bytes);
    text_free(&account);
}

/* Every id leads to the node that takes its usage.  Chains of deleted rows are walked once. */
static void place_ids(struct tree *tree, struct placing *placing)
{
    uint32_t *path = memory_zeroed(placing->count, sizeof *path), of_ids = 0;
    unsigned char *seen = memory_zeroed(placing->count, 1);
    tree->by_id = memory_zeroed(tree->count, sizeof *tree->by_id);
    for (uint32_t i = 0; i < placing->count; i++) {
        size_t length = 0;
        uint32_t at = i;
        if (placing->node[i] != NO_NODE && placing->kind[i] != GONE)
            tree->by_id[of_ids++] = placing->node[i];
        while (placing->node[at] == NO_NODE && placing->kind[at] == GONE && !seen[at]) {
            seen[at] = 1;
            path[length++] = at;
            if (placing->parent[at] >= placing->count)
                break;
            at = placing->parent[at];
        }
        uint32_t node = placing->node[at];
        while (length > 0)
            placing->node[path[--length]] = node;
        if (placing->node[i] != NO_NODE)
            id_index_add(tree->places, placing->rows[i].id, placing->node[i]);
        else if (placing->rows[i].deleted && placing->parent[i] != DUPLICATE)
            note_orphan(placing, &placing->rows[i]);
    }
    free(path);
    free(seen);
}

/* Fairshare parents, and the lists of their children. */
static void link_fairshare(struct tree *tree)
{
    struct node *nodes = tree->nodes;
    nodes[0].fairshare_parent = NO_NODE;
    for (uint32_t i = 0; i < tree->count; i++) {
        struct node *node = &nodes[i];
        node->level = node->is_user ? NO_NODE : tree->level_count++;
        if (i == 0)
            continue;
        uint32_t parent = node->parent;
        if (parent != 0 && node_has_parent_shares(&nodes[parent]))
            parent = nodes[parent].fairshare_parent;
        node->fairshare_parent = parent;
        nodes[parent].child_count++;
    }
    uint32_t place = 0;
    for (uint32_t i = 0; i < tree->count; i++) {
        nodes[i].first_child = place;
        place += nodes[i].child_count;
        nodes[i].child_count = 0;
    }
    tree->children = memory_zeroed(tree->count, sizeof *tree->children);
    for (uint32_t i = 1; i < tree->count; i++) {
        struct node *parent = &nodes[nodes[i].fairshare_parent];
        tree->children[parent->first_child + parent->child_count++] = i;
    }
    for (uint32_t i = tree->count; i-- > 1;)
        nodes[nodes[i].fairshare_parent].users_below += nodes[i].is_user ? 1 : nodes[i].users_below;

    tree->levels = memory_zeroed(tree->level_count, sizeof *tree->levels);
    for (uint32_t i = 1; i < tree->count; i++)
        if (!node_has_parent_shares(&nodes[i]))
            tree->levels[nodes[nodes[i].fairshare_parent].level].shares +=
                (uint64_t)nodes[i].shares;
}

static int place_rows(struct tree *tree, struct placing *placing, struct error *err)
{
    sort_by_id(placing->rows, placing->count);
    enter_rows(placing);
    placing->any_flaw = any_flaw(placing);
    if (find_root(placing, err))
        return -1;
    const struct association *root = &placing->rows[placing->root];
    const char *flaw = flaw_of_row(placing, root);
    if (flaw)
        return fail(err, ERROR_DATA, "the root, association %u, %s", root->id, flaw);
    link_parents(placing);
    lay_out(tree, placing);
    note_unreached(tree, placing);
    if (placing->bad_count && placing->bad_rows == BAD_ROWS_FAIL) {
        if (placing->bad_count > BAD_ROWS_NAMED)
            text_format(&placing->bad, "; and %zu more", placing->bad_count - BAD_ROWS_NAMED);
        return fail(err, ERROR_DATA, "%s", placing->bad.bytes);
    }
    place_ids(tree, placing);
    return 0;
}

int tree_build(struct tree **built, struct association *rows, size_t count,
               const struct names *names, uint32_t empty_name, enum bad_rows bad_rows,
               struct findings *findings, struct error *err)
{
    struct tree *tree = memory_zeroed(1, sizeof *tree);
    tree->nodes = memory_zeroed(count, sizeof *tree->nodes);
    tree->places = id_index_create();
    struct placing placing = {
        .rows = rows,
        .count = count,
        .names = names,
        .empty_name = empty_name,
        .findings = findings,
        .row_of_id = id_index_create(),
        .account_row = memory_resized(NULL, names_count(names), sizeof(uint32_t)),
        .parent = memory_zeroed(count, sizeof(uint32_t)),
        .node = memory_zeroed(count, sizeof(uint32_t)),
        .kind = memory_zeroed(count, 1),
        .bad_rows = bad_rows,
    };
    memset(placing.account_row, 0xff, names_count(names) * sizeof *placing.account_row);

    int result = place_rows(tree, &placing, err);
    id_index_destroy(placing.row_of_id);
    free(placing.account_row);
    free(placing.parent);
    free(placing.node);
    free(placing.kind);
    text_free(&placing.bad);
    if (result) {
        tree_destroy(tree);
        return -1;
    }
    link_fairshare(tree);
    *built = tree;
    return 0;
}

void tree_destroy(struct tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->by_id);
    free(tree->children);
    free(tree->levels);
    id_index_destroy(tree->places);
    free(tree);
}

uint32_t tree_place(const struct tree *tree, uint64_t id)
{
    return id_index_find(tree->places, id);
}

static bool sum_levels(struct tree *tree)
{
    for (uint32_t i = 1; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        struct level *level = &tree->levels[tree->nodes[node->fairshare_parent].level];
        bool sharer = !node_has_parent_shares(node);
        if ((sharer || node->is_user) && !wide_add(&level->usage, &node->usage))
            return false;
        if (sharer && !wide_add(&level->sharer_usage, &node->usage))
            return false;
    }
    return true;
}

int tree_roll_up_usage(struct tree *tree, struct error *err)
{
    for (uint32_t i = 0; i < tree->count; i++)
        if (wide_is_negative(&tree->nodes[i].usage))
            tree->nodes[i].usage = (struct wide){ { 0 } };
    for (uint32_t i = tree->count; i-- > 1;) {
        struct node *node = &tree->nodes[i];
        if (!wide_add(&tree->nodes[node->parent].usage, &node->usage))
            return fail(err, ERROR_DATA,
                        "usage below association %u is beyond the range of our integers",
                        tree->nodes[node->parent].id);
    }
    if (!sum_levels(tree))
        return fail(err, ERROR_DATA, "the usage of a level is beyond the range of our integers");
    return 0;
}
