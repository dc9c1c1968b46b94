/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_PLAIN_H
#define FAIRMILL_REPORT_PAGE_PLAIN_H

struct page_view;
struct text;

/* Add what a page shows where no script runs, as in a mail: HTML with the essentials of a view, as
 * tables with bars.  A script takes it away and draws the page instead. */
void page_plain_add(struct text *text, const struct page_view *view);

/* Add a text as HTML shows it; what others wrote is as text_add_printable() has it. */
void page_add_html(struct text *text, const char *utf8);

#endif
