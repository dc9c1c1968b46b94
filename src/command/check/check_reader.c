/* SPDX-License-Identifier: MIT */
#include "command/check/check_reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/answer/client.h"
#include "db/db.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* systemd starts the socket at boot if this file exists. */
#define SOCKET_ENABLED "/etc/systemd/system/sockets.target.wants/fairmill.socket"

/* Loads the settings of readers and sets `*zone` to their time zone.  Restores the time zone of the
 * process, which settings_load() changes. */
static int reader_load(struct settings **reader, const char *path, uint64_t *zone,
                       struct error *err)
{
    const char *before = getenv("TZ");
    char *saved = before ? memory_text(before) : NULL;
    int result = settings_load(reader, path, SETTINGS_FOR_CLIENTS, err);
    *zone = calendar_zone();
    if (saved)
        setenv("TZ", saved, 1);
    else
        unsetenv("TZ");
    tzset();
    free(saved);
    return result;
}

static const char *check_reader_value(const struct settings *settings,
                                      const struct setting *setting)
{
    const char *value = settings->origins[setting - settings_table].value;
    return value && *value ? value : "''";
}

static void check_reader_add_difference(struct text *text, const struct settings *settings,
                                        const struct settings *reader,
                                        const struct setting *setting, const char *effect)
{
    text_format_printable(text, "  warning: '%s': [%s] %s = %s, but %s in '%s': %s\n", reader->path,
                          setting->section, setting->key, check_reader_value(reader, setting),
                          check_reader_value(settings, setting), settings->path, effect);
}

/* Warns of other results, and names the settings of the connection that differ. */
static void add_other_results(struct text *text, const struct settings *settings,
                              const struct settings *reader)
{
    static const char *const keys[] = { "driver", "host", "port", "socket", "service", "database" };
    text_format_printable(text,
                          "  warning: '%s' leads to other results than '%s', which runs publish",
                          reader->path, settings->path);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct setting *setting = setting_named("results", keys[i]);
        const char *value = check_reader_value(reader, setting);
        if (strcmp(value, check_reader_value(settings, setting)) != 0)
            text_format_printable(text, "; %s is %s, not %s", keys[i], value,
                                  check_reader_value(settings, setting));
    }
    text_add(text, "\n");
}

static void compare_results(struct text *text, const struct settings *settings,
                            const struct settings *reader, struct db *results)
{
    struct error err, ignored;
    struct db *other = NULL;
    char *own = db_identity(results, &ignored), *identity = NULL;
    if (results_open(&other, reader, DB_READER, &err) || !(identity = db_identity(other, &err)))
        text_format_printable(text, "  warning: '%s': users cannot read the results: %s\n",
                              reader->path, err.message);
    else if (own && strcmp(identity, own) != 0)
        add_other_results(text, settings, reader);
    db_close(other);
    free(identity);
    free(own);
}

/* What a run recorded as private is private for readers, too, so they can only hide more. */
static void compare_answers(struct text *text, const struct settings *settings,
                            const struct settings *reader, uint64_t zone)
{
    if (reader->private & ~settings->private)
        check_reader_add_difference(text, settings, reader, setting_named("report", "private"),
                                    "users see less than this setting allows");
    if (setting_is_chosen(reader, "usage", "time_zone") && zone != settings->zone)
        check_reader_add_difference(
            text, settings, reader, setting_named("usage", "time_zone"),
            "users get other days and months than those of the runs; remove "
            "it from reader.conf");
}

void check_reader(struct text *text, const struct settings *settings, struct db *results)
{
    struct error err;
    struct settings *reader = NULL;
    uint64_t zone;
    char *path = settings_reader_path(settings->path);
    if (!access(path, F_OK) && strcmp(path, settings->path) != 0) {
        if (!access(path, R_OK) && !reader_load(&reader, settings->path, &zone, &err)) {
            compare_results(text, settings, reader, results);
            compare_answers(text, settings, reader, zone);
        } else if (!access(path, R_OK)) {
            text_format_printable(text, "  warning: users get an error: %s\n", err.message);
        } else if (client_has_socket() || !access(SOCKET_ENABLED, F_OK)) {
            text_format_printable(text,
                                  "  warning: cannot read '%s', which the service of "
                                  "fairmill.socket reads as this user; run chgrp and chmod g+r\n",
                                  path);
        }
    }
    settings_destroy(reader);
    free(path);
}
