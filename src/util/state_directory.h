/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_STATE_DIRECTORY_H
#define FAIRMILL_UTIL_STATE_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Directories for small files that outlive a process, by their numbers:
 *
 *   0  the first path in $STATE_DIRECTORY
 *   1  LOCALSTATEDIR/lib/fairmill
 *   2  /var/lib/fairmill
 *   3  fairmill-UID in $XDG_RUNTIME_DIR
 *   4  fairmill-UID in $TMPDIR
 *   5  fairmill-UID in /tmp, which is written only if $TMPDIR is not set
 *
 * Cron, systemd and login shells set different variables, so a process that looks for a file must
 * look in all of the directories.
 */
#define STATE_FOLDERS 6
/* fairmill-UID in /tmp even if $TMPDIR is set, for files that must not be lost. */
#define STATE_LAST_RESORT STATE_FOLDERS

enum state_use {
    STATE_READ,  /* accept a system directory of another user */
    STATE_WRITE, /* open an existing directory in which files can be created */
    STATE_MAKE,  /* create fairmill-UID if it is missing, readable by all users */
};

/*
 * Opens the directory with this number, counted from 0, and returns its descriptor, which the
 * caller closes.  Returns -1 if it is missing, if the effective user must not use it as `use` says,
 * or if other users can change files in it.
 */
int state_directory_open(unsigned number, enum state_use use);

/*
 * Opens fairmill-UID of user `user` for reading: in $TMPDIR if `number` is 0, in /tmp if it is 1.
 * Returns -1 if it is missing, if it does not belong to that user, or if other users can change
 * files in it.
 */
int state_directory_open_of(uid_t user, unsigned number);

/*
 * Returns true if the open file has this type, belongs to the effective user, and cannot be changed
 * by other users.
 */
bool state_is_ours(int fd, mode_t type);

#endif
