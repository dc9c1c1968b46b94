/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_PAGE_H
#define FAIRMILL_REPORT_PAGE_PAGE_H

#include <stdbool.h>

struct page_view;
struct text;

/*
 * Writes the page of `fairmill report`.  It is one HTML file with styles, scripts, a chart library
 * and the data.
 *
 * build-aux/page.pl turns the files in src/report/page/ into three texts.  The tables for readers
 * without scripts are inserted after the first text, and the data after the second.
 */
extern const char page_before[], page_between[], page_after[];

struct page_head {
    bool accounts_only;
    const char *home; /* relative address of the index of all pages; NULL: none */
};
/*
 * Add the data: the head, then one view for each cluster, then the end.  Names are escaped with
 * text_add_printable(), and no text can end the script element that contains the data.
 */
void page_begin(struct text *text, const struct page_head *head);
void page_add_view(struct text *text, const struct page_view *view, bool first);
void page_end(struct text *text);

#endif
