/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "util/name_list.h"

#include <string.h>

#include "util/error.h"
#include "util/text.h"

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

int name_unknown(const char *kind, const char *name, struct error *err)
{
    return fail(err, ERROR_USAGE, "there is no %s '%s'", kind, name);
}
