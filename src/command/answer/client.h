/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_CLIENT_H
#define FAIRMILL_COMMAND_ANSWER_CLIENT_H

#include <stdbool.h>

struct error;

/* The client of `fairmill answer`, for users who cannot read the settings. */

/* Returns true if the socket exists.  Its path is $FAIRMILL_SOCKET or, if that is not set,
 * /run/fairmill/socket. */
bool client_has_socket(void);
/* Sends the command line to the socket and prints the response.  `arguments` begins with the
 * command's name.  Returns the command's exit status, or -1 if there was no response. */
int client_request(int count, char **arguments, struct error *err);

#endif
