/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_TEXT_H
#define FAIRMILL_UTIL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

/* A text that grows.  Start with `struct text t = { 0 }`; `bytes` is NUL-terminated once anything
 * was added; give it back with text_free(). */
struct text {
    char *bytes;
    size_t length, room;
};

void text_add(struct text *text, const char *more);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_format_list(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void text_add_blanks(struct text *text, size_t count);
/* Add a text in quotes of this kind, those in it doubled. */
void text_add_quoted(struct text *text, char quote, const char *value);
/* Add an identifier in double quotes, as every database of ours takes it. */
void text_add_identifier(struct text *text, const char *name);
void text_free(struct text *text);

/* Cut the blanks off both ends of a C string; returns where it starts now. */
char *trim_blanks(char *text);
/* Make the ASCII letters of a C string small; returns it. */
char *ascii_lower(char *text);

/* Step through a comma-separated list: *at starts as the list and is NULL at its end.  Returns a
 * copy of the next item that is not empty, without blanks around it, to be freed; or NULL. */
char *list_next(const char **at);

/* Part an item `NAME<sign>VALUE` at `sign`, which points into it: *name is the name and the answer
 * is the value, both without blanks around them.  NULL where there is no sign (NULL) or no name. */
char *list_part(char *item, char *sign, char **name);

/* Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool utf8_valid(const char *bytes, size_t length);
/* Add the bytes as UTF-8: as they are where they are well-formed, else read as Windows-1252,
 * which is what databases call latin1. */
void text_add_as_utf8(struct text *text, const char *bytes, size_t length);
/* A copy as UTF-8 by the same rule, to be freed. */
char *utf8_copy(const char *bytes, size_t length);
/* Likewise, of an arena. */
const char *utf8_copy_in(struct arena *arena, const char *bytes, size_t length);
/* Whether the bytes, as UTF-8 by the same rule, are this text. */
bool reads_as(const char *bytes, size_t length, const char *utf8);
/* How many characters the text (UTF-8) has. */
size_t utf8_length(const char *utf8);
/* How many columns a terminal gives the text (UTF-8); control characters count one. */
size_t utf8_width(const char *utf8);
/* Remove a last character whose end was cut off. */
void utf8_drop_cut(char *utf8);
/* Add the text for a terminal.  Bytes that are no UTF-8, and those of characters that are invisible
 * or control the terminal (its cursor, the direction of writing), become \xHH.  Where the text has
 * \xHH already, its backslash becomes \x5C, so that no two texts look the same. */
void text_add_printable(struct text *text, const char *utf8);
/* Whether text_add_printable() would add the text as it is. */
bool utf8_is_printable(const char *utf8);
/* Format a sentence with names that others chose, and add it as text_add_printable() does.  The
 * newlines with which `format` begins and ends stay. */
void text_format_printable(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_format_printable_list(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Of the candidates (ended by NULL), the one that a person most likely meant; NULL if none is
 * near. */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
