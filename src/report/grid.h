/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_GRID_H
#define FAIRMILL_REPORT_GRID_H

#include <stddef.h>

struct arena;
struct text;

/* A table for people: the first column says what a row is, all others are numbers.  What is too
 * wide for a terminal stands in several parts below each other, each with the first column. */

struct grid {
    struct arena *arena; /* of the cells */
    size_t columns, rows, room;
    const char **cells; /* row by row; the first row is the headings */
};

struct grid *grid_create(size_t columns);
void grid_destroy(struct grid *grid);
/* A new row of empty cells; it holds until the next. */
const char **grid_row(struct grid *grid);
/* A copy of a text as a cell, and a composed one; names are made printable by who adds them. */
const char *grid_cell(struct grid *grid, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void grid_add(struct text *text, const struct grid *grid);

#endif
