/* SPDX-License-Identifier: MIT */
#include "results/share_rows.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/tree/past.h"
#include "core/tree/tree.h"
#include "results/publication.h"
#include "results/rows.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The columns of sql_query_share_change_read. */
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

/* An association as a run recorded it last, or as it is now.  Names are UTF-8. */
struct record {
    int64_t id, parent_id; /* 0: none */
    int64_t shares;
    bool deleted;
    bool seen; /* recorded, and there now */
    const char *parent_account, *account, *user, *partition;
};

static bool same(const struct record *one, const struct record *other)
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
        *state = (struct state){ true, row[0].integer, rows_bits_of(&row[1]) };
    return db_finish(rows);
}

static uint32_t name_of(struct past *past, const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return names_add(past->names, is_text ? value->text.bytes : "",
                     is_text ? value->text.length : 0);
}

static void add_change(struct past *past, const struct db_value *row)
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
    while (db_fetch(rows, &row, err) > 0) {
        add_change(past, row);
        int64_t as_of = row[SHARE_AS_OF].integer;
        first = first == NEVER || as_of < first ? as_of : first;
    }
    if (first != NEVER && state.found)
        past_set_seen(past, first, state.last_as_of);
    return db_finish(rows);
}

/* ---- What has changed ---- */

struct recorder {
    const struct publisher *publisher;
    int64_t seen_at;
    struct arena *arena;
    struct record *records;
    size_t count;
    struct id_index *places;
    struct row_writer writer;
};

static const char *copy_of(struct recorder *recorder, const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return arena_copy(recorder->arena, is_text ? value->text.bytes : "",
                      is_text ? value->text.length : 0);
}

/* The rows come by ascending instant; the last one of an association counts. */
static void keep_last(struct recorder *recorder, const struct db_value *row)
{
    struct record last = {
        .id = row[SHARE_ID].integer,
        .parent_id = db_value_integer(&row[SHARE_PARENT_ID], 0),
        .shares = db_value_integer(&row[SHARE_SHARES], SHARES_PARENT),
        .deleted = db_value_integer(&row[SHARE_DELETED], 0) != 0,
        .parent_account = copy_of(recorder, &row[SHARE_PARENT_ACCOUNT]),
        .account = copy_of(recorder, &row[SHARE_ACCOUNT]),
        .user = copy_of(recorder, &row[SHARE_USER]),
        .partition = copy_of(recorder, &row[SHARE_PARTITION]),
    };
    uint32_t place = id_index_add(recorder->places, (uint64_t)last.id, (uint32_t)recorder->count);
    if (place != INDEX_NONE) {
        recorder->records[place] = last;
        return;
    }
    recorder->records = memory_grown(recorder->records, recorder->count, sizeof *recorder->records);
    recorder->records[recorder->count++] = last;
}

static int read_records(struct recorder *recorder, struct error *err)
{
    const struct db_value *row;
    struct db_value cluster = db_text(recorder->publisher->cluster);
    struct db_rows *rows = db_query(recorder->publisher->db, sql_query_share_change_read, &cluster,
                                    1, SHARE_TYPES, err);
    while (db_fetch(rows, &row, err) > 0)
        keep_last(recorder, row);
    return db_finish(rows);
}

static void write_record(struct recorder *recorder, const struct record *changed, struct error *err)
{
    bool no_shares = changed->deleted || changed->shares == SHARES_PARENT;
    struct row_field row[] = {
        { "cluster", 't', db_text(recorder->publisher->cluster) },
        { "id_assoc", 'i', db_integer(changed->id) },
        { "as_of", 'i', db_integer(recorder->seen_at) },
        { "deleted", 'i', db_integer(changed->deleted) },
        { "run_id", 'i', db_integer(recorder->publisher->run_id) },
        { "parent_id", 'i', changed->parent_id ? db_integer(changed->parent_id) : db_null() },
        { "parent_account", 't', db_text(changed->parent_account) },
        { "account", 't', db_text(changed->account) },
        { "user_name", 't', db_text(changed->user) },
        { "partition_name", 't', db_text(changed->partition) },
        { "shares", 'i', no_shares ? db_null() : db_integer(changed->shares) },
    };
    rows_add(&recorder->writer, row, COUNT(row), err);
}

static void write_differences(struct recorder *recorder, const struct record *current, size_t count,
                              struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t place = id_index_find(recorder->places, (uint64_t)current[i].id);
        struct record *known = place == INDEX_NONE ? NULL : &recorder->records[place];
        if (known)
            known->seen = true;
        if (!known || !same(known, &current[i]))
            write_record(recorder, &current[i], err);
    }
    for (size_t i = 0; i < recorder->count; i++) {
        struct record *known = &recorder->records[i];
        if (known->seen || known->deleted)
            continue;
        known->deleted = true;
        write_record(recorder, known, err);
    }
}

static int write_changes(struct recorder *recorder, const struct record *current, size_t count,
                         struct error *err)
{
    /* Rows of an instant that was published before are replaced. */
    if (read_records(recorder, err))
        return -1;
    recorder->writer = (struct row_writer){ .db = recorder->publisher->db,
                                            .table = "fairmill_share_change",
                                            .keys = 3 };
    write_differences(recorder, current, count, err);
    return rows_end(&recorder->writer, 0, err);
}

static int write_state(struct recorder *recorder, uint64_t hash, struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', db_text(recorder->publisher->cluster) },
        { "last_as_of", 'i', db_integer(recorder->seen_at) },
        { "hash", 'i', rows_bits(hash) },
    };
    return rows_write_one(recorder->publisher->db, "fairmill_share_state", 1, row, COUNT(row), err);
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

/* The tree's associations as they are to be recorded, by node. */
static struct record *current_records(const struct publication *publication, struct arena *arena)
{
    const struct tree *tree = publication->tree;
    const char **names = readable_names(publication->names, arena);
    struct record *current = memory_zeroed(tree->count, sizeof *current);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        current[i] = (struct record){
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
    return current;
}

/* Whatever the order of associations.  Most runs find the hash unchanged and need nothing else. */
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

static int update(struct recorder *recorder, const struct publication *publication,
                  struct error *err)
{
    recorder->arena = arena_create();
    recorder->places = id_index_create();
    struct record *current = current_records(publication, recorder->arena);
    int result = write_changes(recorder, current, publication->tree->count, err);
    free(current);
    free(recorder->records);
    id_index_destroy(recorder->places);
    arena_destroy(recorder->arena);
    return result;
}

int share_rows_write(const struct publisher *publisher, const struct publication *publication,
                     struct error *err)
{
    struct recorder recorder = { .publisher = publisher, .seen_at = publication->seen_at };
    struct state state;
    if (read_state(publisher->db, publisher->cluster, &state, err))
        return -1;
    if (state.found && recorder.seen_at < state.last_as_of)
        return 0;
    uint64_t hash = share_rows_hash(publication->tree, publication->names);
    if ((!state.found || state.hash != hash) && update(&recorder, publication, err))
        return -1;
    return write_state(&recorder, hash, err);
}
