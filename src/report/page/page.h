/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_PAGE_H
#define FAIRMILL_REPORT_PAGE_PAGE_H

#include <stddef.h>

struct page_view;
struct text;

/* The page of `fairmill report`: one HTML file with styles, scripts and data.  It loads nothing. */

/* Made by build-aux/page.pl from the .css and .js files of src/report/page/: their texts, and the
 * sources that the Content-Security-Policy allows. */
extern const char page_style[], page_style_source[], page_script[], page_script_source[];

/* Adds the page of one or more clusters.  `home` is the relative address of the index of all pages,
 * and `links` is HTML with links to pages of groups; both may be NULL. */
void page_add(struct text *text, const struct page_view *views, size_t count, const char *home,
              const char *links);

#endif
