/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMMAND_LOGIN_H
#define FAIRMILL_COMMAND_LOGIN_H

/* The login of the caller, to be freed, also behind sudo and su. */
char *login_name(void);

#endif
