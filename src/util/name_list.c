/* SPDX-License-Identifier: MIT */
#include "util/name_list.h"

#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

void name_list_add(struct name_list *list, const char *bytes, size_t length)
{
    *memory_append(&list->values, &list->count) = memory_bytes(bytes, length);
}

void name_list_free(struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->values[i]);
    free(list->values);
    *list = (struct name_list){ 0 };
}

static int name_list_by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void name_list_sort(struct name_list *list)
{
    if (list->count)
        qsort(list->values, list->count, sizeof *list->values, name_list_by_bytes);
}

bool name_is(const char *asked, const char *utf8)
{
    return reads_as(asked, strlen(asked), utf8);
}

bool name_list_wants(const struct name_list *list, const char *utf8)
{
    for (size_t i = 0; i < list->count; i++)
        if (name_is(list->values[i], utf8))
            return true;
    return !list->count;
}

int name_list_check(const struct name_list *list, const char *kind,
                    bool (*is_there)(const void *context, const char *asked), const void *context,
                    struct error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (!is_there(context, list->values[i]))
            return name_unknown(kind, list->values[i], err);
    return 0;
}

int name_unknown(const char *kind, const char *name, struct error *err)
{
    return fail(err, ERROR_USAGE, "there is no %s '%s'", kind, name);
}
