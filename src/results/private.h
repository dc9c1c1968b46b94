/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PRIVATE_H
#define FAIRMILL_RESULTS_PRIVATE_H

struct error;
struct settings;

/* [report] private: users see accounts and themselves.  It is a courtesy of the commands, no lock:
 * who may read the tables can read them otherwise too. */

/* The login of the caller, the only user who may be shown, to be freed.  NULL: everybody may be
 * shown, as to root, to the owner of the settings file, and where the settings are not private. */
char *private_login(const struct settings *settings);
/* Refuse (ERROR_USAGE) a user who is not `login` (NULL: none is refused); `user` NULL or "" is no
 * user. */
int private_check(const char *login, const char *user, struct error *err);

#endif
