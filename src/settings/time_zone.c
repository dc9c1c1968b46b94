/* SPDX-License-Identifier: MIT */
#include "settings/time_zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "util/error.h"

static bool time_zone_exists(const char *name)
{
    if (!strcmp(name, "UTC") || !strcmp(name, "GMT"))
        return true;
    if (strstr(name, "..") || *name == '/')
        return false;
    const char *folder = getenv("TZDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", name);
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* `CET-1CEST` and `<+03>-3`: what TZ has instead of a name. */
static bool is_time_zone_rule(const char *text)
{
    size_t name = *text == '<'
                      ? strcspn(text, ">") + 1
                      : strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (name < 3 || name > strlen(text))
        return false;
    text += name;
    text += *text == '+' || *text == '-';
    return *text >= '0' && *text <= '9';
}

/* Whether the zone that the environment names is known. */
static int check_environment_zone(struct error *err)
{
    const char *given = getenv("TZ");
    struct stat status;
    const char *name = given && *given == ':' ? given + 1 : given;
    if (!name || !*name || is_time_zone_rule(name) || time_zone_exists(name) ||
        (*name == '/' && !stat(name, &status) && S_ISREG(status.st_mode)))
        return 0;
    return fail(err, ERROR_SETTINGS,
                "[usage] time_zone = 'system': TZ is '%s', and this machine knows no such time "
                "zone",
                given);
}

int time_zone_set(const char *name, struct error *err)
{
    if (!strcmp(name, "system")) {
        if (check_environment_zone(err))
            return -1;
    } else if (!time_zone_exists(name)) {
        return fail(err, ERROR_SETTINGS,
                    "[usage] time_zone = '%s': this machine knows no such time zone", name);
    } else if (setenv("TZ", name, 1)) {
        return fail(err, ERROR_OTHER, "cannot set the time zone: %s", strerror(errno));
    }
    tzset();
    return 0;
}
