/* SPDX-License-Identifier: MIT */
#include "db/sqlite/sqlite_session.h"

#include <stdio.h>
#include <string.h>

/* SQLite says that a disk is full, but not which: that of the database, or that of its temporary
 * files, which are where sorting needs more than memory should hold.  So it opens files through
 * this layer, which is its own but for noting what became of temporary files. */

/* Rows may be read by a thread of their own, which says itself what went wrong. */
static _Thread_local bool failed;

static sqlite3_vfs layer;
static int (*open_file)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static sqlite3_io_methods temporary; /* made once, under SQLite's mutex for applications */
static int (*write_file)(sqlite3_file *, const void *, int, sqlite3_int64);

static int write_temporary(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
    int result = write_file(file, bytes, count, at);
    failed |= result != SQLITE_OK;
    return result;
}

/* Temporary files have no name, and all of them the same methods. */
static int open_noting(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                       int *got_flags)
{
    int result = open_file(vfs, name, file, flags, got_flags);
    if (name)
        return result;
    failed |= result != SQLITE_OK;
    if (result != SQLITE_OK)
        return result;
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    sqlite3_mutex_enter(mutex);
    if (!write_file) {
        temporary = *file->pMethods;
        write_file = temporary.xWrite;
        temporary.xWrite = write_temporary;
    }
    sqlite3_mutex_leave(mutex);
    file->pMethods = &temporary;
    return SQLITE_OK;
}

const char *sqlite_layer(void)
{
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    if (layer.zName || !usual)
        return layer.zName;
    layer = *usual;
    layer.zName = "fairmill";
    layer.pNext = NULL;
    open_file = layer.xOpen;
    layer.xOpen = open_noting;
    if (sqlite3_vfs_register(&layer, 0) != SQLITE_OK)
        layer.zName = NULL;
    return layer.zName;
}

void sqlite_forget_temporary(void)
{
    failed = false;
}

/* What a temporary file would be called now tells the folder. */
const char *sqlite_name_temporary(const struct sqlite_db *db, char *where, size_t room)
{
    char *name = NULL;
    if (!failed)
        return "";
    sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_TEMPFILENAME, &name);
    const char *slash = name ? strrchr(name, '/') : NULL;
    snprintf(where, room,
             "cannot write temporary files in '%.*s', which SQLITE_TMPDIR or TMPDIR chooses: ",
             slash ? (int)(slash - name) : 0, slash ? name : "");
    sqlite3_free(name);
    return where;
}
