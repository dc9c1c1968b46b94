/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PAGE_CELLS_H
#define FAIRMILL_REPORT_PAGE_CELLS_H

#include <math.h>

#include "report/page/view.h"

/* The cells that the tables of groups and of users have in common. */

/* A quotient of usage and share above it counts as more than the share. */
#define PAGE_MORE 1.05

static inline bool page_row_used_more(const struct page_row *row)
{
    return row->used > 0 && row->ratio > PAGE_MORE;
}

/* Returns the end of the scale for the bars of these rows. */
double page_scale_end(const struct page_view *view, const uint32_t *rows, size_t count);
/* Returns the unit of charged usage, such as `core-hours`. */
const char *page_unit_hours(const struct page_cluster *cluster);

/* Returns the class of a cell with a name.  Lines break in a long name, and on phones in one of
 * medium length. */
const char *page_name_class(const char *name);

/* Adds the start of a section, up to its heading.  The caller adds the sentences below the heading,
 * and then calls page_add_tools(). */
void page_add_section(struct text *text, const struct page_view *view, const char *id,
                      const char *heading);
/* Adds the end of a section's head.  It has a button that saves the table with this id as CSV,
 * unless `table` is NULL. */
void page_add_tools(struct text *text, const struct page_view *view, const char *table);
/* Adds the button that unfolds a table of `rows` rows. */
void page_add_more(struct text *text, const struct page_view *view, const char *table, size_t rows);

/* Number of rows that scripts show at first. */
#define PAGE_ROOM 15
/* Adds the start of a table that can be sorted, up to its headings. */
void page_begin_table(struct text *text, const struct page_view *view, const char *id,
                      const char *caption);
/* Adds the end of a table of `rows` rows, with a button if scripts do not show all of them. */
void page_end_table(struct text *text, const struct page_view *view, const char *id, size_t rows);
/* Adds a cell with a number, which `add` writes, and its value for scripts.  NAN is unknown. */
void page_add_number(struct text *text, const char *class, double number,
                     void (*add)(struct text *, double));
/* Writes a whole number with commas. */
void page_add_whole(struct text *text, double number);

/* Adds the headings from the bar to the spent usage.  `most` is the end of the scale. */
void page_add_share_headings(struct text *text, const struct page_view *view, double most,
                             bool sortable);
void page_add_bar_cell(struct text *text, const struct page_row *row, double most);
/* Adds the cells of share, recent usage, usage divided by share, and spent usage. */
void page_add_share_cells(struct text *text, const struct page_row *row);
/* Adds ` id="..."`, which is the row's address without `#`. */
void page_add_row_id(struct text *text, const struct page_view *view, uint32_t row);

#endif
