/* SPDX-License-Identifier: MIT */
#include "results/factor_rows.h"

#include <stdlib.h>

#include "core/usage/factor_history.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/share_rows.h"
#include "results/stored_state.h"
#include "sql.h"
#include "util/text.h"

/* The columns of sql_query_qos_change_read. */
enum { QOS_ID, QOS_AS_OF, QOS_TOLD, QOS_SEEN_BEFORE, QOS_NAME, QOS_FACTOR };
#define QOS_TYPES "iititr"

static void take_note(struct factor_history *history, const struct db_value *row)
{
    char *told = db_value_text(&row[QOS_TOLD]), *name = db_value_text(&row[QOS_NAME]);
    struct factor_point note = { .id = (uint64_t)row[QOS_ID].integer,
                                 .at = row[QOS_AS_OF].integer,
                                 .seen_before =
                                     db_value_integer(&row[QOS_SEEN_BEFORE], FACTOR_UNSEEN),
                                 .factor =
                                     row[QOS_FACTOR].type == DB_REAL ? row[QOS_FACTOR].real : 1,
                                 .name = name };
    if (factor_evidence_of(told, &note.told))
        factor_history_note(history, &note);
    free(told);
    free(name);
}

int factor_rows_read(struct db *db, const char *cluster, struct factor_history *history,
                     struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    if (share_rows_last(db, cluster, &history->last_seen, err) ||
        stored_find_loss(db, cluster, &stored_factors, &history->distrusted, err))
        return -1;
    if (history->distrusted != FACTOR_UNSEEN)
        return 0;
    struct db_rows *rows = db_query(db, sql_query_qos_change_read, &name, 1, QOS_TYPES, err);
    while (db_fetch(rows, &row, err) > 0)
        take_note(history, row);
    return db_finish(rows);
}

static bool factor_rows_same(const struct factor_point *one, const struct factor_point *other)
{
    return one->id == other->id && one->at == other->at && one->told == other->told &&
           one->seen_before == other->seen_before && !(one->factor < other->factor) &&
           !(one->factor > other->factor);
}

/* Returns true if exactly these factors are recorded already. */
static bool is_noted(const struct factor_history *history, int64_t until)
{
    size_t note = 0;
    for (size_t i = 0; i < history->point_count; i++)
        if (history->points[i].at <= until &&
            (note == history->note_count ||
             !factor_rows_same(&history->points[i], &history->notes[note++])))
            return false;
    return note == history->note_count && history->distrusted == FACTOR_UNSEEN;
}

static void factor_rows_write_point(struct row_writer *writer, const struct publisher *publisher,
                                    const struct factor_point *point, struct error *err)
{
    struct text name = { 0 };
    struct row_field row[] = {
        { "cluster", 't', db_text(publisher->cluster) },
        { "id_qos", 'i', db_integer((int64_t)point->id) },
        { "as_of", 'i', db_integer(point->at) },
        { "told", 't', db_text(factor_evidence_name(point->told)) },
        { "seen_before", 'i', rows_integer(point->seen_before) },
        { "run_id", 'i', db_integer(publisher->run_id) },
        { "name", 't', rows_text(point->name, &name) },
        { "usage_factor", 'r', rows_real(point->factor) },
    };
    rows_add(writer, row, COUNT(row), err);
    text_free(&name);
}

static const char *const removals[] = { sql_query_forget_factors, sql_query_kept_factors_clear,
                                        NULL };

/* Replaces all rows of the cluster, because a cluster has only a few. */
int factor_rows_write(const struct publisher *publisher, const struct factor_history *history,
                      int64_t until, struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_qos_change", .keys = 3 };
    if (until < history->last_seen || is_noted(history, until))
        return 0;
    if (rows_execute_all(publisher->db, removals, &cluster, 1, err))
        return -1;
    for (size_t i = 0; i < history->point_count; i++)
        if (history->points[i].at <= until)
            factor_rows_write_point(&writer, publisher, &history->points[i], err);
    if (rows_end(&writer, 0, err))
        return -1;
    return stored_write_all(publisher->db, publisher->cluster, &stored_factors, err);
}
