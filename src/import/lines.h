/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_LINES_H
#define FAIRMILL_IMPORT_LINES_H

#include <stdbool.h>

struct error;

/* Hand out the lines of a file, with their ends; `take` may write into them, and fails to end it
 * all, which is then said to be of the file's name and line.  `continued`: a line that ends in a
 * backslash goes on in the next one, whose number they have then.  -1 where the file cannot be
 * read, or a line has a byte of value 0 (ERROR_DATA). */
typedef int text_line_taker(void *context, char *line, struct error *err);
int lines_read(const char *path, bool continued, text_line_taker *take, void *context,
               struct error *err);

#endif
