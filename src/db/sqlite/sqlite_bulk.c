/* SPDX-License-Identifier: MIT */
#include "db/sqlite/sqlite_session.h"

#include <stdlib.h>

#include "util/memory.h"
#include "util/text.h"

/* Bulk writes: inside one transaction, row by row is as fast as SQLite gets. */

struct sqlite_bulk {
    struct db_bulk base;
    sqlite3_stmt *statement;
};

struct db_bulk *sqlite_bulk_begin(const struct db_bulk *target, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)target->db;
    struct sqlite_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base = *target;
    struct text sql = { 0 };
    db_add_insert(&sql, &bulk->base);
    db_add_values(&sql, &bulk->base, 1);
    db_add_on_conflict(&sql, &bulk->base);
    int prepared = sqlite_compile(db, sql.bytes, &bulk->statement, err);
    text_free(&sql);
    if (!prepared)
        return &bulk->base;
    sqlite_bulk_free(&bulk->base);
    return NULL;
}

int sqlite_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    struct sqlite_db *db = (struct sqlite_db *)base->db;
    sqlite_start_clock(db);
    for (size_t i = 0; i < base->column_count; i++)
        if (sqlite_bind(bulk->statement, (int)i + 1, &row[i]) != SQLITE_OK)
            return sqlite_fail(db, err);
    if (sqlite3_step(bulk->statement) != SQLITE_DONE) {
        sqlite_fail(db, err);
        sqlite3_reset(bulk->statement);
        return -1;
    }
    sqlite3_reset(bulk->statement);
    return 0;
}

void sqlite_bulk_free(struct db_bulk *base)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    sqlite3_finalize(bulk->statement);
    free(bulk);
}
