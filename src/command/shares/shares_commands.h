/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_SHARES_COMMANDS_H
#define FAIRMILL_COMMAND_SHARES_COMMANDS_H

struct share_differences;
struct text;

/* Add the sacctmgr commands, a line each, for sh, that bring the database to what the file says, in
 * an order that works: accounts are made and moved from the root down, shares are set, users are
 * added, then users and last accounts are removed.  What no command can say is a comment. */
void shares_add_commands(struct text *text, const struct share_differences *differences);

#endif
