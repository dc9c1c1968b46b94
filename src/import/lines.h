/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_LINES_H
#define FAIRMILL_IMPORT_LINES_H

#include <stdbool.h>

struct error;

/*
 * Reads a file and passes each line, with its newline, to `take`.  If `continued` is set, a line
 * that ends in a backslash is joined with the next line.  A joined line has the number of its last
 * line.  `take` may modify the line, and may return -1 to stop; lines_read() adds the file's name
 * and the line number to this error.  Fails with ERROR_DATA if the file cannot be read or a line
 * contains a NUL byte.
 */
typedef int text_line_taker(void *context, char *line, struct error *err);
int lines_read(const char *path, bool continued, text_line_taker *take, void *context,
               struct error *err);

#endif
