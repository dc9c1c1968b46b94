/* SPDX-License-Identifier: MIT */
#include "db/sqlite/sqlite_session.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* SQLite's pragma finds a table whatever the case of its name, and its list of tables has no index:
 * who asks for the tables of each of a hundred clusters would read it a thousand times.  So the
 * list is kept, sorted, as long as the schema is the same. */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void sqlite_forget_names(struct sqlite_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct sqlite_names){ 0 };
}

static int find_version(sqlite3 *sqlite, int64_t *version)
{
    sqlite3_stmt *statement;
    int code = sqlite3_prepare_v2(sqlite, "PRAGMA schema_version", -1, &statement, NULL);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW)
        *version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW ? SQLITE_OK : code;
}

static int read_names(sqlite3 *sqlite, struct sqlite_names *names)
{
    sqlite3_stmt *statement;
    int code =
        sqlite3_prepare_v2(sqlite, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')",
                           -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!name) {
            code = SQLITE_NOMEM;
            break;
        }
        names->names = memory_grown(names->names, names->count, sizeof *names->names);
        names->names[names->count++] = memory_text(name);
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    if (names->count)
        qsort(names->names, names->count, sizeof *names->names, by_bytes);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

static void has_table(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    struct sqlite_names *names = sqlite3_user_data(context);
    sqlite3 *sqlite = sqlite3_context_db_handle(context);
    const char *name = (const char *)sqlite3_value_text(arguments[0]);
    int64_t version = 0;
    (void)count;

    int code = find_version(sqlite, &version);
    if (code == SQLITE_OK && (!names->names || names->version != version)) {
        sqlite_forget_names(names);
        code = read_names(sqlite, names);
        names->version = version;
    }
    if (code != SQLITE_OK) {
        sqlite_forget_names(names);
        sqlite3_result_error(context, sqlite3_errmsg(sqlite), -1);
        sqlite3_result_error_code(context, code);
        return;
    }
    sqlite3_result_int(context,
                       name && names->count &&
                           bsearch(&name, names->names, names->count, sizeof name, by_bytes));
}

int sqlite_know_names(sqlite3 *sqlite, struct sqlite_names *names)
{
    return sqlite3_create_function(sqlite, SQLITE_HAS_TABLE, 1, SQLITE_UTF8, names, has_table, NULL,
                                   NULL);
}
