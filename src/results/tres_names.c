/* SPDX-License-Identifier: MIT */
#include "results/tres_names.h"

#include <stdlib.h>
#include <string.h>

#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "sql.h"

/* Ignores numbers that no run of this release assigns. */
int tres_names_read(struct db *db, const char *cluster, struct tres_numbers *numbers,
                    struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    struct db_rows *rows = db_query(db, sql_query_tres_name_read, &name, 1, "it", err);
    while (db_fetch(rows, &row, err) > 0) {
        int64_t number = db_value_integer(&row[0], 0);
        if (number < 1 || number > KEPT_TRES_LIMIT)
            continue;
        free(numbers->names[number - 1]);
        numbers->names[number - 1] = db_value_text(&row[1]);
    }
    return db_finish(rows);
}

static bool same_numbers(const struct tres_numbers *one, const struct tres_numbers *other)
{
    for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
        const char *a = one->names[i], *b = other->names[i];
        if (!a != !b || (a && strcmp(a, b) != 0))
            return false;
    }
    return true;
}

int tres_names_write(const struct publisher *publisher, const struct tres_numbers *numbers,
                     struct error *err)
{
    struct db_value cluster = db_text(publisher->cluster);
    struct tres_numbers stored = { 0 };
    int result = tres_names_read(publisher->db, publisher->cluster, &stored, err);
    bool same = same_numbers(&stored, numbers);
    tres_numbers_free(&stored);
    if (result || same)
        return result;
    if (db_execute(publisher->db, sql_query_tres_name_clear, &cluster, 1, NULL, err))
        return -1;
    struct row_writer writer = { .db = publisher->db, .table = "fairmill_tres_name" };
    for (size_t i = 0; i < KEPT_TRES_LIMIT; i++) {
        if (!numbers->names[i])
            continue;
        struct row_field row[] = {
            { "cluster", 't', cluster },
            { "number", 'i', db_integer((int64_t)i + 1) },
            { "tres", 't', db_text(numbers->names[i]) },
        };
        rows_add(&writer, row, COUNT(row), err);
    }
    if (rows_end(&writer, 0, err))
        return -1;
    return stored_write_found(publisher->db, publisher->cluster, &stored_tres_names, 0, err);
}
