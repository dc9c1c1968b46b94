/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_TABLE_TEXT_H
#define FAIRMILL_REPORT_TABLE_TEXT_H

#include "util/text.h"

struct cell;
struct terminology;

/* Rows as aligned text.  Cells are kept, short of their padding, until all have been measured.  For
 * commands there is report/table.h. */

struct chosen {
    const struct column *column;
    size_t width; /* 0: what its cells need */
    bool left;    /* with a width */
    /* Within a format only. */
    bool widens;       /* where its cells need more; else they are cut */
    const char *after; /* a text behind it */
};

/* A line as sprio has it: texts stand between columns, what is cut off leaves no plus, and cells
 * without a width are as wide as they are, each by itself. */
struct table_format {
    const char *before; /* a text before the first column */
    struct chosen *columns;
    size_t count;
};

struct text_table {
    const struct chosen *chosen;
    size_t count;
    const char *before;              /* of a format; NULL: it is none */
    bool all;                        /* none may be left out */
    size_t line;                     /* columns of the terminal; 0: any */
    const struct terminology *terms; /* of headings; NULL: the columns' own */
    size_t *width;                   /* of each column; 0: it is not shown */
    bool *used;                      /* a row has such a cell */
    struct text cells;
    size_t rows;
};

void text_table_begin(struct text_table *table, const struct chosen *chosen, size_t count);
/* Cells of a row come from the first to the last column; a gap is a row of its own. */
void text_table_add(struct text_table *table, size_t column, const struct cell *cell);
void text_table_add_gap(struct text_table *table);
void text_table_end_row(struct text_table *table);

/* Add what was kept and forget it; `printed` is called after each line. */
struct text_printing {
    struct text *text;
    bool no_header;
    void (*printed)(void *context);
    void *context;
};
void text_table_print(struct text_table *table, const struct text_printing *printing);
void text_table_free(struct text_table *table);

#endif
