/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_RUN_MARK_H
#define FAIRMILL_RESULTS_RUN_MARK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct settings;

/* A run that cannot leave its row in fairmill_run (bad settings, a wrong password, a full disk)
 * leaves a file instead, in each directory of util/state_directory.h that takes it, since the next
 * of them may be closed to the users who ask.  The file's name has a hash of the settings' path,
 * its time is the run's, and it holds the exit status and nothing else, since other users may read
 * it. A full disk leaves it empty. */

struct run_mark {
    int64_t at; /* epoch seconds; 0: there is none */
    int status; /* the exit status; 0: unknown */
};

/* Users whose marks count, whoever asks. */
struct run_users {
    uid_t *users;
    size_t count;
};

/* Leaves the file of the settings at this path; does nothing if no directory takes it. */
void run_mark_leave(const char *settings_path, int status);
/* Removes it from all directories. */
void run_mark_remove(const char *settings_path);
/* Returns the newest of this process's user, of root, of the user `fairmill', of the owners of the
 * settings and of a SQLite database of results, and of `users`.  Other users could forge one.
 * reader.conf also finds that of fairmill.conf beside it. */
struct run_mark run_mark_find(const struct settings *settings, const struct run_users *users);
/* Adds the user of this name, if there is one. */
void run_users_add(struct run_users *users, const char *name);
void run_users_free(struct run_users *users);

#endif
