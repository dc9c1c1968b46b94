/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "db/pgsql/pgsql_session.h"
#include "util/memory.h"
#include "util/text.h"

static void note_integer(struct pgsql_range *range, int64_t integer)
{
    if (!range->begun || integer < range->least)
        range->least = integer;
    if (!range->begun || integer > range->most)
        range->most = integer;
}

static void note_text(struct pgsql_range *range, const struct db_value *value)
{
    size_t length = value->text.length;
    if (!range->begun)
        range->text = memory_bytes(value->text.bytes, length);
    else if (strlen(range->text) != length || memcmp(range->text, value->text.bytes, length) != 0)
        range->open = true;
}

static void pgsql_ranges_note_one(struct pgsql_range *range, const struct db_value *value)
{
    if (value->type == DB_INTEGER)
        note_integer(range, value->integer);
    else if (value->type == DB_UNSIGNED && value->unsigned_integer <= INT64_MAX)
        note_integer(range, (int64_t)value->unsigned_integer);
    else if (value->type == DB_TEXT)
        note_text(range, value);
    else
        range->open = true;
    range->begun = true;
}

void pgsql_ranges_note(struct pgsql_range *ranges, size_t count, const struct db_value *key)
{
    for (size_t i = 0; i < count; i++)
        if (!ranges[i].open)
            pgsql_ranges_note_one(&ranges[i], &key[i]);
}

size_t pgsql_ranges_add(const struct pgsql_range *ranges, const struct db_bulk *bulk,
                        struct text *sql, struct db_value *arguments)
{
    size_t added = 0;
    for (size_t i = 0; i < bulk->key_count; i++) {
        const struct pgsql_range *range = &ranges[i];
        if (range->open || !range->begun)
            continue;
        text_add(sql, " AND ");
        text_add_identifier(sql, bulk->table);
        text_add(sql, ".");
        text_add_identifier(sql, bulk->columns[i].name);
        bool one = range->text || range->least == range->most;
        text_add(sql, one ? " = ?" : " BETWEEN ? AND ?");
        arguments[added++] = range->text ? db_text(range->text) : db_integer(range->least);
        if (!one)
            arguments[added++] = db_integer(range->most);
    }
    return added;
}

void pgsql_ranges_free(struct pgsql_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(ranges[i].text);
    free(ranges);
}
