/* SPDX-License-Identifier: MIT */
#include "results/permissions_rows.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "results/schema.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"

/*
 * Returns true if this process has this access to a file, and the file does not give it to all
 * users.
 */
static bool is_trusted_with(const char *path, int access_wanted, mode_t everybody)
{
    struct stat file;
    return !access(path, access_wanted) && !stat(path, &file) && !(file.st_mode & everybody);
}

/*
 * Returns true if this process can read the settings of the runs or write the SQLite database.
 * Ignores a file that gives this access to all users.
 */
static bool does_runs(const struct settings *settings)
{
    return (settings->source.database && is_trusted_with(settings->path, R_OK, S_IROTH)) ||
           (!strcmp(settings->results.driver, "sqlite") &&
            is_trusted_with(settings->results.database, W_OK, S_IWOTH));
}

/* Returns true if the database server allows this login to write fairmill_run. */
static bool may_add_runs(const struct settings *settings)
{
    struct db *results = NULL;
    struct error ignored;
    bool may = strcmp(settings->results.driver, "sqlite") != 0 &&
               !results_open(&results, settings, DB_RESULTS, &ignored) &&
               !db_begin(results, &ignored) &&
               !db_execute(results, sql_query_check_run, NULL, 0, NULL, &ignored);
    db_rollback(results);
    db_close(results);
    return may;
}

/*
 * Returns the login of the requesting user, or NULL if they may see everything.  The caller frees
 * it.
 */
static char *limited_login(const struct settings *settings)
{
    const struct client *client = settings->client;
    struct stat file;
    uid_t uid = client ? client->uid : getuid();
    if (uid == 0 || (client ? uid == geteuid() : does_runs(settings)) ||
        (!stat(settings->path, &file) && file.st_uid == uid))
        return NULL;
    if (client)
        return memory_text(client->login);
    const struct passwd *entry = getpwuid(uid);
    return memory_text(entry ? entry->pw_name : "");
}

struct permissions permissions_of_user(const struct settings *settings)
{
    return (struct permissions){ .login = limited_login(settings),
                                 .remote = settings->client,
                                 .reads_only = !settings->source.database,
                                 .private = settings->private };
}

static int read_recorded(struct permissions *permissions, struct db *results, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows = db_query(results, sql_query_privileges_recorded, NULL, 0, "tit", err);
    while (db_fetch(rows, &row, err) > 0) {
        char *text = db_value_text(&row[2]);
        struct settings *recorded = settings_recorded(text);
        *memory_append(&permissions->scopes, &permissions->scope_count) =
            (struct permissions_scope){ .cluster = db_value_text(&row[0]),
                                        .private = row[2].type == DB_TEXT
                                                       ? permissions->private | recorded->private
                                                       : PRIVATE_ALL,
                                        .is_past = !row[1].integer };
        settings_destroy(recorded);
        free(text);
    }
    return db_finish(rows);
}

static int permissions_rows_read_privileges(struct permissions_scope *scope, const char *login,
                                            struct db *results, struct error *err)
{
    const struct db_value *row, arguments[] = { db_text(scope->cluster), db_text(login) };
    struct db_rows *rows = db_query(results, sql_query_privileges_of, arguments, 2, "t", err);
    while (db_fetch(rows, &row, err) > 0)
        if (row[0].text.length)
            name_list_add(&scope->accounts, row[0].text.bytes, row[0].text.length);
        else
            scope->sees_all = true;
    name_list_sort(&scope->accounts);
    return db_finish(rows);
}

void permissions_admit_writer(struct permissions *permissions, const struct settings *settings)
{
    if (permissions->remote || !permissions_are_limited_on(permissions, "", PRIVATE_ALL) ||
        !may_add_runs(settings))
        return;
    free(permissions->login);
    permissions->login = NULL;
}

int permissions_read_scopes(struct permissions *permissions, const struct settings *settings,
                            struct db *results, struct error *err)
{
    int result = permissions->login ? read_recorded(permissions, results, err) : 0;
    for (size_t i = 0; !result && i < permissions->scope_count; i++)
        result = permissions_rows_read_privileges(&permissions->scopes[i], permissions->login,
                                                  results, err);
    if (!result)
        permissions_admit_writer(permissions, settings);
    return result;
}
