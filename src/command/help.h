/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_HELP_H
#define FAIRMILL_COMMAND_HELP_H

#include <stdbool.h>

struct command;
struct text;

/*
 * Appends the list of commands to `text`.  Each group has a heading and its commands in the order
 * of the table.  `commands` ends with NULL.
 */
void help_add_commands(struct text *text, const struct command *const *commands);

/*
 * Appends the help of a command to `text`, for a terminal of 80 columns: usage, description and
 * options.  The output options and the common options have one line each.  With `all_options`, each
 * of these options has its own line; shell completion reads this form.
 */
void help_add(struct text *text, const struct command *command, bool all_options);

#endif
