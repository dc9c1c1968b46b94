/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_FIGURE_H
#define FAIRMILL_CORE_NUMBER_FIGURE_H

struct text;

/* Add a number with so many significant digits and without zeros at its end; `inf`; nothing for
 * NAN. */
void text_add_figure(struct text *text, double number, int digits);

/* The same as a text, for a sentence. */
struct figure_text {
    char bytes[352]; /* the largest double has 309 digits */
};
struct figure_text figure_text(double number, int digits);

#endif
