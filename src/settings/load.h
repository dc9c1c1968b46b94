/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_LOAD_H
#define FAIRMILL_SETTINGS_LOAD_H

#include <stdbool.h>

struct error;
struct settings;

enum settings_use {
    SETTINGS_NONE, /* reads no file */
    SETTINGS_FOR_ALL,
    /* For commands that only read results: [source] is optional and slurm.conf is not read.  If the
     * file is missing or unreadable, reader.conf in the same directory is read instead. */
    SETTINGS_FOR_READING,
    SETTINGS_FOR_CLIENTS, /* for commands that only read results; prefers reader.conf to the file */
};

/* Computes the digest that identifies a settings text in fairmill_settings. */
#define SETTINGS_DIGEST 33
void settings_digest_of(const char *text, char digest[SETTINGS_DIGEST]);

/*
 * Returns the path of the settings file: `path` if it is not NULL, else $FAIRMILL_CONF, else the
 * file in SYSCONFDIR.
 */
const char *settings_path(const char *path);
/* Returns the path of reader.conf in the directory of `path`; the caller frees it. */
char *settings_reader_path(const char *path);
/* Returns true if this process can read settings that are sufficient to read results: the file that
 * settings_path() returns for `path`, or reader.conf. */
bool settings_are_readable(const char *path);
/* Returns true if this process can read reader.conf, but not the file that settings_path() returns
 * for `path`. */
bool settings_are_for_reading(const char *path);

/*
 * Reads and validates the file that settings_path() returns for `path`, or reader.conf if `use`
 * requires it.  Sets the time zone of the process.  The caller frees `*settings` with
 * settings_destroy().  Fails with ERROR_SETTINGS; the message names the file and the key.
 */
int settings_load(struct settings **settings, const char *path, enum settings_use use,
                  struct error *err);

/* Returns the reason why these settings do not allow `source = rollup', or NULL if they do. */
const char *settings_refuse_rollup(const struct settings *settings);

/*
 * Sets the time zone of the process; `system' keeps the current time zone.  Fails with
 * ERROR_SETTINGS if the host does not know the zone, because the C library would silently use UTC.
 */
int time_zone_set(const char *name, struct error *err);

#endif
