/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_FIELDS_H
#define FAIRMILL_SOURCE_PBS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/formula/formula.h"

struct db_value;
struct error;
struct text;

/*
 * Parses `key=value key=value ...`, the format of OpenPBS's accounting logs and of resources in
 * fairmill's tables.
 *
 * OpenPBS quotes some values that contain spaces, but not all of them.  It uses double quotes, or
 * single quotes if the value contains a double quote, and escapes nothing.  So a quoted value ends
 * at its closing quote if another field or the end follows.  Otherwise it ends before the next `
 * key=`.
 */

/* A string without a terminating NUL. */
struct part {
    const char *bytes;
    size_t length;
};
bool part_is(const struct part *part, const char *word);
/* Returns the text of a column; empty if it is NULL. */
struct part part_of_column(const struct db_value *value);

struct field {
    struct part key, value;
};
/* Initialize it with { 0 }.  Its memory is reused for each text. */
struct fields {
    struct field *fields;
    size_t count, room;
};

/* Parses `text` into `fields`, which point into it.  Returns -1 with ERROR_DATA on error. */
int fields_read(struct fields *fields, struct part text, struct error *err);
void fields_free(struct fields *fields);

/* Returns the value of the first field with this key; empty if there is no such field. */
struct part fields_value(const struct fields *fields, const char *key);
/*
 * Appends a field in the format that fields_read() accepts, after a space if `text` is not empty.
 * If a value needs quotes but contains single and double quotes, its single quotes are removed.
 */
void text_add_field(struct text *text, struct part key, struct part value);

/* Sets `err` to `WHY at 'TEXT'`, with the beginning of the text.  Returns -1 with ERROR_DATA. */
int part_refuse(struct part text, const char *why, struct error *err);

/*
 * Returns the value of a resource as OpenPBS's formulas see it.  A number is unchanged, a duration
 * is in seconds, and a size is in kilobytes (a word has 8 bytes).  True is 1, and False is 0.  Any
 * other or missing value is 0.
 */
struct formula_value resource_value(struct part text);

#endif
