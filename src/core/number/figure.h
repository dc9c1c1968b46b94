/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_NUMBER_FIGURE_H
#define FAIRMILL_CORE_NUMBER_FIGURE_H

struct text;

/* Appends `number` with `digits` significant digits and without trailing zeros.  Appends `inf` for
 * an infinite number and nothing for NAN.  Numbers that need more than 20 decimals get an exponent
 * and keep all digits. */
void text_add_figure(struct text *text, double number, int digits);

/* Returns the number in the same form, for use in a sentence. */
struct figure_text {
    char bytes[352]; /* the largest double has 309 digits */
};
struct figure_text figure_text(double number, int digits);

#endif
