/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_PAGE_H
#define FAIRMILL_REPORT_PAGE_PAGE_H

#include <stdbool.h>

struct page_view;
struct text;

/* What `fairmill report` writes: one HTML file with everything in it, styles, scripts, a charting
 * library and the data.  The files in src/report/page/ are what surrounds it; page.pl makes three
 * texts of them: between the first two comes what is seen without scripts, between the last two the
 * data. */
extern const char page_before[], page_between[], page_after[];

/* A page: what is around the data, and clusters between a beginning and an end.  What others wrote
 * stands in it as text_add_printable() has it, and nothing in it can end the script element that it
 * is in.
 *
 * `home`: where the page of everything is, from here; NULL: nowhere. */
struct page_head {
    bool accounts_only;
    const char *home;
};
void page_begin(struct text *text, const struct page_head *head);
void page_add_view(struct text *text, const struct page_view *view, bool first);
void page_end(struct text *text);

#endif
