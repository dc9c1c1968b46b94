/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_LOAD_H
#define FAIRMILL_SETTINGS_LOAD_H

struct error;
struct settings;

enum settings_use {
    SETTINGS_FOR_ALL,
    SETTINGS_FOR_READING, /* of results only: [source] need not be there; where the file may not
                             be read or is missing, reader.conf beside it will do */
};

/* Read and check the file; NULL looks at $FAIRMILL_CONF, then at SYSCONFDIR.  Sets the process's
 * time zone.  ERROR_SETTINGS names the file and the key. */
int settings_load(struct settings **settings, const char *path, enum settings_use use,
                  struct error *err);

#endif
