/* SPDX-License-Identifier: MIT */
#include "report/page/escape.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/amounts.h"
#include "util/text.h"

/* In HTML only `<` can end a script element or begin a comment in it, so it is escaped.  U+2028 and
 * U+2029, which are line ends in some languages, are not printable. */
void page_add_string(struct text *text, const char *name)
{
    struct text printable = { 0 };
    text_add_printable(&printable, name);
    text_add(text, "\"");
    for (const char *at = printable.length ? printable.bytes : ""; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_add(text, "\\");
        if (*at == '<' || *at == '>' || *at == '&' || (unsigned char)*at < ' ')
            text_format(text, "\\u%04x", (unsigned)*at);
        else
            text_add_bytes(text, at, 1);
    }
    text_add(text, "\"");
    text_free(&printable);
}

void page_add_html(struct text *text, const char *utf8)
{
    struct text printable = { 0 };
    text_add_printable(&printable, utf8);
    for (const char *at = printable.length ? printable.bytes : ""; *at; at++) {
        const char *entity = *at == '<'   ? "&lt;"
                             : *at == '>' ? "&gt;"
                             : *at == '&' ? "&amp;"
                             : *at == '"' ? "&quot;"
                                          : NULL;
        if (entity)
            text_add(text, entity);
        else
            text_add_bytes(text, at, 1);
    }
    text_free(&printable);
}

/* The page's own words are ASCII. */
void page_add_capital(struct text *text, const char *words)
{
    char first[] = { (char)toupper((unsigned char)*words), '\0' };
    page_add_html(text, first);
    page_add_html(text, *words ? words + 1 : words);
}

void page_add_markup(struct text *text, const char *html, ...)
{
    va_list texts;
    va_start(texts, html);
    for (const char *at = html; *at;) {
        size_t plain = strcspn(at, "%");
        text_add_bytes(text, at, plain);
        at += plain;
        if (*at && at[1] == 's')
            page_add_html(text, va_arg(texts, const char *));
        else if (*at)
            text_add(text, "%");
        at += *at ? 2 : 0;
    }
    va_end(texts);
}

/* UTF-8 is shorter than the entity, and a page has hundreds. */
#define NO_BREAK "\xc2\xa0"

void page_add_amount_by(struct text *text, void (*add)(struct text *, double), double number)
{
    struct text words = { 0 };
    add(&words, number);
    for (char *part = words.bytes, *blank; part; part = blank) {
        blank = strchr(part, ' ');
        if (blank)
            *blank++ = '\0';
        page_add_html(text, part);
        text_add(text, blank ? NO_BREAK : "");
    }
    text_free(&words);
}

void page_add_raw_span(struct text *text, double seconds)
{
    if (isinf(seconds))
        text_add(text, "> 7 days");
    else
        amount_add_span(text, seconds);
}

void page_add_count(struct text *text, size_t count, const char *one, const char *many)
{
    amount_add_whole(text, count);
    text_format(text, " %s", count == 1 ? one : many);
}

void page_add_duration(struct text *text, int64_t seconds)
{
    static const struct {
        int64_t minutes;
        const char *one, *many;
    } units[] = { { 1440, "day", "days" }, { 60, "hour", "hours" }, { 1, "minute", "minutes" } };
    int64_t minutes = seconds < 60 ? 1 : (seconds + 30) / 60;
    size_t unit = 0;
    while (minutes % units[unit].minutes)
        unit++;
    int64_t count = minutes / units[unit].minutes;
    text_format(text, "%" PRId64 "&nbsp;%s", count,
                count == 1 ? units[unit].one : units[unit].many);
}
