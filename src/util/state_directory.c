/* SPDX-License-Identifier: MIT */
#include "util/state_directory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/text.h"

static bool others_may_change(const struct stat *status)
{
    return status->st_mode & (S_IWGRP | S_IWOTH);
}

static bool state_directory_is_of(int fd, mode_t type, uid_t user)
{
    struct stat status;
    return !fstat(fd, &status) && (status.st_mode & S_IFMT) == type && status.st_uid == user &&
           !others_may_change(&status) && (type == S_IFDIR || status.st_nlink == 1);
}

bool state_is_ours(int fd, mode_t type)
{
    return state_directory_is_of(fd, type, geteuid());
}

static bool may_read(int directory)
{
    struct stat status;
    return !fstat(directory, &status) && !others_may_change(&status);
}

static int open_system(const char *path, enum state_use use)
{
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0 && (use == STATE_READ ? may_read(directory)
                                             : state_is_ours(directory, S_IFDIR) &&
                                                   !faccessat(directory, ".", W_OK, AT_EACCESS)))
        return directory;
    if (directory >= 0)
        close(directory);
    return -1;
}

/*
 * Opens fairmill-UID in `parent`, which may be writable by all users.  Does not follow a symbolic
 * link, which another user may have created.
 */
static int open_of(const char *parent, uid_t user, enum state_use use)
{
    if (!parent || *parent != '/')
        return -1;
    struct text path = { 0 };
    text_format(&path, "%s/fairmill-%" PRIuMAX, parent, (uintmax_t)user);
    if (use == STATE_MAKE)
        mkdir(path.bytes, 0755);
    int directory = open(path.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    text_free(&path);
    if (directory >= 0 && !state_directory_is_of(directory, S_IFDIR, user)) {
        close(directory);
        directory = -1;
    }
    return directory;
}

static int open_own(const char *parent, enum state_use use)
{
    int directory = open_of(parent, geteuid(), use);
    if (directory >= 0 && use == STATE_MAKE)
        fchmod(directory, 0755); /* independent of the umask */
    if (directory >= 0 && faccessat(directory, ".", W_OK, AT_EACCESS)) {
        close(directory);
        directory = -1;
    }
    return directory;
}

int state_directory_open_of(uid_t user, unsigned number)
{
    return open_of(number ? "/tmp" : getenv("TMPDIR"), user, STATE_READ);
}

/* $STATE_DIRECTORY has several paths, separated by colons, if the unit sets several. */
static int open_of_service(enum state_use use)
{
    const char *paths = getenv("STATE_DIRECTORY");
    if (!paths || *paths != '/')
        return -1;
    char *path = memory_bytes(paths, strcspn(paths, ":"));
    int directory = open_system(path, use);
    free(path);
    return directory;
}

int state_directory_open(unsigned number, enum state_use use)
{
    const char *temporary = getenv("TMPDIR");
    bool is_set = temporary && *temporary;
    switch (number) {
    case 0:
        return open_of_service(use);
    case 1:
        return open_system(LOCALSTATEDIR "/lib/fairmill", use);
    case 2:
        return open_system("/var/lib/fairmill", use);
    case 3:
        return open_own(getenv("XDG_RUNTIME_DIR"), use);
    case 4:
        return open_own(temporary, use);
    case STATE_LAST_RESORT:
        return open_own("/tmp", use);
    default:
        return is_set && use != STATE_READ ? -1 : open_own("/tmp", use);
    }
}
