/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "results/share_rows.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/tree/past.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "results/publication.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* As share_change_read.sql has them. */
enum {
    SHARE_ID,
    SHARE_AS_OF,
    SHARE_DELETED,
    SHARE_PARENT_ID,
    SHARE_PARENT_ACCOUNT,
    SHARE_ACCOUNT,
    SHARE_USER,
    SHARE_PARTITION,
    SHARE_SHARES
};
#define SHARE_TYPES "iiiitttti"

static const struct db_column change_columns[] = {
    { "cluster", 't' },   { "id_assoc", 'i' },       { "as_of", 'i' },          { "deleted", 'i' },
    { "run_id", 'i' },    { "parent_id", 'i' },      { "parent_account", 't' }, { "account", 't' },
    { "user_name", 't' }, { "partition_name", 't' }, { "shares", 'i' },
};

/* What runs last knew of an association.  Names are UTF-8. */
struct known {
    int64_t id, parent_id; /* 0: none */
    int64_t shares;
    bool deleted, met;
    const char *parent_account, *account, *user, *partition;
};

static bool same(const struct known *one, const struct known *other)
{
    return one->parent_id == other->parent_id && one->shares == other->shares &&
           one->deleted == other->deleted && !strcmp(one->parent_account, other->parent_account) &&
           !strcmp(one->account, other->account) && !strcmp(one->user, other->user) &&
           !strcmp(one->partition, other->partition);
}

/* ---- What is stored ---- */

struct state {
    bool found;
    int64_t last_as_of;
    uint64_t hash;
};

static int read_state(struct db *db, const char *cluster, struct state *state, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    *state = (struct state){ 0 };
    struct db_rows *rows = db_query(db, sql_query_share_state_read, &name, 1, "ii", err);
    if (db_fetch(rows, &row, err) > 0)
        *state = (struct state){ true, row[0].integer, (uint64_t)row[1].integer };
    return db_finish(rows);
}

static uint32_t name_of(struct past *past, const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return names_add(past->names, is_text ? value->text.bytes : "",
                     is_text ? value->text.length : 0);
}

static void tell(struct past *past, const struct db_value *row)
{
    struct change change = {
        .at = row[SHARE_AS_OF].integer,
        .id = (uint32_t)row[SHARE_ID].integer,
        .kind = db_value_integer(&row[SHARE_DELETED], 0) ? CHANGE_SEEN_GONE : CHANGE_SEEN,
        .parent_id = (uint32_t)db_value_integer(&row[SHARE_PARENT_ID], 0),
        .account = name_of(past, &row[SHARE_ACCOUNT]),
        .user = name_of(past, &row[SHARE_USER]),
        .partition = name_of(past, &row[SHARE_PARTITION]),
        .parent_account = name_of(past, &row[SHARE_PARENT_ACCOUNT]),
    };
    change.has_shares = change.kind == CHANGE_SEEN;
    change.shares = (int32_t)db_value_integer(&row[SHARE_SHARES], SHARES_PARENT);
    past_add(past, &change);
}

int share_rows_read(struct db *db, const char *cluster, struct past *past, struct error *err)
{
    struct state state;
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    int64_t first = NEVER;
    if (read_state(db, cluster, &state, err))
        return -1;
    struct db_rows *rows = db_query(db, sql_query_share_change_read, &name, 1, SHARE_TYPES, err);
    if (!rows)
        return -1;
    int got;
    while ((got = db_fetch(rows, &row, err)) > 0) {
        tell(past, row);
        int64_t as_of = row[SHARE_AS_OF].integer;
        first = first == NEVER || as_of < first ? as_of : first;
    }
    db_finish(rows);
    if (first != NEVER && state.found)
        past_set_seen(past, first, state.last_as_of);
    return got;
}

/* ---- What has changed ---- */

struct noting {
    const struct publisher *publisher;
    int64_t seen_at;
    struct arena *arena;
    struct known *known;
    size_t count, room;
    struct id_index *places;
    struct db_bulk *bulk;
};

static const char *copy_of(struct noting *noting, const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return arena_copy(noting->arena, is_text ? value->text.bytes : "",
                      is_text ? value->text.length : 0);
}

/* The rows come by ascending instant; the last one of an association counts. */
static void keep_last(struct noting *noting, const struct db_value *row)
{
    struct known last = {
        .id = row[SHARE_ID].integer,
        .parent_id = db_value_integer(&row[SHARE_PARENT_ID], 0),
        .shares = db_value_integer(&row[SHARE_SHARES], SHARES_PARENT),
        .deleted = db_value_integer(&row[SHARE_DELETED], 0) != 0,
        .parent_account = copy_of(noting, &row[SHARE_PARENT_ACCOUNT]),
        .account = copy_of(noting, &row[SHARE_ACCOUNT]),
        .user = copy_of(noting, &row[SHARE_USER]),
        .partition = copy_of(noting, &row[SHARE_PARTITION]),
    };
    uint32_t place = id_index_add(noting->places, (uint64_t)last.id, (uint32_t)noting->count);
    if (place != INDEX_NONE) {
        noting->known[place] = last;
        return;
    }
    if (noting->count == noting->room) {
        noting->room = noting->room ? noting->room * 2 : 1024;
        noting->known = memory_resized(noting->known, noting->room, sizeof *noting->known);
    }
    noting->known[noting->count++] = last;
}

static int read_known(struct noting *noting, struct error *err)
{
    const struct db_value *row;
    struct db_value cluster = db_text(noting->publisher->cluster);
    struct db_rows *rows =
        db_query(noting->publisher->db, sql_query_share_change_read, &cluster, 1, SHARE_TYPES, err);
    while (db_fetch(rows, &row, err) > 0)
        keep_last(noting, row);
    return db_finish(rows);
}

static int note(struct noting *noting, const struct known *changed, struct error *err)
{
    bool no_shares = changed->deleted || changed->shares == SHARES_PARENT;
    struct db_value row[] = {
        db_text(noting->publisher->cluster),
        db_integer(changed->id),
        db_integer(noting->seen_at),
        db_integer(changed->deleted),
        db_integer(noting->publisher->run_id),
        changed->parent_id ? db_integer(changed->parent_id) : db_null(),
        db_text(changed->parent_account),
        db_text(changed->account),
        db_text(changed->user),
        db_text(changed->partition),
        no_shares ? db_null() : db_integer(changed->shares),
    };
    _Static_assert(COUNT(row) == COUNT(change_columns), "a value for each column");
    return db_bulk_row(noting->bulk, row, err);
}

static int note_changes(struct noting *noting, const struct known *present, size_t count,
                        struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = id_index_find(noting->places, (uint64_t)present[i].id);
        struct known *known = place == INDEX_NONE ? NULL : &noting->known[place];
        if (known)
            known->met = true;
        if ((!known || !same(known, &present[i])) && note(noting, &present[i], err))
            return -1;
    }
    for (size_t i = 0; i < noting->count; i++) {
        struct known *known = &noting->known[i];
        if (known->met || known->deleted)
            continue;
        known->deleted = true;
        if (note(noting, known, err))
            return -1;
    }
    return 0;
}

static int write_changes(struct noting *noting, const struct known *present, size_t count,
                         struct error *err)
{
    /* An instant that was published before is written over. */
    if (read_known(noting, err))
        return -1;
    noting->bulk = db_bulk_begin(noting->publisher->db, "fairmill_share_change", change_columns,
                                 COUNT(change_columns), 3, err);
    if (!noting->bulk)
        return -1;
    if (note_changes(noting, present, count, err)) {
        db_bulk_abandon(noting->bulk);
        return -1;
    }
    return db_bulk_end(noting->bulk, err);
}

static int write_state(struct noting *noting, uint64_t hash, struct error *err)
{
    static const struct db_column columns[] = {
        { "cluster", 't' },
        { "last_as_of", 'i' },
        { "hash", 'i' },
    };
    struct db_value row[] = { db_text(noting->publisher->cluster), db_integer(noting->seen_at),
                              db_integer((int64_t)hash) };
    struct db_bulk *bulk = db_bulk_begin(noting->publisher->db, "fairmill_share_state", columns,
                                         COUNT(columns), 1, err);
    db_bulk_row(bulk, row, err);
    return db_bulk_end(bulk, err);
}

/* Names by their numbers, as UTF-8. */
static const char **readable_names(const struct names *names, struct arena *arena)
{
    uint32_t count = names_count(names);
    const char **texts = memory_zeroed((size_t)count + 1, sizeof *texts);
    struct text text = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        texts[i] = names_text(names, i);
        if (utf8_valid(texts[i], strlen(texts[i])))
            continue;
        text.length = 0;
        text_add_as_utf8(&text, texts[i], strlen(texts[i]));
        texts[i] = arena_copy(arena, text.bytes, text.length);
    }
    text_free(&text);
    return texts;
}

/* The tree as it is to be known. */
static struct known *present_of(const struct publication *publication, struct arena *arena)
{
    const struct tree *tree = publication->tree;
    const char **names = readable_names(publication->names, arena);
    struct known *present = memory_zeroed(tree->count, sizeof *present);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        present[i] = (struct known){
            .id = node->id,
            .parent_id = i ? tree->nodes[node->parent].id : 0,
            .shares = node->shares,
            .parent_account = i ? names[tree->nodes[node->parent].account] : "",
            .account = names[node->account],
            .user = names[node->user],
            .partition = names[node->partition],
        };
    }
    free(names);
    return present;
}

/* Of all that is noted, in any order: most runs need nothing but this. */
uint64_t share_rows_hash(const struct tree *tree, const struct names *names)
{
    uint32_t count = names_count(names);
    uint64_t *hashes = memory_zeroed((size_t)count + 1, sizeof *hashes), sum = 0;
    for (uint32_t i = 0; i < count; i++)
        hashes[i] = XXH3_64bits(names_text(names, i), names_length(names, i));
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        const uint64_t parts[] = {
            (uint64_t)node->id << 32 | (i ? tree->nodes[node->parent].id : 0),
            (uint64_t)node->shares,
            hashes[node->account],
            hashes[node->user],
            hashes[node->partition],
        };
        sum += XXH3_64bits(parts, sizeof parts);
    }
    free(hashes);
    return sum;
}

static int note_all(struct noting *noting, const struct publication *publication, struct error *err)
{
    noting->arena = arena_create();
    noting->places = id_index_create();
    struct known *present = present_of(publication, noting->arena);
    int result = write_changes(noting, present, publication->tree->count, err);
    free(present);
    free(noting->known);
    id_index_destroy(noting->places);
    arena_destroy(noting->arena);
    return result;
}

int share_rows_write(const struct publisher *publisher, const struct publication *publication,
                     int64_t seen_at, struct error *err)
{
    struct noting noting = { .publisher = publisher, .seen_at = seen_at };
    struct state state;
    if (read_state(publisher->db, publisher->cluster, &state, err))
        return -1;
    if (state.found && seen_at < state.last_as_of)
        return 0;
    uint64_t hash = share_rows_hash(publication->tree, publication->names);
    if ((!state.found || state.hash != hash) && note_all(&noting, publication, err))
        return -1;
    return write_state(&noting, hash, err);
}
