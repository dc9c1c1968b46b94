/* SPDX-License-Identifier: MIT */
#include "results/notice_rows.h"

#include <stdlib.h>
#include <string.h>

#include "results/rows.h"
#include "results/schema.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"

/* What the lock protects.  No cluster has this name, because a name has no line break. */
#define NOTICES_LOCKED "notices\n"

/* ---- Reading ---- */

int notices_read(struct notices *notices, struct db *db, const char *cluster, struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_notices_read, &name, 1, "titt", err);
    *notices = (struct notices){ 0 };
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&notices->list, &notices->count) =
            (struct notice){ db_value_text(&row[0]), row[1].integer, db_value_text(&row[2]),
                             db_value_text(&row[3]) };
    return db_finish(rows);
}

void notices_free(struct notices *notices)
{
    for (size_t i = 0; i < notices->count; i++) {
        free((char *)notices->list[i].kind);
        free((char *)notices->list[i].subject);
        free((char *)notices->list[i].recipient);
    }
    free(notices->list);
    *notices = (struct notices){ 0 };
}

/* A linear search is sufficient, because there are few coordinators. */
bool notices_have(const struct notices *notices, const struct notice *notice)
{
    for (size_t i = 0; i < notices->count; i++) {
        const struct notice *each = &notices->list[i];
        if (each->association == notice->association && !strcmp(each->kind, notice->kind) &&
            !strcmp(each->subject, notice->subject) && !strcmp(each->recipient, notice->recipient))
            return true;
    }
    return false;
}

/* ---- Writing ---- */

int notice_writer_open(struct notice_writer *writer, struct error *err)
{
    if (writer->db)
        return 0;
    if (results_open(&writer->db, writer->settings, DB_RESULTS, err))
        return -1;
    if (!db_name_lock(writer->db, NOTICES_LOCKED, writer->lock, err) &&
        !db_lock(writer->db, writer->lock, err))
        return 0;
    if (err->class == ERROR_LOCKED)
        fail(err, ERROR_LOCKED, "notify: another process sends messages");
    db_close(writer->db);
    writer->db = NULL;
    return -1;
}

void notice_writer_close(struct notice_writer *writer)
{
    if (writer->db)
        db_unlock(writer->db, writer->lock);
    db_close(writer->db);
    writer->db = NULL;
}

static int notice_writer_begin(struct notice_writer *writer, struct error *err)
{
    return notice_writer_open(writer, err) || db_begin(writer->db, err) ? -1 : 0;
}

static int notice_writer_commit(struct notice_writer *writer, int result, struct error *err)
{
    return rows_commit(writer->db, result, err) ? results_explain(writer->settings, err) : 0;
}

int notice_add(struct notice_writer *writer, const char *cluster, const struct notice *notice,
               int64_t sent_at, struct error *err)
{
    const struct row_field row[] = {
        { "cluster", 't', db_text(cluster) },
        { "kind", 't', db_text(notice->kind) },
        { "id_assoc", 'i', db_integer(notice->association) },
        { "subject", 't', db_text(notice->subject) },
        { "recipient", 't', db_text(notice->recipient) },
        { "sent_at", 'i', db_integer(sent_at) },
    };
    /* The row may exist already, if the response to an earlier COMMIT was lost. */
    return notice_writer_begin(writer, err) ||
                   notice_writer_commit(writer,
                                        rows_write_one(writer->db, "fairmill_notice",
                                                       COUNT(row) - 1, row, COUNT(row), err),
                                        err)
               ? -1
               : 0;
}

int notice_end(struct notice_writer *writer, const char *cluster, const struct notice *notice,
               struct error *err)
{
    const struct db_value key[] = { db_text(cluster), db_text(notice->kind),
                                    db_integer(notice->association), db_text(notice->subject) };
    return notice_writer_begin(writer, err) ||
                   notice_writer_commit(
                       writer, db_execute(writer->db, sql_query_notice_end, key, 4, NULL, err), err)
               ? -1
               : 0;
}
