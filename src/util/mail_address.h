/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_MAIL_ADDRESS_H
#define FAIRMILL_UTIL_MAIL_ADDRESS_H

#include <stdbool.h>

/*
 * Plain addresses of mail: they need no quotes in a header and cannot add an option, an address or
 * a header.
 */

/* Maximum length of a login in an address, in bytes (RFC 5321). */
#define MAIL_LOGIN_AT_MOST 64

/* Returns true for letters, digits and `._+-`, not beginning with `.` or `-`. */
bool mail_login_is_plain(const char *login);
/* Returns true for letters, digits, `.` and `-`, not beginning or ending with `.` or `-`. */
bool mail_domain_is_plain(const char *domain);
/* Returns true for a plain login, or a plain login, `@` and a plain domain. */
bool mail_address_is_plain(const char *address);

#endif
