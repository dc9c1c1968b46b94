/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_FILE_H
#define FAIRMILL_UTIL_FILE_H

struct error;
struct text;

/* Replace a file by this text, in one step: whoever reads meanwhile has the file of before or all
 * of this one.  Others may read it.  On failure the file of before stays. */
int file_replace(const char *path, const struct text *text, struct error *err);

#endif
