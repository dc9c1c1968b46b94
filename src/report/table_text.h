/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_TABLE_TEXT_H
#define FAIRMILL_REPORT_TABLE_TEXT_H

#include "util/text.h"

struct cell;
struct terminology;

/*
 * Renders rows as aligned text.  Holds the cells, without padding, until all of them have been
 * measured.  Commands use report/table.h instead.
 */

struct chosen {
    const struct column *column;
    size_t width; /* 0: as wide as its cells */
    bool left;    /* align left; used only with a width */
    /* The members below apply to a format only. */
    bool widens;       /* grows for wide cells, which are otherwise cut */
    const char *after; /* text after the column */
};

/*
 * A format of lines like sprio's.  Texts separate the columns.  Cells are cut without a plus.  A
 * cell in a column without a width is not padded.
 */
struct table_format {
    const char *before; /* text before the first column */
    struct chosen *columns;
    size_t count;
};

struct text_table {
    const struct chosen *chosen;
    size_t count;
    const char *before;              /* of a format; NULL: no format */
    bool all;                        /* no column may be omitted */
    size_t line;                     /* length limit in terminal columns; 0: none */
    const struct terminology *terms; /* translates headings; NULL: no translation */
    size_t *width;                   /* indexed by column; 0: not shown */
    bool *used;                      /* indexed by column: it has a cell that is not empty */
    struct text cells;
    size_t rows;
};

/* Initializes a table.  `chosen` must outlive it.  The caller frees it with text_table_free(). */
void text_table_begin(struct text_table *table, const struct chosen *chosen, size_t count);
/*
 * Adds a cell.  The cells of a row must be added in order of the columns.  A gap is a separate row.
 */
void text_table_add(struct text_table *table, size_t column, const struct cell *cell);
void text_table_add_gap(struct text_table *table);
void text_table_end_row(struct text_table *table);

/* Options of text_table_print(). */
struct text_printing {
    struct text *text;
    bool no_header;
    void (*printed)(void *context); /* called after each line; may be NULL */
    void *context;
};
/* Adds all rows to printing->text and removes them from the table. */
void text_table_print(struct text_table *table, const struct text_printing *printing);
void text_table_free(struct text_table *table);

#endif
