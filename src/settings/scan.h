/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SCAN_H
#define FAIRMILL_SETTINGS_SCAN_H

#include <stddef.h>

struct error;

/* A guard before iniparser, which reads the settings file.  Its releases differ in what they make
 * of some lines.  So this refuses what one of them reads otherwise than fairmill.conf(5), FORMAT,
 * says; the caller compares the rest with what iniparser has read. */

struct settings_line {
    unsigned line;
    const char *section, *key; /* in small letters; a NULL key: the line begins the section */
    const char *value;
};
struct settings_lines {
    struct settings_line *each;
    size_t count;
    struct arena *arena; /* of the texts */
};

/* Read a settings file without iniparser.  It is refused as well where it may hold a password, or
 * where others than its owner may write it.  ERROR_SETTINGS names the file and the line, and says
 * what is wrong there. */
int settings_scan(struct settings_lines *lines, const char *path, struct error *err);
void settings_lines_free(struct settings_lines *lines);

#endif
