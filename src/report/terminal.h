/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_TERMINAL_H
#define FAIRMILL_REPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct text;

/*
 * Adapts text output to the terminal: width, colors and characters.  Output for programs does not
 * depend on the terminal.
 */

/* The destination of the output. */
struct terminal {
    bool is_one;    /* false for a file, a pipe or an unknown destination */
    size_t columns; /* width; 0 if unknown or not a terminal */
    bool colours;   /* true for a terminal, unless NO_COLOR is set or TERM is dumb */
    bool utf8;      /* it shows UTF-8, according to LC_ALL, LC_CTYPE and LANG */
};

/* Returns the terminal set by terminal_set() or, without one, describes standard output. */
struct terminal terminal_of_output(void);
/*
 * Sets the destination, for example the terminal of a client.  It is not copied.  NULL: standard
 * output.
 */
void terminal_set(const struct terminal *terminal);

/* Returns the width in columns; 0 if unknown or not a terminal. */
size_t terminal_width(void);
/* Returns the longest permitted line of prose, from 20 to 80 columns. */
size_t terminal_line(void);

/*
 * Adds a paragraph in lines of at most terminal_line() columns.  All lines but the first are
 * indented by `hang` spaces.
 */
void terminal_add_wrapped(struct text *text, const char *paragraph, size_t hang);
/* Like terminal_add_wrapped(), but formats the paragraph with text_format_printable_list(). */
void terminal_say(struct text *text, size_t hang, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Colors, which are used only if the terminal has them. */
enum paint { PAINT_NONE, PAINT_HEADING, PAINT_GOOD, PAINT_BAD };
/*
 * Colors the text from `start` on, without its line end.  Call it last, because it adds bytes whose
 * width is 0.
 */
void terminal_paint(struct text *text, size_t start, enum paint paint);

#endif
