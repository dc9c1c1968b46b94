/* SPDX-License-Identifier: MIT */
#include "core/number/figure.h"

#include <math.h>
#include <string.h>

#include "util/text.h"

void text_add_figure(struct text *text, double number, int digits)
{
    if (isnan(number))
        return;
    if (isinf(number) || number == 0) {
        text_add(text, number == 0 ? "0" : "inf");
        return;
    }
    int decimals = digits - 1 - (int)floor(log10(fabs(number)));
    size_t start = text->length;
    if (decimals > 20) {
        text_format(text, "%.*e", digits - 1, number);
        return;
    }
    text_format(text, "%.*f", decimals < 0 ? 0 : decimals, number);
    if (!memchr(text->bytes + start, '.', text->length - start))
        return;
    while (text->bytes[text->length - 1] == '0')
        text->length--;
    text->length -= text->bytes[text->length - 1] == '.';
    text->bytes[text->length] = '\0';
}

struct figure_text figure_text(double number, int digits)
{
    struct figure_text figure = { "" };
    struct text text = { 0 };
    text_add(&text, "");
    text_add_figure(&text, number, digits);
    memcpy(figure.bytes, text.bytes, text.length + 1);
    text_free(&text);
    return figure;
}
