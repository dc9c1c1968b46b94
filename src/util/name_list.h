/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_NAME_LIST_H
#define FAIRMILL_UTIL_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/*
 * Names that the user gave on the command line, as bytes.  They are converted to UTF-8 for
 * comparisons, see text_add_as_utf8().
 */
struct name_list {
    char **values;
    size_t count;
};

/* Appends a copy of `bytes`.  name_list_free() frees it. */
void name_list_add(struct name_list *list, const char *bytes, size_t length);
void name_list_free(struct name_list *list);
/* Sorts the names in ascending order of their bytes. */
void name_list_sort(struct name_list *list);

/* Returns true if `asked`, converted to UTF-8, equals `utf8`. */
bool name_is(const char *asked, const char *utf8);
/* Returns true if the list contains the name, or if the list is empty and so selects all names. */
bool name_list_wants(const struct name_list *list, const char *utf8);

/* Fails with name_unknown() for the first name for which is_there() returns false. */
int name_list_check(const struct name_list *list, const char *kind,
                    bool (*is_there)(const void *context, const char *asked), const void *context,
                    struct error *err);

/*
 * Reports a name that does not exist as an ERROR_USAGE.  `kind` is "cluster", "user", "account" or
 * "user or account".  Returns -1.
 */
int name_unknown(const char *kind, const char *name, struct error *err);

#endif
