/* SPDX-License-Identifier: MIT */
#include "results/script.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

char *script_next_name(const char **at)
{
    do
        *at = strstr(*at, "\nCREATE ");
    while (*at && !strncmp(++*at, "CREATE INDEX ", strlen("CREATE INDEX ")));
    if (!*at)
        return NULL;
    *at = strchr(*at, '"') + 1;
    return memory_bytes(*at, strcspn(*at, "\""));
}

static bool script_is_listed(const struct text *names, const char *name)
{
    struct text quoted = { 0 };
    text_format(&quoted, "\"%s\"", name);
    bool found = names->length && strstr(names->bytes, quoted.bytes);
    text_free(&quoted);
    return found;
}

int script_list_columns(struct db *db, const char *table, struct text *names, struct error *err)
{
    const struct db_value *row;
    struct db_value argument = db_text(table);
    struct db_rows *rows = db_query(db, db->driver->columns_query, &argument, 1, "t", err);
    while (db_fetch(rows, &row, err) > 0)
        text_format(names, "%s\"%.*s\"", names->length ? ", " : "", (int)row[0].text.length,
                    row[0].text.bytes);
    return db_finish(rows);
}

static int add_column(struct db *db, const char *table, const char *name, const char *line,
                      struct error *err)
{
    struct text sql = { 0 };
    text_format(&sql, "ALTER TABLE \"%s\" ADD COLUMN %s;\n", table, line);
    int result = db_script(db, sql.bytes, err);
    text_free(&sql);
    return result ? fail_in(err, "cannot add column '%s' to '%s'", name, table) : 0;
}

/*
 * Adds the missing columns of one table.  If `look` is true, only returns 1 if a column is missing.
 * Each line of its CREATE TABLE that is indented and begins with a name in double quotes is a
 * column.
 */
static int results_script_add_columns(struct db *db, const char *table, const char *script,
                                      bool look, struct error *err)
{
    struct text there = { 0 };
    int result = script_list_columns(db, table, &there, err);
    while (!result && *(script = strchr(script, '\n') + 1) != ')') {
        if (strncmp(script, "    \"", 5))
            continue;
        char *line = memory_bytes(script + 4, strcspn(script + 4, ",\n"));
        char *name = memory_bytes(script + 5, strcspn(script + 5, "\""));
        if (!script_is_listed(&there, name))
            result = look ? 1 : add_column(db, table, name, line, err);
        free(line);
        free(name);
    }
    text_free(&there);
    return result;
}

int script_add_columns(struct db *db, const char *script, bool look, struct error *err)
{
    int result = 0;
    for (char *table; !result && (table = script_next_name(&script)); free(table))
        result = results_script_add_columns(db, table, script, look, err);
    return result;
}
