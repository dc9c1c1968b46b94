/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PBS_FIELDS_H
#define FAIRMILL_SOURCE_PBS_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct db_value;
struct error;
struct text;

/* `key=value key=value ...`, as OpenPBS's accounting logs have it, and our tables its resources.  A
 * value with blanks stands in double quotes, or in single ones where it has a double one itself. */

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

/* The value of a key; empty where it is not there. */
struct part fields_value(const struct fields *fields, const char *key);
/* Add a field as fields_read() takes it, behind a blank if there is something already. */
void text_add_field(struct text *text, struct part key, struct part value);

/* Refuse (ERROR_DATA) what stands at the beginning of a text: `why at 'TEXT'`. */
int part_refuse(struct part text, const char *why, struct error *err);

#endif
