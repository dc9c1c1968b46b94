/* SPDX-License-Identifier: MIT */
#include "command/answer/peer.h"

#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>

#include "util/error.h"
#include "util/memory.h"

/* What the kernel says of a user whom it cannot name here. */
#define OVERFLOW_UID 65534u

int peer_uid(int socket, uid_t *uid, struct error *err)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) || length != sizeof peer)
        return fail(err, ERROR_USAGE,
                    "answer: standard input is not a Unix socket; fairmill.socket of systemd "
                    "starts this command");
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
