/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_CLIENT_H
#define FAIRMILL_SETTINGS_CLIENT_H

#include <sys/types.h>

/* Who asks over the socket of `fairmill answer`: a user of this system, by the word of the kernel.
 * NULL wherever a pointer to one stands: who runs this process. */
struct client {
    uid_t uid;
    const char *login;
    int journal; /* a file: where this process logs what the user is not told */
};

#endif
