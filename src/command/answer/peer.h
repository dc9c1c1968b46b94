/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_PEER_H
#define FAIRMILL_COMMAND_ANSWER_PEER_H

#include <sys/types.h>

struct error;

/* The user at the other end of a Unix socket. */

/* The user who connected, by SO_PEERCRED.  ERROR_USAGE where this is no Unix socket. */
int peer_uid(int socket, uid_t *uid, struct error *err);
/* The user's name, to be freed; NULL and ERROR_DENIED where this system knows none, or the kernel
 * names nobody: 65534, as of another user namespace. */
char *peer_login(uid_t uid, struct error *err);

#endif
