/* SPDX-License-Identifier: MIT */
#include "db/common.h"

#include <string.h>

#include "util/error.h"
#include "util/text.h"

struct db db_session(const struct db_settings *settings, enum db_role role)
{
    struct text name = { 0 };
    text_format(&name, "database '%s'", db_given(settings->database) ? settings->database : "");
    if (db_given(settings->host))
        text_format(&name, " on '%s'", settings->host);
    else if (db_given(settings->service))
        text_format(&name, " of service '%s'", settings->service);
    return (struct db){ .settings = settings, .role = role, .name = name.bytes };
}

int db_check_arguments(const struct db *db, size_t wanted, size_t given, struct error *err)
{
    if (wanted == given)
        return 0;
    return fail(err, ERROR_OTHER, "%s: a statement with %zu parameters was given %zu arguments",
                db->name, wanted, given);
}

int db_check_columns(const struct db *db, size_t count, const char *types, struct error *err)
{
    if (count == strlen(types))
        return 0;
    return fail(err, ERROR_OTHER, "%s: a query returns %zu columns instead of %zu", db->name, count,
                strlen(types));
}

int db_lock_by_query(struct db *db, const char *sql, struct db_value key, const char *name,
                     struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows =
        db->functions->query(db, &(struct db_question){ sql, &key, 1, "i", false }, err);
    if (!rows)
        return -1;
    int got = db->functions->fetch(rows, &row, err);
    bool locked = got == 1 && row[0].type == DB_INTEGER && row[0].integer == 1;
    db->functions->finish(rows);
    if (got < 0)
        return -1;
    if (!locked)
        return fail(err, ERROR_LOCKED, "%s: another run holds the lock '%s'", db->name, name);
    return 0;
}

void db_add_columns(struct text *sql, const struct db_column *columns, size_t column_count)
{
    for (size_t i = 0; i < column_count; i++) {
        text_add(sql, i ? ", " : "");
        text_add_identifier(sql, columns[i].name);
    }
}

void db_add_insert(struct text *sql, const struct db_bulk *bulk)
{
    text_add(sql, "INSERT INTO ");
    text_add_identifier(sql, bulk->table);
    text_add(sql, " (");
    db_add_columns(sql, bulk->columns, bulk->column_count);
    text_add(sql, ")");
}

void db_add_values(struct text *sql, const struct db_bulk *bulk, size_t row_count)
{
    text_add(sql, " VALUES ");
    for (size_t row = 0; row < row_count; row++) {
        text_add(sql, row ? ", (?" : "(?");
        for (size_t i = 1; i < bulk->column_count; i++)
            text_add(sql, ", ?");
        text_add(sql, ")");
    }
}

void db_add_on_conflict(struct text *sql, const struct db_bulk *bulk)
{
    if (!bulk->key_count)
        return;
    text_add(sql, " ON CONFLICT (");
    db_add_columns(sql, bulk->columns, bulk->key_count);
    text_add(sql, bulk->key_count < bulk->column_count ? ") DO UPDATE SET " : ") DO NOTHING");
    for (size_t i = bulk->key_count; i < bulk->column_count; i++) {
        text_add(sql, i > bulk->key_count ? ", " : "");
        text_add_identifier(sql, bulk->columns[i].name);
        text_add(sql, " = excluded.");
        text_add_identifier(sql, bulk->columns[i].name);
    }
}
