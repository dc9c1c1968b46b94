/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_PICTURE_H
#define FAIRMILL_REPORT_PAGE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/page/cluster.h"

struct text;

/*
 * Pictures in inline SVG.  Their colors come from classes of page.css: fu (used), fo (used beyond
 * the share), ft (unused share), f1 to f3 (greys), tick, rule, dash.  All are hidden from screen
 * readers, because the text beside them has the numbers.
 */

/* Adds a bar of usage with a tick at the share.  All three are in the same unit; `most` is the end
 * of the scale.  `share` may be NAN: no tick, and all usage is within the share. */
void picture_add_share_bar(struct text *text, double share, double used, double most);
/* Adds the scale of such bars in percent, as the header of their column.  `most` is a fraction. */
void picture_add_scale(struct text *text, double most);
/* Adds a bar of one class whose length is `part` of the width. */
void picture_add_bar(struct text *text, const char *class, double part);
/* Adds a bar that consists of several parts, with the classes f1, f2 and f3. */
void picture_add_parts(struct text *text, const double *parts, size_t count, double most);
/* Adds columns of one class for one or more weeks, and a dashed line at `line` unless it is NAN. */
void picture_add_weeks(struct text *text, const char *class, const struct page_week *weeks,
                       size_t count, double line);
/* Adds the key of the share bars: used within the share, used beyond the share, share. */
void picture_add_share_key(struct text *text);
/* Adds a key with a square of a class for each name. */
void picture_add_key(struct text *text, const char *const *classes, const char *const *names,
                     size_t count);

#endif
