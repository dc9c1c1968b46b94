/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SCAN_H
#define FAIRMILL_SETTINGS_SCAN_H

#include <stddef.h>

struct error;

/*
 * Checks the settings file before iniparser parses it.  The releases of iniparser read some lines
 * differently.  The scan rejects each line that any release reads differently from FORMAT in
 * fairmill.conf(5).  For the remaining lines, the caller compares the result of the scan with the
 * result of iniparser.
 */

struct settings_line {
    unsigned line;
    const char *section, *key; /* in lower case; `key` is NULL for a section header */
    const char *value;
};
struct settings_lines {
    struct settings_line *each;
    size_t count;
    struct arena *arena; /* owns the strings */
};

/*
 * Reads a settings file without iniparser.  Also rejects a file that may contain a password, or
 * that users other than its owner may write.  Fails with ERROR_SETTINGS; the message names the
 * file, the line and the reason.  The caller frees `lines` with settings_lines_free(), even on
 * error.
 */
int settings_scan(struct settings_lines *lines, const char *path, struct error *err);
void settings_lines_free(struct settings_lines *lines);

#endif
