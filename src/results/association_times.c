/* SPDX-License-Identifier: MIT */
#include "results/association_times.h"

#include <string.h>

#include "core/tree/association_times.h"
#include "results/publication.h"
#include "results/published.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "sql.h"
#include "util/index.h"
#include "util/text.h"

/*
 * The columns of sql_query_share_change_times.  The queries sql_query_association_names and
 * sql_query_share_past_read return the columns at the start of this list.
 */
enum {
    ID,
    PARENT_ID,
    ACCOUNT,
    USER,
    PARTITION,
    NAMES_END,
    AS_OF = NAMES_END,
    DELETED,
    SHARES,
    MODIFIED,
    SEEN_BEFORE
};

struct association_time_rows_reading {
    struct association_times *times;
    struct id_index *known; /* ids with at least one recorded state */
    struct association_times_known *until;
};

static uint32_t association_time_rows_name_of(struct association_times *times,
                                              const struct db_value *value)
{
    bool is_text = value->type == DB_TEXT;
    return names_add(times->names, is_text ? value->text.bytes : "",
                     is_text ? value->text.length : 0);
}

static struct association names_of(struct association_times *times, const struct db_value *row)
{
    return (struct association){
        .id = (uint32_t)row[ID].integer,
        .parent_id = (uint32_t)db_value_integer(&row[PARENT_ID], 0),
        .account = association_time_rows_name_of(times, &row[ACCOUNT]),
        .user = association_time_rows_name_of(times, &row[USER]),
        .partition = association_time_rows_name_of(times, &row[PARTITION]),
        .parent_account = times->empty_name,
    };
}

/* Returns the time from which a recorded state applies; see association_times_read(). */
static int64_t since(const struct association_time_rows_reading *reading,
                     const struct db_value *row)
{
    int64_t noted = row[AS_OF].integer, modified = db_value_integer(&row[MODIFIED], -1),
            before = db_value_integer(&row[SEEN_BEFORE], INT64_MAX);
    if (noted == reading->until->by_runs && !reading->until->by_source)
        return SINCE_EVER;
    return modified >= before && modified <= noted ? modified : noted;
}

/*
 * Rows are in order of the id and of the run.  If two rows apply from the same time, the later row
 * replaces the earlier one.
 */
static void association_time_rows_add_note(struct association_time_rows_reading *reading,
                                           const struct db_value *row)
{
    struct association_times *times = reading->times;
    struct association_since *last = times->count ? &times->rows[times->count - 1] : NULL;
    struct association_since note = { since(reading, row), names_of(times, row) };
    note.row.deleted = db_value_integer(&row[DELETED], 0) != 0;
    note.row.shares = (int32_t)db_value_integer(&row[SHARES], note.row.deleted ? 0 : SHARES_PARENT);
    if (last && last->row.id == note.row.id && last->at >= note.at)
        last->row = note.row;
    else
        association_times_add(times, &note);
    id_index_add(reading->known, note.row.id, 0);
}

/* Adds a state from the accounting database, from before the first run or between two runs. */
static void association_time_rows_add_past(struct association_time_rows_reading *reading,
                                           const struct db_value *row)
{
    struct association_since state = { row[AS_OF].integer, names_of(reading->times, row) };
    reading->until->by_source |= state.at < reading->until->by_runs;
    if (state.at <= 0)
        state.at = SINCE_EVER;
    state.row.deleted = row[DELETED].integer != 0;
    state.row.shares =
        (int32_t)db_value_integer(&row[SHARES], state.row.deleted ? 0 : SHARES_PARENT);
    association_times_add(reading->times, &state);
}

/*
 * Adds a removal for each association that has states in fairmill_share_past but that no run
 * recorded.  It was removed before the first run, or existed only between two runs.
 */
static void end_unseen(struct association_time_rows_reading *reading, size_t past_count)
{
    struct association_times *times = reading->times;
    for (size_t i = 0; i < past_count; i++) {
        struct association_since last = times->rows[i];
        bool is_last = i + 1 == past_count || times->rows[i + 1].row.id != last.row.id;
        if (!is_last || id_index_find(reading->known, last.row.id) != INDEX_NONE)
            continue;
        id_index_add(reading->known, last.row.id, 0);
        last.at = last.at < reading->until->by_runs ? reading->until->by_runs : last.at + 1;
        last.row.deleted = true;
        association_times_add(times, &last);
    }
}

/*
 * Adds an association that has names at history points but no recorded state.  Such an association
 * was removed.  Rows are in order of time, so the last name replaces earlier names.
 */
static void association_time_rows_add_gone(struct association_time_rows_reading *reading,
                                           const struct db_value *row)
{
    struct association_times *times = reading->times;
    struct association_since gone = { SINCE_EVER, names_of(times, row) };
    gone.row.deleted = true;
    uint32_t place = id_index_find(reading->known, gone.row.id);
    if (place == INDEX_NONE) {
        id_index_add(reading->known, gone.row.id, (uint32_t)times->count + 1);
        association_times_add(times, &gone);
    } else if (place) {
        times->rows[place - 1] = gone;
    }
}

static void add_published(void *context, const struct published_row *row)
{
    struct association_time_rows_reading *reading = context;
    struct association_times *times = reading->times;
    const struct association_since living = {
        SINCE_EVER,
        { .id = (uint32_t)row->id,
          .parent_id = (uint32_t)row->parent_id,
          .account = names_add(times->names, row->account, strlen(row->account)),
          .user = names_add(times->names, row->user, strlen(row->user)),
          .partition = names_add(times->names, row->partition, strlen(row->partition)),
          .parent_account = times->empty_name,
          .shares = row->parent_shares ? SHARES_PARENT : (int32_t)row->shares },
    };
    association_times_add(times, &living);
    id_index_add(reading->known, living.row.id, 0);
}

static int read_each(struct association_time_rows_reading *reading, struct db_rows *rows,
                     void (*add)(struct association_time_rows_reading *reading,
                                 const struct db_value *row),
                     struct error *err)
{
    const struct db_value *row;
    while (db_fetch(rows, &row, err) > 0)
        add(reading, row);
    return db_finish(rows);
}

int association_times_read(struct published *published, const struct published_cluster *cluster,
                           struct association_times *times, struct association_times_known *known,
                           struct error *err)
{
    struct db *db = published->db;
    struct db_value name = db_text(cluster->name);
    *times = (struct association_times){ .names = times->names };
    times->empty_name = names_add(times->names, "", 0);
    *known = (struct association_times_known){ .by_runs = INT64_MAX };
    struct association_time_rows_reading reading = { times, id_index_create(), known };
    int result =
        rows_read_integer(db, sql_query_share_change_first, &name, 1, &known->by_runs, err);
    result = result < 0 ? -1 : 0;
    if (!result)
        result =
            read_each(&reading, db_query(db, sql_query_share_past_read, &name, 1, "iitttiii", err),
                      association_time_rows_add_past, err);
    size_t past_count = times->count;
    if (!result)
        result = read_each(&reading,
                           db_query(db, sql_query_share_change_times, &name, 1, "iitttiiiii", err),
                           association_time_rows_add_note, err);
    bool any_run = known->by_runs != INT64_MAX;
    if (!result && any_run)
        end_unseen(&reading, past_count);
    if (!result && !any_run && !known->by_source)
        result = published_read_rows(published, cluster, add_published, &reading, err);
    if (!result)
        result =
            read_each(&reading, db_query(db, sql_query_association_names, &name, 1, "iittti", err),
                      association_time_rows_add_gone, err);
    id_index_destroy(reading.known);
    return result;
}

/* ---- Recording states from the accounting database ---- */

int association_times_recorded(struct db *db, const char *cluster, bool *recorded,
                               struct error *err)
{
    struct db_value name = db_text(cluster);
    int64_t id;
    int found = rows_read_integer(db, sql_query_share_past_any, &name, 1, &id, err);
    *recorded = found > 0;
    return found < 0 ? -1 : 0;
}

static int association_time_rows_write_state(struct row_writer *writer, const char *cluster,
                                             const struct association_times *times,
                                             const struct association_since *state,
                                             struct error *err)
{
    const struct association *row = &state->row;
    const uint32_t numbers[] = { row->account, row->user, row->partition };
    struct text converted[COUNT(numbers)] = { { 0 } };
    struct db_value names[COUNT(numbers)];
    for (size_t i = 0; i < COUNT(numbers); i++)
        names[i] = rows_text(names_text(times->names, numbers[i]), &converted[i]);
    bool no_shares = row->deleted || row->shares == SHARES_PARENT;
    struct row_field fields[] = {
        { "cluster", 't', db_text(cluster) },
        { "id_assoc", 'i', db_integer(row->id) },
        { "since", 'i', db_integer(state->at < 0 ? 0 : state->at) },
        { "deleted", 'i', db_integer(row->deleted) },
        { "parent_id", 'i', row->parent_id ? db_integer(row->parent_id) : db_null() },
        { "account", 't', names[0] },
        { "user_name", 't', names[1] },
        { "partition_name", 't', names[2] },
        { "shares", 'i', no_shares ? db_null() : db_integer(row->shares) },
    };
    int result = rows_add(writer, fields, COUNT(fields), err);
    for (size_t i = 0; i < COUNT(numbers); i++)
        text_free(&converted[i]);
    return result;
}

int association_times_write(const struct publisher *publisher,
                            const struct association_times *times, struct error *err)
{
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_share_past", .keys = 3 };
    for (size_t i = 0; i < times->count; i++)
        association_time_rows_write_state(&writer, publisher->cluster, times, &times->rows[i], err);
    if (rows_end(&writer, 0, err))
        return -1;
    return stored_write_found(publisher->db, publisher->cluster, &stored_share_past, 0, err);
}

int association_times_forget(const struct publisher *publisher, struct error *err)
{
    static const char *const removals[] = { sql_query_forget_share_past,
                                            sql_query_kept_share_past_clear, NULL };
    struct db_value cluster = db_text(publisher->cluster);
    return rows_execute_all(publisher->db, removals, &cluster, 1, err);
}
