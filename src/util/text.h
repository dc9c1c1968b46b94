/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_TEXT_H
#define FAIRMILL_UTIL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

/*
 * A growing string.  Initialize it with `struct text t = { 0 }` and free it with text_free().
 * `bytes` is NULL until something is appended, then NUL-terminated.
 */
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
/* Appends `value` between two characters `quote`.  Doubles each `quote` inside the value. */
void text_add_quoted(struct text *text, char quote, const char *value);
/* Appends a double-quoted identifier, which all supported database systems accept. */
void text_add_identifier(struct text *text, const char *name);
void text_free(struct text *text);

/* Removes spaces and tabs from both ends of a C string in place.  Returns its new start. */
char *trim_blanks(char *text);
/* Converts ASCII letters to lower case in place.  Returns `text`. */
char *ascii_lower(char *text);

/*
 * Iterates over a comma-separated list.  Set `*at` to the list first.  Returns a copy of the next
 * nonempty item, without surrounding spaces and tabs; the caller frees the copy.  Sets `*at` to
 * NULL after the last item.  Returns NULL at the end.
 */
char *list_next(const char **at);

/*
 * Splits an item `NAME<sign>VALUE` in place at `sign`, which points into `item` or is NULL.  Sets
 * `*name` and returns the value, both without surrounding spaces and tabs.  Returns NULL if `sign`
 * is NULL or the name is empty.
 */
char *list_part(char *item, char *sign, char **name);

/* Returns true if the bytes are well-formed UTF-8, without surrogates or overlong forms. */
bool utf8_valid(const char *bytes, size_t length);
/*
 * Appends the bytes as UTF-8.  Bytes that are not well-formed UTF-8 are converted from
 * Windows-1252, which databases call latin1.
 */
void text_add_as_utf8(struct text *text, const char *bytes, size_t length);
/* Returns a copy as UTF-8 by the same rule; the caller frees it. */
char *utf8_copy(const char *bytes, size_t length);
/* Returns a copy in the arena, converted to UTF-8 by the same rule. */
const char *utf8_copy_in(struct arena *arena, const char *bytes, size_t length);
/* Returns true if the bytes, converted by the same rule, equal `utf8`. */
bool reads_as(const char *bytes, size_t length, const char *utf8);
/* Returns the number of characters (code points), not of bytes. */
size_t utf8_length(const char *utf8);
/* Returns the number of terminal columns; a control character has the width 1. */
size_t utf8_width(const char *utf8);
/* Removes an incomplete character from the end of a truncated text. */
void utf8_drop_cut(char *utf8);
/*
 * Appends the text so that it is safe on a terminal.  Replaces each byte of invalid UTF-8, and of a
 * character that is invisible or controls the cursor or the writing direction, by \xHH.  If the
 * text already contains \xHH, replaces its backslash by \x5C, so that different texts always give
 * different output.
 */
void text_add_printable(struct text *text, const char *utf8);
/* Returns true if text_add_printable() would not change the text. */
bool utf8_is_printable(const char *utf8);
/*
 * Formats a message that contains names that other users chose, and appends it with
 * text_add_printable().  Newlines at the start and the end of `format` are kept.
 */
void text_format_printable(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_format_printable_list(struct text *text, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/*
 * Returns the candidate that is most similar to `word`, for a suggestion.  `candidates` ends with
 * NULL.  Returns NULL if no candidate is similar.
 */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
