/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_PEER_H
#define FAIRMILL_COMMAND_ANSWER_PEER_H

#include <sys/types.h>

struct error;

/* The user at the other end of a Unix socket, and how much each user may ask at once. */

/* The user who connected, by SO_PEERCRED.  ERROR_USAGE where this is no Unix socket. */
int peer_uid(int socket, uid_t *uid, struct error *err);
/* The user's name, to be freed; NULL and ERROR_DENIED where this system knows none, or the kernel
 * names nobody: 65534, as of another user namespace. */
char *peer_login(uid_t uid, struct error *err);

#define PEER_QUESTIONS 4 /* a user has at most so many at once */

/* Take one of the user's places in the folder of $RUNTIME_DIRECTORY, which systemd sets; it is free
 * again when this process ends.  Without that folder nothing is counted.  ERROR_LOCKED where all
 * are taken. */
int peer_take_place(uid_t uid, struct error *err);

#endif
