/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_ESCAPE_H
#define FAIRMILL_REPORT_PAGE_ESCAPE_H

struct text;

/* Texts in a page.  All use text_add_printable() for names. */

/* Adds a JSON string, escaped for a script element. */
void page_add_string(struct text *text, const char *name);
/* Adds a text, escaped for HTML. */
void page_add_html(struct text *text, const char *utf8);
/* Adds words, escaped for HTML, with a capital first letter. */
void page_add_capital(struct text *text, const char *words);

#endif
