/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_SECTIONS_H
#define FAIRMILL_REPORT_PAGE_SECTIONS_H

struct page_view;
struct text;

/*
 * The sections of a page, in their order.  Each adds a `section` element with finished HTML, or
 * nothing if the page does not have it.
 */
void page_add_overview(struct text *text, const struct page_view *view);
void page_add_groups(struct text *text, const struct page_view *view);
void page_add_users(struct text *text, const struct page_view *view);
void page_add_queue(struct text *text, const struct page_view *view);
void page_add_uses(struct text *text, const struct page_view *view);
void page_add_trials(struct text *text, const struct page_view *view);
void page_add_changes(struct text *text, const struct page_view *view);
void page_add_terms(struct text *text, const struct page_view *view);

/* Adds the JSON object from which the scripts make the answers of a cluster (data.c). */
void page_add_data(struct text *text, const struct page_view *view);

#endif
