/* SPDX-License-Identifier: MIT */
#include "results/association_times.h"

#include <string.h>

#include "core/insight/statement.h"
#include "results/published.h"
#include "results/rows.h"
#include "sql.h"
#include "util/index.h"

/* The columns of sql_query_share_change_times, and with fewer of them of
 * sql_query_association_names. */
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

struct reading {
    struct association_times *times;
    struct id_index *known; /* ids of which anything was noted */
    int64_t first;          /* the first run that noted any; INT64_MAX */
};

static uint32_t name_of(struct association_times *times, const struct db_value *value)
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
        .account = name_of(times, &row[ACCOUNT]),
        .user = name_of(times, &row[USER]),
        .partition = name_of(times, &row[PARTITION]),
        .parent_account = times->empty_name,
    };
}

/* When an association became what a run noted. */
static int64_t since(const struct reading *reading, const struct db_value *row)
{
    int64_t noted = row[AS_OF].integer, touched = db_value_integer(&row[MODIFIED], -1),
            before = db_value_integer(&row[SEEN_BEFORE], INT64_MAX);
    if (noted == reading->first)
        return SINCE_EVER;
    return touched > before && touched <= noted ? touched : noted;
}

/* Rows come by id and by the run that noted them.  Of two that are of one instant the later one
 * holds. */
static void add_note(struct reading *reading, const struct db_value *row)
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

/* One of which no run noted anything, but that had a point of history: it is gone.  The last of
 * its names stays. */
static void add_gone(struct reading *reading, const struct db_value *row)
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
    struct reading *reading = context;
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

static int read_first(struct db *db, const struct db_value *cluster, int64_t *first,
                      struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_share_change_first, cluster, 1, "i", err);
    *first = INT64_MAX;
    if (db_fetch(rows, &row, err) > 0)
        *first = db_value_integer(&row[0], INT64_MAX);
    return db_finish(rows);
}

static int read_each(struct reading *reading, struct db_rows *rows,
                     void (*add)(struct reading *reading, const struct db_value *row),
                     struct error *err)
{
    const struct db_value *row;
    while (db_fetch(rows, &row, err) > 0)
        add(reading, row);
    return db_finish(rows);
}

int association_times_read(struct published *published, const struct published_cluster *cluster,
                           struct association_times *times, int64_t *known_from, struct error *err)
{
    struct db *db = published->db;
    struct db_value name = db_text(cluster->name);
    *times = (struct association_times){ .names = times->names };
    times->empty_name = names_add(times->names, "", 0);
    struct reading reading = { times, id_index_create(), INT64_MAX };
    int result = read_first(db, &name, &reading.first, err);
    if (!result)
        result = read_each(&reading,
                           db_query(db, sql_query_share_change_times, &name, 1, "iitttiiiii", err),
                           add_note, err);
    if (!result && reading.first == INT64_MAX)
        result = published_read_rows(published, cluster, add_published, &reading, err);
    if (!result)
        result =
            read_each(&reading, db_query(db, sql_query_association_names, &name, 1, "iittti", err),
                      add_gone, err);
    *known_from = reading.first;
    id_index_destroy(reading.known);
    return result;
}
