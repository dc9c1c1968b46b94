/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SETTINGS_SCAN_H
#define FAIRMILL_SETTINGS_SCAN_H

struct error;

/* Look through a settings file for what iniparser passes over in silence or does not survive: a
 * byte-order mark, NUL, long or continued lines, sections and keys that are there twice, colons in
 * names; and for who may write it.  ERROR_SETTINGS names the file and the line. */
int settings_scan(const char *path, struct error *err);

#endif
