/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_RUN_MARK_H
#define FAIRMILL_RESULTS_RUN_MARK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct settings;

/*
 * Run marks: files that show that a run could not add its row to fairmill_run, because of bad
 * settings, a wrong password or a full disk.
 *
 * The run writes the mark into each directory of util/state_directory.h in which it can create
 * files.  Other users might not be able to read the first of these directories.  The name of the
 * file has a hash of the settings' path, and its modification time is the time at which the run
 * failed.  The file contains only the exit status, because other users may read it.  If the disk is
 * full, the file is empty.
 */

struct run_mark {
    int64_t at; /* epoch seconds; 0 if no mark was found */
    int status; /* exit status of the run; 0 if unknown */
};

/* Users whose marks are trusted. */
struct run_users {
    uid_t *users;
    size_t count;
};

/*
 * Writes the mark of the settings at this path.  Does nothing if it cannot create the file in any
 * directory.
 */
void run_mark_leave(const char *settings_path, int status);

/* Removes the mark from all directories. */
void run_mark_remove(const char *settings_path);

/*
 * Returns the newest mark of the settings that a trusted user wrote, because other users could
 * forge a mark.  Marks of this process's user, of root, of the user `fairmill', and of `users` are
 * trusted.  Marks of the owners of the settings and of a SQLite results database are trusted, too.
 * For reader.conf, marks of fairmill.conf in the same directory are also read.
 */
struct run_mark run_mark_find(const struct settings *settings, const struct run_users *users);

/* Adds the user with this name if the user exists. */
void run_users_add(struct run_users *users, const char *name);
void run_users_free(struct run_users *users);

#endif
