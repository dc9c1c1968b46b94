/* SPDX-License-Identifier: MIT */
#include "util/list.h"

#include <string.h>

#include "util/memory.h"
#include "util/text.h"

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

char *list_part(char *item, char *sign, char **name)
{
    if (!sign)
        return NULL;
    *sign = '\0';
    *name = trim_blanks(item);
    return **name ? trim_blanks(sign + 1) : NULL;
}
