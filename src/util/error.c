/* SPDX-License-Identifier: MIT */
#include "util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/text.h"

int fail(struct error *err, enum error_class class, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    err->class = class;
    err->of_database = false;
    int length = vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof err->message)
        utf8_drop_cut(err->message);
    return -1;
}

int fail_in(struct error *err, const char *format, ...)
{
    char reason[sizeof err->message];
    memcpy(reason, err->message, sizeof reason);

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);

    size_t used = strlen(err->message);
    size_t room = sizeof err->message - used;
    if (snprintf(err->message + used, room, ": %s", reason) >= (int)room)
        utf8_drop_cut(err->message);
    return -1;
}

int error_exit_status(enum error_class class)
{
    switch (class) {
    case ERROR_USAGE:
        return 64;
    case ERROR_DATA:
        return 65;
    case ERROR_GONE:
    case ERROR_RETRY:
    case ERROR_FULL:
    case ERROR_LAGGING:
        return 69;
    case ERROR_LOCKED:
        return 75;
    case ERROR_SETTINGS:
    case ERROR_LOGIN:
    case ERROR_DENIED:
    case ERROR_MISSING:
    case ERROR_VERSION:
        return 78;
    case ERROR_DAMAGED:
    case ERROR_OTHER:
        break;
    }
    return 1;
}
