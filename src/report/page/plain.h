/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_PLAIN_H
#define FAIRMILL_REPORT_PAGE_PLAIN_H

struct page_view;
struct text;

/*
 * Adds the page for readers without scripts, for example in a mail: HTML tables with bars that show
 * the main values of a view.  If the page's scripts run, they replace these tables.
 */
void page_plain_add(struct text *text, const struct page_view *view);

#endif
