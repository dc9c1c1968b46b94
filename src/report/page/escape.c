/* SPDX-License-Identifier: MIT */
#include "report/page/escape.h"

#include <ctype.h>

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
