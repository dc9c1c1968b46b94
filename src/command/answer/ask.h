/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_ANSWER_ASK_H
#define FAIRMILL_COMMAND_ANSWER_ASK_H

#include <stdbool.h>

struct error;

/* The other end of `fairmill answer`: users who may not read the settings ask it. */

/* Whether there is a socket to ask: $FAIRMILL_SOCKET, else /run/fairmill/socket. */
bool ask_can(void);
/* Ask it for this command line, the command's name first, and print the answer.  Returns the
 * command's exit status; -1: there was no answer. */
int ask(int count, char **arguments, struct error *err);

#endif
