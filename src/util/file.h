/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_FILE_H
#define FAIRMILL_UTIL_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct error;
struct stat;
struct text;

/* The one place where files are made, written, and read whole. */

/* Add all that a file has; `-` is standard input.  *status (NULL: not wanted) is the file's. */
int file_read(const char *path, struct text *text, struct stat *status, struct error *err);

/* Write this text to where a user wants it.
 *
 * A regular file is replaced in one step: who reads it meanwhile reads all of the old one or all of
 * the new one, and on failure the old one stays.  It keeps its mode, and its owner and group where
 * we may give files away; a new one gets what the umask leaves.  A symbolic link stays, and the
 * file that it leads to is replaced.  What is no regular file, a device or a pipe, and what names
 * an open file of ours, such as /dev/stdout, is written to. */
int file_write(const char *path, const struct text *text, struct error *err);

/* A file without a name, in the folder that TMPDIR names, else in /var/tmp, which is a disk where
 * /tmp may be memory, else in /tmp.  *folder, which stays, is for messages.  NULL: errno says why.
 */
FILE *file_temporary(const char **directory);

/* Whether this error of the system means that there is no room left to write. */
bool file_no_room(int system_error);

#endif
