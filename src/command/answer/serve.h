/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_SERVE_H
#define FAIRMILL_COMMAND_ANSWER_SERVE_H

#include <stdint.h>

struct error;
struct invocation;

/* The long-lived process behind the socket.  It decides what a connection may cost before anything
 * is started for it, holds no settings and no session, and starts `fairmill answer` for each
 * request that it admits. */

#define SERVE_OF_ONE 4 /* requests of one user at once */

struct serve_limits {
    uint64_t most;   /* requests of all users at once */
    uint64_t idle_s; /* end after so many seconds without a connection */
};

/* Returns the listening socket that this process was started with: file 3 where systemd's
 * $LISTEN_PID and $LISTEN_FDS say so, or standard input; -1 if neither listens. */
int serve_listener(void);
/* Serve the socket until it is idle.  ERROR_OTHER if it cannot be polled. */
int serve(int listener, const struct serve_limits *limits, const struct invocation *invocation,
          struct error *err);

#endif
