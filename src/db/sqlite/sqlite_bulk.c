/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "db/driver.h"

#ifdef HAVE_SQLITE

#include "db/sqlite/sqlite_session.h"

#include <stdlib.h>

#include "util/memory.h"
#include "util/text.h"

/* Bulk writes: inside one transaction, row by row is as fast as SQLite gets. */

struct sqlite_bulk {
    struct db_bulk base;
    sqlite3_stmt *statement;
    const struct db_column *columns;
    size_t column_count;
};

struct db_bulk *sqlite_bulk_begin(struct db *base, const char *table,
                                  const struct db_column *columns, size_t column_count,
                                  size_t key_count, struct error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct text sql = { 0 };
    db_add_insert(&sql, table, columns, column_count, 1);
    db_add_on_conflict(&sql, columns, column_count, key_count);

    sqlite3_stmt *statement;
    int prepared = sqlite3_prepare_v2(db->sqlite, sql.bytes, -1, &statement, NULL);
    text_free(&sql);
    if (prepared != SQLITE_OK) {
        sqlite_fail(db, err);
        return NULL;
    }

    struct sqlite_bulk *bulk = memory_zeroed(1, sizeof *bulk);
    bulk->base.db = base;
    bulk->statement = statement;
    bulk->columns = columns;
    bulk->column_count = column_count;
    return &bulk->base;
}

int sqlite_bulk_row(struct db_bulk *base, const struct db_value *row, struct error *err)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    struct sqlite_db *db = (struct sqlite_db *)base->db;
    sqlite_start_clock(db);
    for (size_t i = 0; i < bulk->column_count; i++) {
        if (!sqlite_fits(&row[i], bulk->columns[i].type))
            return db_value_misfit(&bulk->columns[i], err);
        if (sqlite_bind(bulk->statement, (int)i + 1, &row[i]) != SQLITE_OK)
            return sqlite_fail(db, err);
    }
    if (sqlite3_step(bulk->statement) != SQLITE_DONE) {
        sqlite_fail(db, err);
        sqlite3_reset(bulk->statement);
        return -1;
    }
    sqlite3_reset(bulk->statement);
    return 0;
}

void sqlite_bulk_abandon(struct db_bulk *base)
{
    struct sqlite_bulk *bulk = (struct sqlite_bulk *)base;
    sqlite3_finalize(bulk->statement);
    free(bulk);
}

int sqlite_bulk_end(struct db_bulk *base, struct error *err)
{
    (void)err;
    sqlite_bulk_abandon(base);
    return 0;
}

#endif
