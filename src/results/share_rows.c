/* SPDX-License-Identifier: MIT */
#include "results/share_rows.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/tree/association_history.h"
#include "core/tree/tree.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
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
    SHARE_SHARES,
    SHARE_MODIFIED
};
#define SHARE_TYPES "iiiittttii"

/* ---- Stored rows ---- */

struct share_rows_state {
    bool found, damaged; /* if `damaged` is true, `found` is false */
    int64_t last_as_of;
    uint64_t hash;
};
static const char state_table[] = "fairmill_share_state";

static struct row_hash rows_of_state(const struct share_rows_state *state)
{
    const uint64_t words[] = { (uint64_t)state->last_as_of, state->hash };
    struct row_hash stored = { 0 };
    if (state->found)
        row_hash_add(&stored, words, COUNT(words));
    return stored;
}

static int read_state(struct db *db, const char *cluster, struct share_rows_state *state,
                      struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct row_hash known;
    *state = (struct share_rows_state){ 0 };
    struct db_rows *rows = db_query(db, sql_query_share_state_read, &name, 1, "ii", err);
    if (db_fetch(rows, &row, err) > 0)
        *state = (struct share_rows_state){ true, false, row[0].integer, rows_bits_of(&row[1]) };
    if (db_finish(rows) || stored_read_all(db, cluster, state_table, &known, err))
        return -1;
    struct row_hash found = rows_of_state(state);
    if (known.rows && !row_hash_same(&known, &found))
        *state = (struct share_rows_state){ .damaged = true };
    return 0;
}

int share_rows_last(struct db *db, const char *cluster, int64_t *last, struct error *err)
{
    struct share_rows_state state;
    if (read_state(db, cluster, &state, err))
        return -1;
    *last = state.found ? state.last_as_of : NEVER;
    return 0;
}

/*
 * A time at which a run recorded rows.  The run at `seen_before` was the previous run; it need not
 * have recorded any rows.
 */
struct noted_run {
    int64_t as_of, seen_before;
};

struct share_records {
    struct names *names;
    struct observation *rows; /* in ascending order of id, then of time */
    size_t count;
    struct noted_run *runs;
    size_t run_count;
    struct share_rows_state state;
    int64_t distrusted; /* time of the first damaged record, or NEVER */
};

static uint32_t share_rows_name_of(struct names *names, const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return names_add(names, is_text ? value->text.bytes : "", is_text ? value->text.length : 0);
}

static struct observation observation_of(const struct db_value *row, struct names *names)
{
    return (struct observation){
        .at = row[SHARE_AS_OF].integer,
        .id = (uint32_t)row[SHARE_ID].integer,
        .lives = !db_value_integer(&row[SHARE_DELETED], 0),
        .shares = (int32_t)db_value_integer(&row[SHARE_SHARES], SHARES_PARENT),
        .parent_id = (uint32_t)db_value_integer(&row[SHARE_PARENT_ID], 0),
        .account = share_rows_name_of(names, &row[SHARE_ACCOUNT]),
        .user = share_rows_name_of(names, &row[SHARE_USER]),
        .partition = share_rows_name_of(names, &row[SHARE_PARTITION]),
        .parent_account = share_rows_name_of(names, &row[SHARE_PARENT_ACCOUNT]),
        .modified = db_value_integer(&row[SHARE_MODIFIED], NEVER),
    };
}

static int share_rows_read_changes(struct db *db, const char *cluster,
                                   struct share_records *records, struct error *err)
{
    const struct db_value *row, arguments[] = { db_text(cluster) };
    struct db_rows *rows =
        db_query(db, sql_query_share_change_read, arguments, COUNT(arguments), SHARE_TYPES, err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&records->rows, &records->count) = observation_of(row, records->names);
    return db_finish(rows);
}

static int read_runs(struct db *db, const char *cluster, struct share_records *records,
                     struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_share_runs_read, &name, 1, "ii", err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&records->runs, &records->run_count) =
            (struct noted_run){ row[0].integer, db_value_integer(&row[1], NEVER) };
    return db_finish(rows);
}

int share_records_read(struct db *db, const char *cluster, struct share_records **read,
                       struct error *err)
{
    struct share_records *records = memory_zeroed(1, sizeof *records);
    records->names = names_create();
    records->distrusted = NEVER;
    *read = records;
    if (!read_state(db, cluster, &records->state, err) &&
        !stored_find_loss(db, cluster, &stored_changes, &records->distrusted, err) &&
        !read_runs(db, cluster, records, err) &&
        !share_rows_read_changes(db, cluster, records, err))
        return 0;
    share_records_free(records);
    *read = NULL;
    return -1;
}

void share_records_free(struct share_records *records)
{
    if (!records)
        return;
    names_destroy(records->names);
    free(records->rows);
    free(records->runs);
    free(records);
}

/*
 * Updates the history's two runs with a run at the time `at`.  The two runs are the latest run up
 * to the history's time, and the earliest run after it.  Ignores runs before the first record.
 */
static void share_rows_take_run(struct association_history *history, int64_t first, int64_t at)
{
    int64_t before = history->before.at, after = history->after.at;
    if (at < first)
        return;
    if (at <= history->now)
        association_history_set_runs(history, at > before ? at : before, after);
    else
        association_history_set_runs(history, before, after == NEVER || at < after ? at : after);
}

/*
 * Finds the two runs around the history's time.  Each run observed all associations.  The
 * associations that a run did not record were unchanged.
 */
static void find_runs(const struct share_records *records, struct association_history *history)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < records->run_count; i++)
        first = records->runs[i].as_of < first ? records->runs[i].as_of : first;
    for (size_t i = 0; i < records->run_count; i++) {
        share_rows_take_run(history, first, records->runs[i].as_of);
        share_rows_take_run(history, first, records->runs[i].seen_before);
    }
    if (records->run_count && records->state.found)
        share_rows_take_run(history, first, records->state.last_as_of);
}

/* Adds all rows to a history whose two runs are set. */
static void tell_rows(const struct share_records *records, struct association_history *history)
{
    uint32_t count = names_count(records->names);
    uint32_t *numbers = memory_zeroed((size_t)count + 1, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = names_add(history->names, names_text(records->names, i),
                               names_length(records->names, i));
    for (size_t i = 0; i < records->count; i++) {
        struct observation observation = records->rows[i];
        observation.account = numbers[observation.account];
        observation.user = numbers[observation.user];
        observation.partition = numbers[observation.partition];
        observation.parent_account = numbers[observation.parent_account];
        association_history_observe(history, &observation);
    }
    free(numbers);
}

/* A state depends on all records before it, so one damaged record makes all records unusable. */
void share_records_tell(const struct share_records *records, struct association_history *history)
{
    history->distrusted = records->distrusted != NEVER ? records->distrusted
                          : records->state.damaged     ? history->now
                                                       : NEVER;
    if (history->distrusted != NEVER)
        return;
    find_runs(records, history);
    if (history->before.at != NEVER || history->after.at != NEVER)
        tell_rows(records, history);
}

int share_rows_read(struct db *db, const char *cluster, struct association_history *history,
                    struct error *err)
{
    struct share_records *records;
    if (share_records_read(db, cluster, &records, err))
        return -1;
    share_records_tell(records, history);
    share_records_free(records);
    return 0;
}

/* ---- Changes ---- */

struct recorder {
    const struct publisher *publisher;
    int64_t seen_at, seen_before;
    struct association_history *known; /* latest record of each association */
    struct id_index *places;           /* index of each association in `known` */
    struct row_writer writer;
};

/*
 * Returns the time of an association's last modification; NEVER if it is unknown or after the run
 * read the tree.
 */
static int64_t modified_of(const struct publication *publication, uint32_t id)
{
    uint32_t modified =
        publication->modified ? id_index_find(publication->modified, id) : INDEX_NONE;
    return modified == INDEX_NONE || modified > publication->seen_at ? NEVER : (int64_t)modified;
}

/*
 * Returns true if the modification time need not be recorded.  If the time was unknown at the last
 * record, it is recorded only if it is later than that record.  A bulk modification, as when an
 * account is moved or a QOS is removed, is recorded for the root only.
 */
static bool same_touch(const struct observation *known, const struct observation *current,
                       const struct observation *root)
{
    return current->modified == NEVER || known->modified == current->modified ||
           (known->modified == NEVER && current->modified <= known->at) ||
           (current->modified == root->modified && current->id != root->id);
}

static bool share_rows_same(const struct observation *one, const struct observation *other,
                            const struct observation *root)
{
    return one->parent_id == other->parent_id && one->shares == other->shares &&
           one->lives == other->lives && one->parent_account == other->parent_account &&
           one->account == other->account && one->user == other->user &&
           one->partition == other->partition && same_touch(one, other, root);
}

static void write_record(struct recorder *recorder, const struct observation *changed,
                         struct error *err)
{
    const struct names *names = recorder->known->names;
    bool no_shares = !changed->lives || changed->shares == SHARES_PARENT;
    int64_t modified = changed->modified, before = recorder->seen_before;
    struct row_field row[] = {
        { "cluster", 't', db_text(recorder->publisher->cluster) },
        { "id_assoc", 'i', db_integer(changed->id) },
        { "as_of", 'i', db_integer(recorder->seen_at) },
        { "deleted", 'i', db_integer(!changed->lives) },
        { "run_id", 'i', db_integer(recorder->publisher->run_id) },
        { "parent_id", 'i', changed->parent_id ? db_integer(changed->parent_id) : db_null() },
        { "parent_account", 't', db_text(names_text(names, changed->parent_account)) },
        { "account", 't', db_text(names_text(names, changed->account)) },
        { "user_name", 't', db_text(names_text(names, changed->user)) },
        { "partition_name", 't', db_text(names_text(names, changed->partition)) },
        { "shares", 'i', no_shares ? db_null() : db_integer(changed->shares) },
        { "modified", 'i', modified == NEVER ? db_null() : db_integer(modified) },
        { "seen_before", 'i', before == NEVER ? db_null() : db_integer(before) },
    };
    rows_add(&recorder->writer, row, COUNT(row), err);
}

/*
 * Records the changes since the last record, or the root if no association changed.  So each run
 * that observed a modification has a record.
 */
static void write_differences(struct recorder *recorder, const struct publication *publication,
                              const struct observation *current, struct error *err)
{
    const struct observations *known = &recorder->known->before;
    bool *seen = memory_zeroed(known->count + 1, sizeof *seen), any = false;
    for (size_t i = 0; i < publication->tree->count; i++) {
        uint32_t place = id_index_find(recorder->places, current[i].id);
        if (place != INDEX_NONE)
            seen[place] = true;
        if (place != INDEX_NONE && share_rows_same(&known->rows[place], &current[i], &current[0]))
            continue;
        write_record(recorder, &current[i], err);
        any = true;
    }
    for (size_t i = 0; i < known->count; i++) {
        struct observation gone = known->rows[i];
        gone.lives = false;
        gone.modified = modified_of(publication, gone.id);
        if (seen[i] || (!known->rows[i].lives && same_touch(&known->rows[i], &gone, &current[0])))
            continue;
        write_record(recorder, &gone, err);
        any = true;
    }
    if (!any)
        write_record(recorder, &current[0], err);
    free(seen);
}

static int share_rows_write_state(struct recorder *recorder, uint64_t hash, struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', db_text(recorder->publisher->cluster) },
        { "last_as_of", 'i', db_integer(recorder->seen_at) },
        { "hash", 'i', rows_bits(hash) },
    };
    const struct share_rows_state state = { true, false, recorder->seen_at, hash };
    const struct hash_segment part = { 0, rows_of_state(&state) };
    const struct publisher *publisher = recorder->publisher;
    if (rows_write_one(publisher->db, state_table, 1, row, COUNT(row), err))
        return -1;
    return stored_write(publisher->db, publisher->cluster, state_table, &part, err);
}

/*
 * Converts each name to UTF-8 and adds it to `readable`.  Returns the number of each name in
 * `readable`, indexed by its number in `names`.  The caller frees the array.
 */
static uint32_t *readable_numbers(const struct names *names, struct names *readable)
{
    uint32_t count = names_count(names);
    uint32_t *numbers = memory_zeroed(count, sizeof *numbers);
    struct text text = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        text.length = 0;
        text_add_as_utf8(&text, names_text(names, i), strlen(names_text(names, i)));
        numbers[i] = names_add(readable, text.bytes, text.length);
    }
    text_free(&text);
    return numbers;
}

/* Returns the tree's associations as observations, indexed by node.  The caller frees the array. */
static struct observation *current_state(const struct publication *publication, struct names *names)
{
    const struct tree *tree = publication->tree;
    uint32_t *numbers = readable_numbers(publication->names, names);
    uint32_t no_name = names_add(names, "", 0);
    struct observation *current = memory_zeroed(tree->count, sizeof *current);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct node *node = &tree->nodes[i];
        current[i] = (struct observation){
            .id = node->id,
            .lives = true,
            .shares = node->shares,
            .parent_id = i ? tree->nodes[node->parent].id : 0,
            .parent_account = i ? numbers[tree->nodes[node->parent].account] : no_name,
            .account = numbers[node->account],
            .user = numbers[node->user],
            .partition = numbers[node->partition],
            .modified = modified_of(publication, node->id),
        };
    }
    free(numbers);
    return current;
}

/*
 * The hash does not depend on the order of associations.  Most runs find the hash unchanged and
 * write no records.
 */
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
        sum += hash_words(parts, sizeof parts / sizeof *parts);
    }
    free(hashes);
    return sum;
}

/* Writes the changes.  Replaces rows of a time that was published before. */
static int update(struct recorder *recorder, const struct publication *publication,
                  struct error *err)
{
    const struct publisher *publisher = recorder->publisher;
    struct association_history *known = recorder->known =
        association_history_create(recorder->seen_at);
    association_history_set_runs(known, INT64_MAX, NEVER);
    recorder->places = id_index_create();
    recorder->writer =
        (struct row_writer){ .db = publisher->db, .table = "fairmill_share_change", .keys = 3 };
    struct share_records records = { .names = names_create() };
    int result = share_rows_read_changes(publisher->db, publisher->cluster, &records, err);
    tell_rows(&records, known);
    for (size_t i = 0; i < known->before.count; i++)
        id_index_add(recorder->places, known->before.rows[i].id, (uint32_t)i);
    if (!result) {
        struct observation *current = current_state(publication, known->names);
        write_differences(recorder, publication, current, err);
        free(current);
    }
    result = rows_end(&recorder->writer, result, err);
    if (!result)
        result = stored_write_found(publisher->db, publisher->cluster, &stored_changes,
                                    recorder->seen_at, err);
    id_index_destroy(recorder->places);
    association_history_destroy(known);
    names_destroy(records.names);
    free(records.rows);
    return result;
}

static const char *const removals[] = { sql_query_forget_changes, sql_query_forget_share_state,
                                        sql_query_kept_changes_clear, NULL };

int share_rows_forget(const struct publisher *publisher, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    return rows_execute_all(publisher->db, removals, &cluster, 1, err);
}

int share_rows_write(const struct publisher *publisher, const struct publication *publication,
                     struct error *err)
{
    struct recorder recorder = { .publisher = publisher,
                                 .seen_at = publication->seen_at,
                                 .seen_before = NEVER };
    struct share_rows_state state;
    if (read_state(publisher->db, publisher->cluster, &state, err))
        return -1;
    if (state.found && recorder.seen_at < state.last_as_of)
        return 0;
    if (state.found && state.last_as_of < recorder.seen_at)
        recorder.seen_before = state.last_as_of;
    uint64_t hash =
        share_rows_hash(publication->tree, publication->names) + publication->modified_hash;
    if ((!state.found || state.hash != hash) && update(&recorder, publication, err))
        return -1;
    return share_rows_write_state(&recorder, hash, err);
}
