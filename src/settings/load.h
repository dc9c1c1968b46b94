/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_LOAD_H
#define FAIRMILL_SETTINGS_LOAD_H

#include <stdbool.h>

struct error;
struct settings;

enum settings_use {
    SETTINGS_NONE, /* no file is read */
    SETTINGS_FOR_ALL,
    SETTINGS_FOR_READING, /* of results only: [source] need not be there; where the file may not
                             be read or is missing, reader.conf beside it will do */
    SETTINGS_FOR_CLIENTS, /* the same, with reader.conf wherever there is one */
};

/* Writes the digest under which fairmill_settings keeps a text. */
#define SETTINGS_DIGEST 33
void settings_digest_of(const char *text, char digest[SETTINGS_DIGEST]);

/* The settings file that is meant: the path, $FAIRMILL_CONF or the usual one. */
const char *settings_path(const char *path);
/* Whether this process may read settings for the reading of results. */
bool settings_are_readable(const char *path);
/* Whether it may read reader.conf only. */
bool settings_are_for_reading(const char *path);

/* Read and check the file; NULL looks at $FAIRMILL_CONF, then at SYSCONFDIR.  Sets the process's
 * time zone.  ERROR_SETTINGS names the file and the key. */
int settings_load(struct settings **settings, const char *path, enum settings_use use,
                  struct error *err);

/* Why [usage] source cannot be rollup with the other settings; NULL: it can. */
const char *settings_refuse_rollup(const struct settings *settings);

/* Set the process's time zone to this name; `system` leaves the one that it has.  ERROR_SETTINGS
 * where this machine does not know the zone, for which the C library would use UTC without a word.
 */
int time_zone_set(const char *name, struct error *err);

#endif
