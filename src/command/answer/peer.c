/* SPDX-License-Identifier: MIT */
#include "command/answer/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* What the kernel says of a user whom it cannot name here. */
#define OVERFLOW_UID 65534u

int peer_uid(int socket, uid_t *uid, struct error *err)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) || length != sizeof peer)
        return fail(err, ERROR_USAGE,
                    "answer: standard input is no Unix socket; fairmill.socket of systemd starts "
                    "this");
    *uid = peer.uid;
    return 0;
}

char *peer_login(uid_t uid, struct error *err)
{
    errno = 0;
    const struct passwd *entry = uid == OVERFLOW_UID ? NULL : getpwuid(uid);
    if (entry)
        return memory_text(entry->pw_name);
    fail(err, ERROR_DENIED, "users without a name here are not answered: uid %lu%s%s",
         (unsigned long)uid, errno ? ": " : "", errno ? strerror(errno) : "");
    return NULL;
}

/* The lock lasts as long as the file is open, which nobody closes. */
static bool take(const char *folder, uid_t uid, int number)
{
    struct text path = { 0 };
    text_format(&path, "%s/%lu-%d", folder, (unsigned long)uid, number);
    int file = open(path.bytes, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    text_free(&path);
    if (file < 0 || !flock(file, LOCK_EX | LOCK_NB))
        return true; /* what cannot be counted is no reason not to answer */
    close(file);
    return false;
}

int peer_take_place(uid_t uid, struct error *err)
{
    const char *folder = getenv("RUNTIME_DIRECTORY");
    if (!folder || !*folder)
        return 0;
    for (int i = 0; i < PEER_QUESTIONS; i++)
        if (take(folder, uid, i))
            return 0;
    return fail(err, ERROR_LOCKED, "%d questions of yours are not answered yet; ask again then",
                PEER_QUESTIONS);
}
