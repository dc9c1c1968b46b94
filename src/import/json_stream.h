/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_IMPORT_JSON_STREAM_H
#define FAIRMILL_IMPORT_JSON_STREAM_H

#include <stdbool.h>
#include <stdio.h>

#include "util/text.h"

struct error;

/* JSON as it comes from a pipe.  Skipped values need no memory.
 *
 * Some releases of qstat copy users' values into their output without a check that they are JSON
 * (`"FOO":005`).  So a value that is skipped only has to have its brackets and quotes in pairs, a
 * string ends with its line, and a number is any word. */

struct json_stream {
    FILE *file;
    size_t line; /* from 1 on */
    size_t at, length;
    char bytes[65536];
};

/* Skip blanks.  Returns the next byte, or EOF. */
int json_stream_peek(struct json_stream *stream);
/* Enter an object.  -1 (ERROR_DATA) if there is none. */
int json_stream_enter(struct json_stream *stream, struct error *err);
/* The next key of the object: 1; 0 if it has ended; -1 (ERROR_DATA). */
int json_stream_key(struct json_stream *stream, struct text *key, struct error *err);
/* Read the value as text, up to 64 kB: the characters of a string, else JSON.  NULL: skip it. */
int json_stream_value(struct json_stream *stream, struct text *value, struct error *err);

#endif
