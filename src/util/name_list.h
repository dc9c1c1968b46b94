/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_NAME_LIST_H
#define FAIRMILL_UTIL_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Names that a command was asked about: bytes of the command line, which are compared as they read
 * in UTF-8. */
struct name_list {
    char **values;
    size_t count;
};

/* Add a copy of these bytes. */
void name_list_add(struct name_list *list, const char *bytes, size_t length);
void name_list_free(struct name_list *list);
/* Bytewise. */
void name_list_sort(struct name_list *list);

/* Whether a name that was asked for is this one. */
bool name_is(const char *asked, const char *utf8);
/* Whether a name is in the list, or the list is empty, which asks for all names. */
bool name_list_wants(const struct name_list *list, const char *utf8);

/* Refuse the first name that is not there, as is_there() has it. */
int name_list_check(const struct name_list *list, const char *kind,
                    bool (*is_there)(const void *context, const char *asked), const void *context,
                    struct error *err);

/* The one message for a name that is not there (ERROR_USAGE); `kind` is "cluster", "user",
 * "account" or "user or account".  Returns -1. */
int name_unknown(const char *kind, const char *name, struct error *err);

#endif
