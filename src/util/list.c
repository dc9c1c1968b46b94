/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "util/list.h"

#include <string.h>

#include "util/memory.h"

char *list_next(const char **at)
{
    while (*at) {
        const char *start = *at + strspn(*at, ", \t");
        size_t length = strcspn(start, ",");
        *at = start[length] ? start + length + 1 : NULL;
        while (length && (start[length - 1] == ' ' || start[length - 1] == '\t'))
            length--;
        if (length)
            return memory_bytes(start, length);
    }
    return NULL;
}
