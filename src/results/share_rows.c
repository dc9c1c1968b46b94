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

/* The rows come by ascending instant. */
static int read_changes(struct db *db, const char *cluster, struct past *past, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_share_change_read, &name, 1, SHARE_TYPES, err);
    while (db_fetch(rows, &row, err) > 0)
        add_change(past, row);
    return db_finish(rows);
}

int share_rows_read(struct db *db, const char *cluster, struct past *past, struct error *err)
{
    struct state state;
    size_t before = past->count;
    if (read_state(db, cluster, &state, err) || read_changes(db, cluster, past, err))
        return -1;
    if (past->count > before && state.found)
        past_set_seen(past, past->changes[before].at, state.last_as_of);
    return 0;
}

/* ---- What has changed ---- */

struct recorder {
    const struct publisher *publisher;
    int64_t seen_at;
    struct past *known;      /* what runs recorded */
    struct id_index *places; /* of each association's last change in it */
    struct row_writer writer;
};

static bool same(const struct change *one, const struct change *other)
{
    return one->parent_id == other->parent_id && one->shares == other->shares &&
           one->kind == other->kind && one->parent_account == other->parent_account &&
           one->account == other->account && one->user == other->user &&
           one->partition == other->partition;
}

static void write_record(struct recorder *recorder, const struct change *changed, bool deleted,
                         struct error *err)
{
    const struct names *names = recorder->known->names;
    bool no_shares = deleted || changed->shares == SHARES_PARENT;
    struct row_field row[] = {
        { "cluster", 't', db_text(recorder->publisher->cluster) },
        { "id_assoc", 'i', db_integer(changed->id) },
        { "as_of", 'i', db_integer(recorder->seen_at) },
        { "deleted", 'i', db_integer(deleted) },
        { "run_id", 'i', db_integer(recorder->publisher->run_id) },
        { "parent_id", 'i', changed->parent_id ? db_integer(changed->parent_id) : db_null() },
        { "parent_account", 't', db_text(names_text(names, changed->parent_account)) },
        { "account", 't', db_text(names_text(names, changed->account)) },
        { "user_name", 't', db_text(names_text(names, changed->user)) },
        { "partition_name", 't', db_text(names_text(names, changed->partition)) },
        { "shares", 'i', no_shares ? db_null() : db_integer(changed->shares) },
    };
    rows_add(&recorder->writer, row, COUNT(row), err);
}

static void write_differences(struct recorder *recorder, const struct change *current, size_t count,
                              struct error *err)
{
    const struct past *known = recorder->known;
    bool *seen = memory_zeroed(known->count, sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        uint32_t place = id_index_find(recorder->places, current[i].id);
        if (place != INDEX_NONE)
            seen[place] = true;
        if (place == INDEX_NONE || !same(&known->changes[place], &current[i]))
            write_record(recorder, &current[i], false, err);
    }
    for (size_t i = 0; i < known->count; i++) {
        const struct change *change = &known->changes[i];
        bool is_last = id_index_find(recorder->places, change->id) == i;
        if (is_last && !seen[i] && change->kind == CHANGE_SEEN)
            write_record(recorder, change, true, err);
    }
    free(seen);
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

/* For each name the number that it has, as UTF-8, in `readable`. */
static uint32_t *readable_numbers(const struct names *names, struct names *readable)
{
    uint32_t count = names_count(names);
    uint32_t *numbers = memory_zeroed(count, sizeof *numbers);
    struct text text = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        text.length = 0;
        text_add(&text, "");
        text_add_as_utf8(&text, names_text(names, i), strlen(names_text(names, i)));
        numbers[i] = names_add(readable, text.bytes, text.length);
    }
    text_free(&text);
    return numbers;
}

/* The tree's associations as they are to be recorded, by node. */
static struct change *current_state(const struct publication *publication, struct names *names)
{
    const struct tree *tree = publication->tree;
    uint32_t *numbers = readable_numbers(publication->names, names);
    uint32_t no_name = names_add(names, "", 0);
    struct change *current = memory_zeroed(tree->count, sizeof *current);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        current[i] = (struct change){
            .id = node->id,
            .kind = CHANGE_SEEN,
            .shares = node->shares,
            .parent_id = i ? tree->nodes[node->parent].id : 0,
            .parent_account = i ? numbers[tree->nodes[node->parent].account] : no_name,
            .account = numbers[node->account],
            .user = numbers[node->user],
            .partition = numbers[node->partition],
        };
    }
    free(numbers);
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

/* Rows of an instant that was published before are replaced. */
static int update(struct recorder *recorder, const struct publication *publication,
                  struct error *err)
{
    const struct publisher *publisher = recorder->publisher;
    struct past *known = recorder->known = past_create(recorder->seen_at);
    recorder->places = id_index_create();
    recorder->writer =
        (struct row_writer){ .db = publisher->db, .table = "fairmill_share_change", .keys = 3 };
    int result = read_changes(publisher->db, publisher->cluster, known, err);
    for (size_t i = known->count; i-- > 0;)
        id_index_add(recorder->places, known->changes[i].id, (uint32_t)i);
    if (!result) {
        struct change *current = current_state(publication, known->names);
        write_differences(recorder, current, publication->tree->count, err);
        free(current);
    }
    result = rows_end(&recorder->writer, result, err);
    id_index_destroy(recorder->places);
    past_destroy(known);
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
