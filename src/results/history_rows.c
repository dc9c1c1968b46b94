/* SPDX-License-Identifier: MIT */
#include "results/history_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/insight/fairness.h"
#include "core/tree/association_history.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/share_rows.h"
#include "results/stored_state.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * ---- Names ----
 *
 * fairmill_association has a row for an association at each point where its name or parent differs
 * from the point before.  If a point is inserted before existing points, its rows must not change
 * the names at the existing points.  So the row from which the next point got a name may have to be
 * added again at the next point.
 */

/* The name and the parent of an association from a time on. */
struct name_row {
    uint32_t id;
    int64_t since;
    uint32_t parent_id; /* 0 for the root */
    const char *account, *user, *partition;
};

/* The stored names of an association around the time of the point. */
struct held {
    /* `before` is the last row before the time of the point, and `until` the last row up to this
     * time.  If there is no such row, its `since` is NEVER. */
    struct name_row before, until;
    int64_t next; /* start of the first later row, or INT64_MAX */
};

/* The rows of fairmill_association to be written for one point. */
struct name_writer {
    const struct publisher *publisher;
    const struct publication *publication;
    int64_t as_of, next_point; /* time of the next point, or INT64_MAX */
    struct arena *arena;       /* allocates the texts */
    struct name_row *rows;     /* the rows to be written */
    size_t count;
    bool of_next;  /* some rows are for the next point */
    bool anew;     /* the stored names of this time are damaged; do not preserve them */
    uint32_t node; /* next index in order of ids */
};

static const char *history_text_of(struct arena *arena, const struct db_value *value)
{
    return value->type == DB_TEXT ? arena_copy(arena, value->text.bytes, value->text.length) : "";
}

static struct name_row history_row_of(const struct db_value *row, struct arena *arena)
{
    return (struct name_row){ .id = (uint32_t)row[0].integer,
                              .parent_id = (uint32_t)db_value_integer(&row[1], 0),
                              .account = history_text_of(arena, &row[2]),
                              .user = history_text_of(arena, &row[3]),
                              .partition = history_text_of(arena, &row[4]),
                              .since = row[5].integer };
}

static const char *history_readable(struct arena *arena, const struct names *names, uint32_t name)
{
    const char *bytes = names_text(names, name);
    struct text converted = { 0 };
    struct db_value value = rows_text(bytes, &converted);
    const char *text =
        value.text.bytes == bytes ? bytes : arena_copy(arena, value.text.bytes, value.text.length);
    text_free(&converted);
    return text;
}

/* Returns the current name of a node. */
static struct name_row row_of_node(const struct name_writer *writer, const struct node *node)
{
    const struct tree *tree = writer->publication->tree;
    const struct names *names = writer->publication->names;
    return (struct name_row){ node->id,
                              writer->as_of,
                              node->parent == NO_NODE ? 0 : tree->nodes[node->parent].id,
                              history_readable(writer->arena, names, node->account),
                              history_readable(writer->arena, names, node->user),
                              history_readable(writer->arena, names, node->partition) };
}

static bool same_name(const struct name_row *one, const struct name_row *other)
{
    return one->since != NEVER && one->parent_id == other->parent_id &&
           !strcmp(one->account, other->account) && !strcmp(one->user, other->user) &&
           !strcmp(one->partition, other->partition);
}

static void history_add_row(struct name_writer *writer, const struct name_row *row, int64_t since)
{
    writer->rows = memory_grown(writer->rows, writer->count, sizeof *writer->rows);
    writer->rows[writer->count] = *row;
    writer->rows[writer->count++].since = since;
}

/*
 * Adds the rows that this point needs for one association.  If the next point relied on the name
 * that is replaced here, adds that name to the next point.
 */
static void history_take_node(struct name_writer *writer, const struct held *held)
{
    const struct tree *tree = writer->publication->tree;
    const struct name_row row = row_of_node(writer, &tree->nodes[tree->by_id[writer->node++]]);
    if (!same_name(&held->before, &row))
        history_add_row(writer, &row, writer->as_of);
    if (writer->anew || held->until.since == NEVER || same_name(&held->until, &row) ||
        writer->next_point == INT64_MAX || held->next <= writer->next_point)
        return;
    history_add_row(writer, &held->until, writer->next_point);
    writer->of_next = true;
}

static uint32_t id_at(const struct name_writer *writer)
{
    const struct tree *tree = writer->publication->tree;
    return writer->node < tree->count ? tree->nodes[tree->by_id[writer->node]].id : UINT32_MAX;
}

static const struct held nothing_held = { { .since = NEVER }, { .since = NEVER }, INT64_MAX };

/* Processes all associations up to an id.  `held` is for the association with that id. */
static void take_until(struct name_writer *writer, uint32_t id, const struct held *held)
{
    while (id_at(writer) < id)
        history_take_node(writer, &nothing_held);
    if (id_at(writer) == id && id != UINT32_MAX)
        history_take_node(writer, held);
}

static void hold(const struct name_writer *writer, struct held *held, const struct name_row *row)
{
    if (row->since < writer->as_of)
        held->before = held->until = *row;
    else if (row->since == writer->as_of)
        held->until = *row;
    else if (held->next == INT64_MAX)
        held->next = row->since;
}

static int compare_names(struct name_writer *writer, struct error *err)
{
    struct db_value cluster = db_text(writer->publisher->cluster);
    struct held held = nothing_held;
    uint32_t id = 0;
    const struct db_value *row;
    struct db_rows *rows =
        db_query(writer->publisher->db, sql_query_association_names, &cluster, 1, "iittti", err);
    while (db_fetch(rows, &row, err) > 0) {
        const struct name_row name = history_row_of(row, writer->arena);
        if (name.id != id) {
            take_until(writer, id, &held);
            held = nothing_held;
            id = name.id;
        }
        hold(writer, &held, &name);
    }
    if (db_finish(rows))
        return -1;
    take_until(writer, id, &held);
    take_until(writer, UINT32_MAX, &nothing_held);
    return 0;
}

static int write_names(const struct name_writer *writer, struct error *err)
{
    const struct publisher *publisher = writer->publisher;
    struct row_writer out = { .db = publisher->db, .table = "fairmill_association", .keys = 3 };
    for (size_t i = 0; i < writer->count; i++) {
        const struct name_row *row = &writer->rows[i];
        struct row_field fields[] = {
            { "cluster", 't', db_text(publisher->cluster) },
            { "id_assoc", 'i', db_integer(row->id) },
            { "since", 'i', db_integer(row->since) },
            { "parent_id", 'i', row->parent_id ? db_integer(row->parent_id) : db_null() },
            { "account", 't', db_text(row->account) },
            { "user_name", 't', db_text(row->user) },
            { "partition_name", 't', db_text(row->partition) },
        };
        rows_add(&out, fields, COUNT(fields), err);
    }
    return rows_end(&out, 0, err);
}

static int keep_names(const struct publisher *publisher, int64_t since, struct error *err)
{
    return stored_write_found(publisher->db, publisher->cluster, &stored_names, since, err);
}

/*
 * Writes names and parents that differ from those at the point before.  Compares a hash first,
 * because a comparison of rows takes as long as writing all values.  After a change, removes the
 * hashes of later points, which are no longer valid.
 */
static int write_associations(const struct publisher *publisher,
                              const struct publication *publication, const struct db_value *point,
                              bool anew, struct error *err)
{
    struct db *db = publisher->db;
    int64_t as_of = point[1].integer, hash = point[3].integer, last = 0;
    int found = rows_read_integer(db, sql_query_history_point_associations, point, 2, &last, err);
    if (found < 0 || (found && last == hash && !anew))
        return found < 0 ? -1 : 0;
    struct name_writer writer = { .publisher = publisher,
                                  .publication = publication,
                                  .as_of = as_of,
                                  .next_point = INT64_MAX,
                                  .arena = arena_create(),
                                  .anew = anew };
    struct db_value after[] = { point[0], db_integer(as_of + 1), db_integer(INT64_MAX) };
    found = rows_read_integer(db, sql_query_history_point, after, 3, &writer.next_point, err);
    int result = found < 0 || compare_names(&writer, err) ||
                         db_execute(db, sql_query_history_point_doubt, point, 2, NULL, err) ||
                         db_execute(db, sql_query_kept_point_doubt, point, 2, NULL, err) ||
                         db_execute(db, sql_query_association_remove, point, 2, NULL, err) ||
                         write_names(&writer, err) || keep_names(publisher, as_of, err) ||
                         (writer.of_next && keep_names(publisher, writer.next_point, err))
                     ? -1
                     : 0;
    free(writer.rows);
    arena_destroy(writer.arena);
    return result;
}

/* ---- Values ---- */

/* Writes the values in ascending order of id, and their hash. */
static int history_write_values(const struct publisher *publisher,
                                const struct publication *publication, int64_t as_of,
                                struct error *err)
{
    const struct algorithm *algorithm = publisher->settings->algorithm;
    const struct tree *tree = publication->tree;
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_history" };
    struct hash_segment part = { .part = as_of };
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct values *values = &publication->values[tree->by_id[i]];
        struct row_field row[] = {
            { "cluster", 't', db_text(publisher->cluster) },
            { "as_of", 'i', db_integer(as_of) },
            { "id_assoc", 'i', db_integer(tree->nodes[tree->by_id[i]].id) },
            { "fairshare", 'r', rows_real(algorithm->factor(values)) },
            { "usage_raw", 'r', rows_real(values->usage_raw) },
            { "level_fs", 'r', rows_real(values->level_fs) },
        };
        const struct db_value kept[] = { row[2].value, row[3].value, row[4].value, row[5].value,
                                         db_text(algorithm->name) };
        row_hash_add_values(&part.stored, kept, COUNT(kept));
        rows_add(&writer, row, COUNT(row), err);
    }
    if (rows_end(&writer, 0, err))
        return -1;
    return stored_write(publisher->db, publisher->cluster, stored_history.name, &part, err);
}

int history_is_point(const struct publisher *publisher, int64_t as_of, struct error *err)
{
    int64_t span = (int64_t)publisher->settings->history_interval_s, there = as_of;
    int64_t begin = span ? as_of - as_of % span : as_of;
    struct db_value arguments[] = { db_text(publisher->cluster), db_integer(begin),
                                    db_integer(span ? begin + span : as_of + 1) };
    int found =
        rows_read_integer(publisher->db, sql_query_history_point, arguments, 3, &there, err);
    return found < 0 ? -1 : !found || there == as_of;
}

int history_keep_older(const struct publisher *publisher, int64_t as_of, struct error *err)
{
    return stored_write_older(publisher->db, publisher->cluster, &stored_history, as_of, err) ||
                   stored_write_older(publisher->db, publisher->cluster, &stored_names, as_of, err)
               ? -1
               : 0;
}

int history_write_point(const struct publisher *publisher, const struct publication *publication,
                        int64_t as_of, bool anew, struct error *err)
{
    int64_t hash = (int64_t)share_rows_hash(publication->tree, publication->names);
    struct db_value point[] = { db_text(publisher->cluster), db_integer(as_of),
                                db_text(publisher->settings->algorithm->name), db_integer(hash) };
    struct hash_segment stored = { .part = as_of };
    row_hash_add_values(&stored.stored, (struct db_value[]){ point[3], point[2] }, 2);
    if (stored_write_older(publisher->db, publisher->cluster, &stored_points, as_of, err) ||
        stored_write_older(publisher->db, publisher->cluster, &stored_backfill, as_of, err) ||
        write_associations(publisher, publication, point, anew, err) ||
        db_execute(publisher->db, sql_query_history_point_remove, point, 2, NULL, err) ||
        db_execute(publisher->db, sql_query_history_point_add, point, 4, NULL, err) ||
        stored_write(publisher->db, publisher->cluster, stored_points.name, &stored, err) ||
        db_execute(publisher->db, sql_query_history_remove, point, 2, NULL, err) ||
        db_execute(publisher->db, sql_query_history_backfill_remove, point, 2, NULL, err) ||
        db_execute(publisher->db, sql_query_kept_backfill_remove, point, 2, NULL, err))
        return -1;
    return history_write_values(publisher, publication, as_of, err);
}

void times_add(struct times *times, int64_t time)
{
    *memory_append(&times->list, &times->count) = time;
}

void times_free(struct times *times)
{
    free(times->list);
    *times = (struct times){ 0 };
}

static int history_by_part(const void *a, const void *b)
{
    const struct kept_loss *one = a, *other = b;
    return (one->part > other->part) - (one->part < other->part);
}

int history_damaged(struct db *db, const char *cluster, struct times *damaged, struct error *err)
{
    struct kept_losses losses = { 0 };
    *damaged = (struct times){ 0 };
    int result = stored_compare(db, cluster, &stored_history, &losses, err) ||
                         stored_compare(db, cluster, &stored_names, &losses, err)
                     ? -1
                     : 0;
    if (!result && losses.count)
        qsort(losses.list, losses.count, sizeof *losses.list, history_by_part);
    for (size_t i = 0; !result && i < losses.count; i++)
        if (!i || losses.list[i].part != losses.list[i - 1].part)
            times_add(damaged, losses.list[i].part);
    free(losses.list);
    return result;
}

int history_points(struct db *db, const char *cluster, bool of_backfill, struct times *points,
                   struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    *points = (struct times){ 0 };
    struct db_rows *rows =
        db_query(db, of_backfill ? sql_query_history_backfill_read : sql_query_history_points_read,
                 &name, 1, "i", err);
    while (db_fetch(rows, &row, err) > 0)
        times_add(points, row[0].integer);
    if (!db_finish(rows))
        return 0;
    times_free(points);
    return -1;
}

int history_write_backfill(const struct publisher *publisher, int64_t as_of,
                           double truncation_bound, uint64_t in_doubt, struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', db_text(publisher->cluster) },
        { "as_of", 'i', db_integer(as_of) },
        { "truncation_bound", 'r', rows_real(truncation_bound) },
        { "in_doubt", 'i', db_integer((int64_t)in_doubt) },
    };
    return rows_write_one(publisher->db, "fairmill_backfill", 2, row, COUNT(row), err) ||
                   stored_write_found(publisher->db, publisher->cluster, &stored_backfill, as_of,
                                      err)
               ? -1
               : 0;
}

int history_write(const struct publisher *publisher, const struct publication *publication,
                  int64_t as_of, struct error *err)
{
    int wanted = publisher->settings->history_days ? history_is_point(publisher, as_of, err) : 0;
    return wanted <= 0 ? wanted : history_write_point(publisher, publication, as_of, false, err);
}

int fairness_rows_write(const struct publisher *publisher, const struct tree *tree,
                        const struct values *values, int64_t as_of, struct error *err)
{
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_fairness", .keys = 3 };
    struct hash_segment part = { .part = as_of };
    for (enum fairness_scope scope = 0; scope < FAIRNESS_SCOPES; scope++) {
        const struct fairness fairness = fairness_of(tree, values, scope);
        struct row_field row[] = {
            { "cluster", 't', db_text(publisher->cluster) },
            { "as_of", 'i', db_integer(as_of) },
            { "scope", 't', db_text(fairness_scope_name(scope)) },
            { "members", 'i', db_integer(fairness.members) },
            { "jain", 'r', rows_real(fairness.jain) },
            { "use_over", 'r', rows_real(fairness.use_over) },
            { "share_over", 'r', rows_real(fairness.share_over) },
            { "use_under", 'r', rows_real(fairness.use_under) },
            { "share_under", 'r', rows_real(fairness.share_under) },
        };
        row_hash_add_fields(&part.stored, row + 2, COUNT(row) - 2);
        rows_add(&writer, row, COUNT(row), err);
    }
    if (rows_end(&writer, 0, err))
        return -1;
    return stored_write(publisher->db, publisher->cluster, stored_fairness.name, &part, err);
}
