/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SCAN_H
#define FAIRMILL_SETTINGS_SCAN_H

struct error;

/* Refuse a settings file with something that iniparser ignores or does not survive: a byte-order
 * mark, NUL, a long or continued line, a section or key that is there twice, a colon in a name.
 * Refuse it as well where it may hold a password, or where others than its owner may write it.
 * ERROR_SETTINGS names the file and the line. */
int settings_scan(const char *path, struct error *err);

#endif
