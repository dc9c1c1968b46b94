/* SPDX-License-Identifier: MIT */
#include "import/refused.h"

#include <stdlib.h>

#include "db/db.h"
#include "results/rows.h"
#include "sql.h"
#include "util/memory.h"
#include "util/text.h"

/* A log with more of them is not an accounting log. */
#define MOST_LINES 1000
#define MOST_BYTES (8u * 1024 * 1024)

static void add(struct refused_list *list, struct refused_line line)
{
    list->lines = memory_grown(list->lines, list->count, sizeof *list->lines);
    list->lines[list->count++] = line;
}

void refused_list_add(struct refused_list *list, const char *name, uint64_t row, struct part line)
{
    if (list->count == MOST_LINES || list->bytes + line.length > MOST_BYTES)
        return;
    list->bytes += line.length;
    add(list,
        (struct refused_line){ memory_text(name), row, utf8_copy(line.bytes, line.length), false });
}

void refused_list_free(struct refused_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->lines[i].name);
        free(list->lines[i].text);
    }
    free(list->lines);
    *list = (struct refused_list){ 0 };
}

int refused_read(struct db *db, const char *cluster, struct refused_list *list, struct error *err)
{
    const struct db_value *row;
    struct db_value name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_pbs_refused_read, &name, 1, "tit", err);
    while (db_fetch(rows, &row, err) > 0)
        add(list,
            (struct refused_line){ db_value_text(&row[0]), (uint64_t)db_value_integer(&row[1], 0),
                                   db_value_text(&row[2]), false });
    return db_finish(rows);
}

int refused_store(struct db *db, const char *cluster, const struct refused_list *list,
                  struct error *err)
{
    int result = 0;
    struct row_writer rows = { .db = db, .table = "pbs_refused", .keys = 3 };
    for (size_t i = 0; i < list->count && !result; i++) {
        const struct refused_line *line = &list->lines[i];
        const struct row_field fields[] = {
            { "cluster", 't', db_text(cluster) },
            { "name", 't', db_text(line->name) },
            { "row", 'i', db_unsigned(line->row) },
            { "text", 't', db_text(line->text) },
        };
        result = rows_add(&rows, fields, COUNT(fields), err);
    }
    return rows_end(&rows, result, err);
}

int refused_remove(struct db *db, const char *cluster, const struct refused_list *list,
                   struct error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct refused_line *line = &list->lines[i];
        const struct db_value arguments[] = { db_text(cluster), db_text(line->name),
                                              db_unsigned(line->row) };
        if (line->is_read && db_execute(db, sql_query_pbs_refused_remove, arguments, 3, NULL, err))
            return -1;
    }
    return 0;
}
