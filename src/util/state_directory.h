/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_STATE_DIRECTORY_H
#define FAIRMILL_UTIL_STATE_DIRECTORY_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Directories for small files that outlive a process: $STATE_DIRECTORY (its first path),
 * LOCALSTATEDIR/lib/fairmill, /var/lib/fairmill, and fairmill-UID in $XDG_RUNTIME_DIR, in $TMPDIR
 * and in /tmp, which is written only if $TMPDIR is not set.  Cron, systemd and a login shell set
 * different ones of these variables, so that who looks for a file looks in all of them. */
#define STATE_FOLDERS 6
/* /tmp, also if $TMPDIR is set: for files that must not be lost. */
#define STATE_LAST_RESORT STATE_FOLDERS

enum state_use {
    STATE_READ,  /* also a system directory of another user */
    STATE_WRITE, /* one that exists */
    STATE_MAKE,  /* make fairmill-UID if it is missing; other users may read it */
};

/* Opens the directory of this number, from 0.  Returns -1 if it is missing, if the effective user
 * may not use it so, or if other users may change files in it. */
int state_directory_open(unsigned number, enum state_use use);

/* Opens fairmill-UID of any user, to read it: in $TMPDIR for number 0, in /tmp for 1.  Returns -1
 * as above. */
int state_directory_open_of(uid_t user, unsigned number);

/* Whether it has this type, belongs to the effective user, and nobody else may change it. */
bool state_is_ours(int fd, mode_t type);

#endif
