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

/* Whether the file has time zone rules, as far as its header tells (tzfile(5)): the C library
 * takes any other file for UTC. */
static bool is_zone_file(const char *path)
{
    unsigned char header[44];
    struct stat status;
    FILE *file = !stat(path, &status) && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
    if (!file)
        return false;
    bool whole = fread(header, sizeof header, 1, file) == 1;
    fclose(file);
    return whole && !memcmp(header, "TZif", 4);
}

static bool time_zone_exists(const char *name)
{
    if (!strcmp(name, "UTC") || !strcmp(name, "GMT"))
        return true;
    if (strstr(name, "..") || *name == '/')
        return false;
    const char *folder = getenv("TZDIR");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "/usr/share/zoneinfo", name);
    return is_zone_file(path);
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
    const char *name = given && *given == ':' ? given + 1 : given;
    if (!name || !*name || is_time_zone_rule(name) || time_zone_exists(name) ||
        (*name == '/' && is_zone_file(name)))
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
