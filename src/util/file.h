/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_FILE_H
#define FAIRMILL_UTIL_FILE_H

#include <stdbool.h>
#include <stdio.h>

struct error;
struct stat;
struct text;

/* Reading and writing of whole files. */

/*
 * Appends the content of the file to `text`; `-` is standard input.  Unless `status` is NULL,
 * stores the file's status in it.  Returns -1 on error.
 */
int file_read(const char *path, struct text *text, struct stat *status, struct error *err);

/*
 * Writes `text` to the file that a user named.  Returns -1 on error.
 *
 * A regular file is replaced atomically, so that other programs see either the old or the new
 * content.  If the content cannot be written, the old file remains.  The new file keeps the mode,
 * and the owner and group if the process may set them.  If there was no old file, the umask
 * determines the mode.  If `path` is a symbolic link, its target is replaced and the link remains.
 * A device, a pipe, or a name of an open descriptor, such as /dev/stdout, is written to and not
 * replaced.
 */
int file_write(const char *path, const struct text *text, struct error *err);

/*
 * Creates and opens an unlinked temporary file.  It is in $TMPDIR if that is set, otherwise in
 * /var/tmp if that is writable, otherwise in /tmp.  /var/tmp is preferred because /tmp may be in
 * memory.  Sets `*directory` to that directory for messages; the string is not allocated.  Returns
 * NULL on error and sets errno.
 */
FILE *file_temporary(const char **directory);

/* Returns true if this errno value means that no space is left for writing. */
bool file_no_room(int system_error);

#endif
