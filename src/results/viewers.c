/* SPDX-License-Identifier: MIT */
#include "results/viewers.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/db.h"
#include "settings/asker.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/memory.h"

/* The login of the user who asks; NULL: this user may be told of everybody. */
static char *limited_login(const struct settings *settings)
{
    const struct asker *asker = settings->asker;
    struct stat file;
    uid_t uid = asker ? asker->uid : getuid();
    if (uid == 0 || (asker && uid == geteuid()) ||
        (!stat(settings->path, &file) && file.st_uid == uid))
        return NULL;
    if (asker)
        return memory_text(asker->login);
    const struct passwd *entry = getpwuid(uid);
    return memory_text(entry ? entry->pw_name : "");
}

struct viewer viewer_of(const struct settings *settings)
{
    return (struct viewer){ .login = limited_login(settings), .private = settings->private };
}

int viewer_read_scope(struct viewer *viewer, struct db *results, const char *cluster,
                      const struct settings *recorded, struct error *err)
{
    struct viewer_scope scope = { .private = viewer->private | recorded->private };
    if (!viewer->login)
        return 0;
    const struct db_value *row, arguments[] = { db_text(cluster), db_text(viewer->login) };
    struct db_rows *rows = db_query(results, sql_query_privileges_of, arguments, 2, "t", err);
    while (db_fetch(rows, &row, err) > 0)
        if (row[0].text.length)
            name_list_add(&scope.accounts, row[0].text.bytes, row[0].text.length);
        else
            scope.sees_all = true;
    scope.cluster = memory_text(cluster);
    viewer->scopes = memory_grown(viewer->scopes, viewer->scope_count, sizeof *viewer->scopes);
    viewer->scopes[viewer->scope_count++] = scope;
    name_list_sort(&scope.accounts);
    return db_finish(rows);
}
