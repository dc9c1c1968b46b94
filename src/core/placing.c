/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "core/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/finding.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

#define BAD_ROWS_NAMED 10
#define CYCLE_NAMED 5

/* In characters: what the results have room for, and more than slurmdbd has. */
#define LONGEST_NAME 255

bool placing_is_account(const struct placing *placing, const struct association *row)
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
        if (!placing_is_account(placing, row))
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

/* The row that has these names already; NO_NODE where none had them, but this one has them now. */
static uint32_t add_names(struct row_set *set, const struct association *rows, uint32_t i)
{
    size_t at = names_hash(&rows[i]) & set->mask;
    for (; set->places[at] != NO_NODE; at = (at + 1) & set->mask)
        if (same_names(&rows[set->places[at]], &rows[i]))
            return set->places[at];
    set->places[at] = i;
    return NO_NODE;
}

static void note_same_names(struct placing *placing, const struct association *row, uint32_t other)
{
    char what[64];
    snprintf(what, sizeof what, "is there twice, as association %u too", other);
    note_bad(placing, row, what);
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
        placing->kind[i] = row->deleted                       ? GONE
                           : placing_is_account(placing, row) ? LIVE_ACCOUNT
                                                              : LIVE_USER;
        if (id_index_add(placing->row_of_id, row->id, i) != INDEX_NONE) {
            note_bad(placing, row, "has an id that is there twice");
            placing->parent[i] = DUPLICATE;
            continue;
        }
        uint32_t other = row->deleted ? NO_NODE : add_names(&living, placing->rows, i);
        if (other != NO_NODE) {
            note_same_names(placing, row, placing->rows[other].id);
            placing->parent[i] = DUPLICATE;
            continue;
        }
        /* A deleted account's row stands until a living one of that name is found. */
        uint32_t *account = &placing->account_row[row->account];
        if (placing_is_account(placing, row) &&
            (*account == NO_NODE || placing->kind[*account] == GONE))
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
    return placing_is_account(placing, row) && row->parent_account == placing->empty_name &&
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
    uint32_t name = placing_is_account(placing, row) ? row->parent_account : row->account;
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

bool placing_is_live_child(const struct placing *placing, uint32_t i)
{
    uint32_t parent = placing->parent[i];
    return i != placing->root && placing->kind[i] != GONE && parent < placing->count &&
           placing->kind[parent] != GONE;
}

int placing_link(struct placing *placing, struct error *err)
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
    return 0;
}

/* Name a cycle by one that is in it, and the others as far as they are few. */
static void note_cycle(struct placing *placing, uint32_t start)
{
    struct text what = { 0 };
    size_t others = 0;
    text_add(&what, "is in a cycle of parents");
    for (uint32_t at = placing->parent[start]; at != start; at = placing->parent[at])
        if (others++ < CYCLE_NAMED)
            text_format(&what, "%s%u", others == 1 ? ", with " : ", ", placing->rows[at].id);
    if (others > CYCLE_NAMED)
        text_format(&what, " and %zu more", others - CYCLE_NAMED);
    note_bad(placing, &placing->rows[start], what.bytes);
    text_free(&what);
}

/* Live rows that were not reached hang below a bad row or in a cycle.  A cycle is named once. */
static void note_unreached(struct placing *placing, uint32_t nodes)
{
    if (nodes == placing->count)
        return;
    enum { UNSEEN, ON_PATH, DONE };
    unsigned char *state = memory_zeroed(placing->count, 1);
    for (uint32_t i = 0; i < placing->count; i++) {
        uint32_t at = i;
        while (placing_is_live_child(placing, at) && placing->node[at] == NO_NODE &&
               state[at] == UNSEEN) {
            state[at] = ON_PATH;
            at = placing->parent[at];
        }
        if (state[at] == ON_PATH && placing_is_live_child(placing, at))
            note_cycle(placing, at);
        for (at = i; state[at] == ON_PATH; at = placing->parent[at])
            state[at] = DONE;
    }
    free(state);
}

void placing_note_orphan(const struct placing *placing, const struct association *row)
{
    struct text account = readable(placing, row->account);
    findings_add(placing->findings, FINDING_DELETED_WITHOUT_PARENT, row->id, "account '%s'",
                 account.bytes);
    text_free(&account);
}

int placing_check_reached(struct placing *placing, uint32_t nodes, struct error *err)
{
    note_unreached(placing, nodes);
    if (!placing->bad_count || placing->bad_rows != BAD_ROWS_FAIL)
        return 0;
    if (placing->bad_count > BAD_ROWS_NAMED)
        text_format(&placing->bad, "; and %zu more", placing->bad_count - BAD_ROWS_NAMED);
    return fail(err, ERROR_DATA, "%s", placing->bad.bytes);
}

struct placing placing_of(struct association *rows, size_t count, const struct names *names,
                          uint32_t empty_name, enum bad_rows bad_rows, struct findings *findings)
{
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
    return placing;
}

void placing_free(struct placing *placing)
{
    id_index_destroy(placing->row_of_id);
    free(placing->account_row);
    free(placing->parent);
    free(placing->node);
    free(placing->kind);
    text_free(&placing->bad);
}
