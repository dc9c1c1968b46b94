/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_HELP_H
#define FAIRMILL_COMMAND_HELP_H

struct command;
struct text;

/* Add how a command is used, what it does, and what its options mean, for a terminal of 80
 * columns. */
void help_add(struct text *text, const struct command *command);

#endif
