/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_CLIENT_H
#define FAIRMILL_COMMAND_ANSWER_CLIENT_H

#include <stdbool.h>

struct error;

/* The other end of `fairmill answer`: users who may not read the settings ask it. */

/* Whether there is a socket to ask: $FAIRMILL_SOCKET, else /run/fairmill/socket. */
bool client_has_socket(void);
/* Request this command line from it, the command's name first, and print the response.  Returns the
 * command's exit status; -1: there was no response. */
int client_request(int count, char **arguments, struct error *err);

#endif
