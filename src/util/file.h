/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_FILE_H
#define FAIRMILL_UTIL_FILE_H

struct error;
struct text;

/* Replace a file by this text in one step: who reads it meanwhile reads all of the old file or all
 * of the new one.  Everybody may read the new file.  On failure the old file stays. */
int file_replace(const char *path, const struct text *text, struct error *err);

#endif
