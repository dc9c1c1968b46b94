/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_TERMINAL_H
#define FAIRMILL_REPORT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct text;

/* What becomes of a text that people read, when standard output is their terminal.  Forms for
 * programs have nothing to do with it. */

/* What reads the output. */
struct terminal {
    bool is_one;    /* else a file, a pipe, or nobody knows */
    size_t columns; /* how wide it is; 0: it does not say, or is no terminal */
    bool colours;   /* a terminal has them, unless NO_COLOR is set or TERM is dumb */
    bool utf8;      /* people see UTF-8 as what it is, by LC_ALL, LC_CTYPE and LANG */
};

/* The one that standard output is, unless it was said to be another one. */
struct terminal terminal_of_output(void);
/* From now on the output is for this one, which somebody else has. */
void terminal_set(const struct terminal *terminal);

/* How wide it is, in columns; 0: it does not say, or is no terminal. */
size_t terminal_width(void);
/* How long lines may be: 80, or less on a terminal that is narrower. */
size_t terminal_line(void);

/* Add a paragraph with its lines broken where they would be too long; `hang` blanks before all
 * lines but the first. */
void terminal_add_wrapped(struct text *text, const char *paragraph, size_t hang);
/* Likewise, of what text_format_printable() would add. */
void terminal_say(struct text *text, size_t hang, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Colours only where they help. */
enum paint { PAINT_NONE, PAINT_HEADING, PAINT_GOOD, PAINT_BAD };
/* Paint what was added from `start` on, without the line's end.  It comes last: widths are counted
 * before, without what this adds. */
void terminal_paint(struct text *text, size_t start, enum paint paint);

#endif
