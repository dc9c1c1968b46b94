/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_PRIVATE_H
#define FAIRMILL_COMMAND_PRIVATE_H

struct error;
struct settings;

/* [report] private: users see accounts and themselves.  It is a courtesy of these commands, no
 * lock: who may read the tables can read them otherwise too. */

/* The login of who asks, and of whom alone may be told, to be freed.  NULL: of everybody, as to
 * root, to the owner of the settings file, and where the settings are not private. */
char *private_login(const struct settings *settings);
/* Refuse a user who is not `login` (NULL: none is refused); `user` NULL or "" is no user. */
int private_check(const char *login, const char *user, struct error *err);

#endif
