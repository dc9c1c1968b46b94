/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_FORMS_H
#define FAIRMILL_REPORT_FORMS_H

#include <stdbool.h>
#include <stddef.h>

struct json_t;
struct text;

/* What the forms that people and programs read have in common. */

/* A cell of a table with blanks on its other side; one that is wider has none. */
void form_add_padded(struct text *text, const char *cell, size_t width, bool left);

/* A name between bars, in which a bar would be taken for the end of the field. */
void form_add_field(struct text *text, const char *name);

/* JSON in one line; the object is given back. */
void form_add_json(struct text *text, struct json_t *json);
/* NAN and infinity are null. */
void form_add_json_real(struct text *text, double number);
struct json_t *form_json_real(double number);

#endif
