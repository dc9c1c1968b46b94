/* SPDX-License-Identifier: MIT */
#include "util/mail_address.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* not isalnum(), which depends on the locale */
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define DOMAIN_AT_MOST 253

bool mail_login_is_plain(const char *login)
{
    size_t length = strlen(login);
    return length && length <= MAIL_LOGIN_AT_MOST && !strchr(".-", *login) &&
           strspn(login, LETTERS "._+-") == length;
}

bool mail_domain_is_plain(const char *domain)
{
    size_t length = strlen(domain);
    return length && length <= DOMAIN_AT_MOST && !strchr(".-", *domain) &&
           !strchr(".-", domain[length - 1]) && strspn(domain, LETTERS ".-") == length;
}

bool mail_address_is_plain(const char *address)
{
    const char *at = strchr(address, '@');
    char *login = memory_bytes(address, at ? (size_t)(at - address) : strlen(address));
    bool plain = mail_login_is_plain(login) && (!at || mail_domain_is_plain(at + 1));
    free(login);
    return plain;
}
