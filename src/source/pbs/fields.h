/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_FIELDS_H
#define FAIRMILL_SOURCE_PBS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/formula/formula.h"

struct db_value;
struct error;
struct text;

/* `key=value key=value ...`, as OpenPBS's accounting logs have it, and fairmill's tables its
 * resources.  OpenPBS puts some values with blanks in double quotes, or in single ones if the value
 * has a double one, and others in none; it escapes nothing.  So a value ends at its closing quote
 * if another field or the end follows, else before the next ` key=`. */

/* Bytes of a text. */
struct part {
    const char *bytes;
    size_t length;
};
bool part_is(const struct part *part, const char *word);
/* Of a column; empty where that is NULL. */
struct part part_of_column(const struct db_value *value);

struct field {
    struct part key, value;
};
/* Begins as { 0 }; the memory serves text after text. */
struct fields {
    struct field *fields;
    size_t count, room;
};

/* Read a text, to which the fields point then (ERROR_DATA). */
int fields_read(struct fields *fields, struct part text, struct error *err);
void fields_free(struct fields *fields);

/* The value of the first field with a key; empty if there is none. */
struct part fields_value(const struct fields *fields, const char *key);
/* Add a field as fields_read() takes it, after a blank if there is something already.  A value that
 * needs quotes and has both kinds loses its single ones. */
void text_add_field(struct text *text, struct part key, struct part value);

/* Refuse (ERROR_DATA) what stands at the beginning of a text: `why at 'TEXT'`. */
int part_refuse(struct part text, const char *why, struct error *err);

/* A resource's value as a formula of OpenPBS's has it: a number as it is, a span of time in
 * seconds, a size in kilobytes (words of 8 bytes), True as 1 and False as 0; 0 where it is none of
 * these, or not there. */
struct formula_value resource_value(struct part text);

#endif
