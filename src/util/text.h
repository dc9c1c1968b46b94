/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_TEXT_H
#define FAIRMILL_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A text that grows.  Start with `struct text t = { 0 }`; `bytes` is NUL-terminated once anything
 * was added; give it back with text_free(). */
struct text {
    char *bytes;
    size_t length, room;
};

void text_add(struct text *text, const char *more);
void text_add_bytes(struct text *text, const char *bytes, size_t length);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Add an identifier in double quotes, as every database of ours takes it. */
void text_add_identifier(struct text *text, const char *name);
void text_free(struct text *text);

/* Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms). */
bool utf8_valid(const char *bytes, size_t length);
/* Add the bytes as UTF-8: as they are where they are well-formed, else read as Windows-1252,
 * which is what databases call latin1. */
void text_add_as_utf8(struct text *text, const char *bytes, size_t length);
/* How many columns a terminal gives the text (UTF-8); control characters count one. */
size_t utf8_width(const char *utf8);
/* Add the text with everything that could move a terminal's cursor written as \xHH. */
void text_add_printable(struct text *text, const char *utf8);

/* Of the candidates (ended by NULL), the one that a person most likely meant; NULL if none is
 * near. */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
