/* SPDX-License-Identifier: MIT */
#include "core/tree/linking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

#define BAD_ROWS_NAMED 10
#define CYCLE_NAMED 5

/*
 * Maximum length of a name, in characters.  The result tables allow this length; slurmdbd allows
 * less.
 */
#define LONGEST_NAME 255

bool linking_is_account(const struct linking *linking, const struct association *row)
{
    return row->user == linking->empty_name;
}

/* Returns a name as UTF-8.  The caller frees it. */
static struct text linking_readable(const struct linking *linking, uint32_t name)
{
    struct text text = { 0 };
    const char *bytes = names_text(linking->names, name);
    text_add_as_utf8(&text, bytes, strlen(bytes));
    return text;
}

static void note_bad(struct linking *linking, const struct association *row, const char *what)
{
    if (linking->bad_count++ < BAD_ROWS_NAMED) {
        struct text user = linking_readable(linking, row->user),
                    account = linking_readable(linking, row->account);
        text_format(&linking->bad, "%sassociation %u (", linking->bad.length ? "; " : "", row->id);
        if (!linking_is_account(linking, row))
            text_format(&linking->bad, "user '%s', ", user.bytes);
        text_format(&linking->bad, "account '%s') %s", account.bytes, what);
        text_free(&user);
        text_free(&account);
    }
    if (linking->bad_rows == BAD_ROWS_SKIP)
        findings_add(linking->findings, FINDING_ASSOCIATION_LEFT_OUT, row->id, "%s", what);
}

static int linking_by_id(const void *a, const void *b)
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
            qsort(rows, count, sizeof *rows, linking_by_id);
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

/* The existing rows by names: an open-addressed hash table of their indexes. */
struct row_set {
    uint32_t *places;
    size_t mask;
};

static void fetch_names(const struct row_set *set, const struct association *row)
{
    __builtin_prefetch(&set->places[names_hash(row) & set->mask]);
}

/* Returns the row that already has these names.  Otherwise adds row `i` and returns NO_NODE. */
static uint32_t linking_add_names(struct row_set *set, const struct association *rows, uint32_t i)
{
    size_t at = names_hash(&rows[i]) & set->mask;
    for (; set->places[at] != NO_NODE; at = (at + 1) & set->mask)
        if (same_names(&rows[set->places[at]], &rows[i]))
            return set->places[at];
    set->places[at] = i;
    return NO_NODE;
}

static void note_same_names(struct linking *linking, const struct association *row, uint32_t other)
{
    char what[64];
    snprintf(what, sizeof what, "has the same names as association %u", other);
    note_bad(linking, row, what);
}

/* Adds the rows to the lookup tables, and marks rows that repeat other rows. */
static void enter_rows(struct linking *linking)
{
    struct row_set living = { .mask = 63 };
    while (living.mask < 2 * linking->count)
        living.mask = 2 * living.mask + 1;
    living.places = memory_resized(NULL, living.mask + 1, sizeof *living.places);
    memset(living.places, 0xff, (living.mask + 1) * sizeof *living.places);
    for (uint32_t i = 0; i < linking->count; i++) {
        const struct association *row = &linking->rows[i];
        if (i + PREFETCH_DISTANCE < linking->count)
            fetch_names(&living, row + PREFETCH_DISTANCE);
        linking->parent[i] = NO_NODE;
        linking->node[i] = NO_NODE;
        linking->kind[i] = row->deleted                       ? GONE
                           : linking_is_account(linking, row) ? LIVE_ACCOUNT
                                                              : LIVE_USER;
        if (id_index_add(linking->row_of_id, row->id, i) != INDEX_NONE) {
            note_bad(linking, row, "has the same id as another association");
            linking->parent[i] = DUPLICATE;
            continue;
        }
        bool may_repeat = row->deleted || linking->linked_by_id;
        uint32_t other = may_repeat ? NO_NODE : linking_add_names(&living, linking->rows, i);
        if (other != NO_NODE) {
            note_same_names(linking, row, linking->rows[other].id);
            linking->parent[i] = DUPLICATE;
            continue;
        }
        /* Use a deleted account's row only until an existing account with that name is found. */
        uint32_t *account = &linking->account_row[row->account];
        if (linking_is_account(linking, row) &&
            (*account == NO_NODE || linking->kind[*account] == GONE))
            *account = i;
    }
    free(living.places);
}

/* Returns why a name cannot be published, or NULL if it can. */
static const char *flaw_of(const struct linking *linking, uint32_t name)
{
    const char *bytes = names_text(linking->names, name);
    size_t length = names_length(linking->names, name);
    if (strlen(bytes) < length)
        return "has a name with a NUL byte";
    if (length <= LONGEST_NAME)
        return NULL;
    bool fits = utf8_valid(bytes, length) && utf8_length(bytes) <= LONGEST_NAME;
    return fits ? NULL : "has a name of more than 255 characters";
}

/*
 * Returns true if any name has a flaw.  Few sites have such names.  If no name has a flaw, rows
 * need no check.
 */
static bool any_flaw(const struct linking *linking)
{
    for (uint32_t name = 0; name < names_count(linking->names); name++)
        if (flaw_of(linking, name))
            return true;
    return false;
}

static const char *flaw_of_row(const struct linking *linking, const struct association *row)
{
    if (!linking->any_flaw)
        return NULL;
    const char *flaw = flaw_of(linking, row->account);
    flaw = flaw ? flaw : flaw_of(linking, row->user);
    return flaw ? flaw : flaw_of(linking, row->partition);
}

static bool claims_root(const struct linking *linking, const struct association *row)
{
    return linking_is_account(linking, row) && row->parent_account == linking->empty_name &&
           row->parent_id == 0;
}

static int linking_find_root(struct linking *linking, struct error *err)
{
    size_t roots = 0, named = 0;
    uint32_t named_root = NO_NODE, first = NO_NODE;
    struct text ids = { 0 };
    for (uint32_t i = 0; i < linking->count; i++) {
        const struct association *row = &linking->rows[i];
        if (row->deleted || !claims_root(linking, row) || linking->parent[i] == DUPLICATE)
            continue;
        if (roots++ < BAD_ROWS_NAMED)
            text_format(&ids, "%s%u", ids.length ? ", " : "", row->id);
        first = first == NO_NODE ? i : first;
        if (!strcmp(names_text(linking->names, row->account), "root")) {
            named++;
            named_root = i;
        }
    }
    linking->root = roots == 1 ? first : named_root;
    int result = 0;
    if (roots == 0)
        result =
            fail(err, ERROR_DATA, "there is no root among the %zu associations", linking->count);
    else if (roots > 1 && (linking->bad_rows == BAD_ROWS_FAIL || named != 1))
        result = fail(err, ERROR_DATA, "there are %zu roots: associations %s", roots, ids.bytes);
    text_free(&ids);
    return result;
}

static void note_disagreement(struct linking *linking, const struct association *row,
                              uint32_t account, uint32_t name)
{
    struct text by_id = linking_readable(linking, account),
                by_name = linking_readable(linking, name);
    findings_add(linking->findings, FINDING_PARENTS_DISAGREE, row->id,
                 "id_parent is %u (account '%s'), by name it is account '%s'", row->parent_id,
                 by_id.bytes, by_name.bytes);
    text_free(&by_id);
    text_free(&by_name);
}

/* Returns the parent's row according to the database, or NO_NODE if it does not exist. */
static uint32_t parent_row(struct linking *linking, const struct association *row)
{
    uint32_t name = linking_is_account(linking, row) ? row->parent_account : row->account;
    if (!row->parent_id)
        return name == linking->empty_name ? NO_NODE : linking->account_row[name];
    uint32_t parent = id_index_find(linking->row_of_id, row->parent_id);
    if (parent != INDEX_NONE && linking->rows[parent].account != name && !row->deleted)
        note_disagreement(linking, row, linking->rows[parent].account, name);
    return parent;
}

static void note_bad_parent(struct linking *linking, const struct association *row,
                            const char *words, uint32_t parent)
{
    char what[64];
    snprintf(what, sizeof what, "%s, association %u", words, parent);
    note_bad(linking, row, parent ? what : words);
}

static void link_parents(struct linking *linking)
{
    for (uint32_t i = 0; i < linking->count; i++) {
        struct association *row = &linking->rows[i];
        if (i == linking->root || linking->parent[i] == DUPLICATE)
            continue;
        linking->parent[i] = parent_row(linking, row);
        if (row->deleted)
            continue;
        const char *flaw = flaw_of_row(linking, row);
        if (flaw) {
            note_bad(linking, row, flaw);
            linking->parent[i] = NO_NODE;
        } else if (linking->parent[i] == NO_NODE)
            note_bad_parent(linking, row,
                            claims_root(linking, row) ? "is a second root" : "has no parent",
                            row->parent_id);
        else if (linking->kind[linking->parent[i]] == GONE)
            note_bad_parent(linking, row, "has a parent that is deleted",
                            linking->rows[linking->parent[i]].id);
        else if (linking->kind[linking->parent[i]] == LIVE_USER) {
            note_bad_parent(linking, row, "has a user as its parent",
                            linking->rows[linking->parent[i]].id);
            linking->parent[i] = NO_NODE;
        }
        if (row->shares < 0) {
            findings_add(linking->findings, FINDING_SHARES_NEGATIVE, row->id, "shares are %d",
                         row->shares);
            row->shares = 0;
        }
    }
}

bool linking_is_live_child(const struct linking *linking, uint32_t i)
{
    uint32_t parent = linking->parent[i];
    return i != linking->root && linking->kind[i] != GONE && parent < linking->count &&
           linking->kind[parent] != GONE;
}

int linking_link(struct linking *linking, struct error *err)
{
    sort_by_id(linking->rows, linking->count);
    enter_rows(linking);
    linking->any_flaw = any_flaw(linking);
    if (linking_find_root(linking, err))
        return -1;
    const struct association *root = &linking->rows[linking->root];
    const char *flaw = flaw_of_row(linking, root);
    if (flaw)
        return fail(err, ERROR_DATA, "the root, association %u, %s", root->id, flaw);
    link_parents(linking);
    return 0;
}

/* Reports a cycle for one of its rows, with the ids of up to CYCLE_NAMED other rows. */
static void note_cycle(struct linking *linking, uint32_t start)
{
    struct text what = { 0 };
    size_t others = 0;
    text_add(&what, "is in a cycle of parents");
    for (uint32_t at = linking->parent[start]; at != start; at = linking->parent[at])
        if (others++ < CYCLE_NAMED)
            text_format(&what, "%s%u", others == 1 ? ", with " : ", ", linking->rows[at].id);
    if (others > CYCLE_NAMED)
        text_format(&what, " and %zu more", others - CYCLE_NAMED);
    note_bad(linking, &linking->rows[start], what.bytes);
    text_free(&what);
}

/*
 * Finds the existing rows without a node.  Such a row is in a cycle, or below a bad row that was
 * already reported.  Each cycle is reported once.
 */
static void note_unreached(struct linking *linking, uint32_t nodes)
{
    if (nodes == linking->count)
        return;
    enum { UNSEEN, ON_PATH, DONE };
    unsigned char *state = memory_zeroed(linking->count, 1);
    for (uint32_t i = 0; i < linking->count; i++) {
        uint32_t at = i;
        while (linking_is_live_child(linking, at) && linking->node[at] == NO_NODE &&
               state[at] == UNSEEN) {
            state[at] = ON_PATH;
            at = linking->parent[at];
        }
        if (state[at] == ON_PATH && linking_is_live_child(linking, at))
            note_cycle(linking, at);
        for (at = i; state[at] == ON_PATH; at = linking->parent[at])
            state[at] = DONE;
    }
    free(state);
}

void linking_note_orphan(const struct linking *linking, const struct association *row)
{
    struct text account = linking_readable(linking, row->account);
    findings_add(linking->findings, FINDING_DELETED_WITHOUT_PARENT, row->id, "account '%s'",
                 account.bytes);
    text_free(&account);
}

int linking_check_reached(struct linking *linking, uint32_t nodes, struct error *err)
{
    note_unreached(linking, nodes);
    if (!linking->bad_count || linking->bad_rows != BAD_ROWS_FAIL)
        return 0;
    if (linking->bad_count > BAD_ROWS_NAMED)
        text_format(&linking->bad, "; and %zu more", linking->bad_count - BAD_ROWS_NAMED);
    return fail(err, ERROR_DATA, "%s", linking->bad.bytes);
}

struct linking linking_of(const struct associations *associations, enum bad_rows bad_rows,
                          struct findings *findings)
{
    const struct names *names = associations->names;
    size_t count = associations->count;
    struct linking linking = {
        .rows = associations->rows,
        .count = count,
        .names = names,
        .empty_name = associations->empty_name,
        .findings = findings,
        .row_of_id = id_index_create(),
        .account_row = memory_resized(NULL, names_count(names), sizeof(uint32_t)),
        .parent = memory_zeroed(count, sizeof(uint32_t)),
        .node = memory_zeroed(count, sizeof(uint32_t)),
        .kind = memory_zeroed(count, 1),
        .bad_rows = bad_rows,
        .linked_by_id = associations->linked_by_id,
    };
    memset(linking.account_row, 0xff, names_count(names) * sizeof *linking.account_row);
    return linking;
}

void linking_free(struct linking *linking)
{
    id_index_destroy(linking->row_of_id);
    free(linking->account_row);
    free(linking->parent);
    free(linking->node);
    free(linking->kind);
    text_free(&linking->bad);
}
