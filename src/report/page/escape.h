/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_ESCAPE_H
#define FAIRMILL_REPORT_PAGE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include "report/amounts.h"

struct text;

/* Texts in a page.  All use text_add_printable() for names. */

/* Adds a JSON string, escaped for a script element. */
void page_add_string(struct text *text, const char *name);
/* Adds a text, escaped for HTML. */
void page_add_html(struct text *text, const char *utf8);
/* Adds words, escaped for HTML, with a capital first letter. */
void page_add_capital(struct text *text, const char *words);

/* Adds HTML with `%s` for texts, which are escaped, and `%%` for a percent sign. */
void page_add_markup(struct text *text, const char *html, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a number as `add` writes it, escaped for HTML.  Lines break nowhere in it. */
void page_add_amount_by(struct text *text, void (*add)(struct text *, double), double number);
/* A span as report/amounts.h writes it; INFINITY is a wait of more than 7 days.  Not escaped. */
void page_add_raw_span(struct text *text, double seconds);

static inline void page_add_percent(struct text *text, double fraction)
{
    page_add_amount_by(text, amount_add_percent, fraction);
}
static inline void page_add_ratio(struct text *text, double ratio)
{
    page_add_amount_by(text, amount_add_ratio, ratio);
}
static inline void page_add_amount(struct text *text, double amount)
{
    page_add_amount_by(text, amount_add, amount);
}
static inline void page_add_span(struct text *text, double seconds)
{
    page_add_amount_by(text, page_add_raw_span, seconds);
}

/* Adds a duration of settings, rounded to minutes, such as `7 days`. */
void page_add_duration(struct text *text, int64_t seconds);
/* Adds a number with a noun, such as `1 job` or `1,234 jobs`. */
void page_add_count(struct text *text, size_t count, const char *one, const char *many);

#endif
