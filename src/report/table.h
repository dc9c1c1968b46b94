/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_TABLE_H
#define FAIRMILL_REPORT_TABLE_H

#include "report/column.h"

struct error;
struct terminology;

/* Rows for people and for programs: the one place that measures, pads, quotes and paints.
 *
 * A command declares its columns once (report/column.h) and adds rows; the options say which form
 * they get, which columns, and in which order.
 *
 *   people  aligned text.  On a terminal that is narrower, expendable columns are left out; what is
 *           still too wide stands in parts below each other, each with the columns of text that
 *           come first.  Elsewhere lines are as long as they must be.
 *   bars    `|` between cells, numbers with all digits, a bar in a name as \x7C; the headings are
 *           those of the columns, once
 *   CSV     RFC 4180, the columns' names once, numbers with all digits.  A text that begins with
 *           = + - @ (also the wide ones), a tab, the end of a line or an apostrophe has an
 *           apostrophe before it, so that a spreadsheet takes it for no formula; take the first
 *           apostrophe of a field away to have the text.  Numbers are as they are.
 *   JSON    one object.  Its keys are the columns' names; no value, NaN and infinity are null.
 *             {"clusters": [{"cluster": NAME, FACTS..., ROWS: [{...}, ...]}, ...]}
 *           or, where rows are not printed by cluster,
 *             {ROWS: [{...}, ...]}
 *
 * Control characters and what is not UTF-8 are \xHH in all forms but JSON. */

enum table_form { TABLE_FOR_PEOPLE, TABLE_BARS, TABLE_CSV, TABLE_JSON };

/* What the command line says of a table.  All zero is the table for people. */
struct table_options {
    enum table_form form;
    bool ends_with_bar; /* -p: each line between bars ends with one */
    bool no_header;     /* -n; people get no title either */
    /* -o: names separated by commas, as `account,user%10`.  Each is a column's name or heading, or
     * a beginning that only one has; case does not count.  `%N` is a width for people, the cell
     * right in it, left with `%-N`: a longer text ends with a plus, a longer real has fewer
     * decimals.  NULL: the columns that the form shows. */
    const char *columns;
    const struct table_format *format; /* for people, in place of columns (report/table_text.h) */
};

struct table_layout {
    const struct column *columns; /* the last one's name is NULL */
    const char *rows;             /* what JSON calls them: `associations` */
    bool by_cluster;              /* table_open() is called for each cluster */
    const char *groups; /* what JSON calls that for which it is called; NULL: `clusters` */
    bool as_paragraph;  /* people's lines are as short as those of text, on a terminal or not */
    bool has_page; /* people who choose nothing get a page in place of rows (report/answer.h) */
};

/* Whether somebody gets the command's page, if it has one: people who choose nothing. */
bool table_is_page(const struct table_options *options);

/* Make a table that adds to `text`, to which its command may add paragraphs for people between
 * clusters.  Layout, columns and options must last as long as it.  NULL: a chosen column is not
 * there; ERROR_USAGE names the nearest. */
struct table *table_create(struct text *text, const struct table_layout *layout,
                           const struct table_options *options, struct error *err);
void table_destroy(struct table *table);
/* Print now and then what is in the text so far, and empty it, so that a million rows do not wait
 * in memory; a small output is still whole or not there at all. */
void table_print_with(struct table *table,
                      int (*print)(const struct text *text, struct error *err));

struct table_cluster {
    const char *name;                /* UTF-8 */
    const char *title;               /* for people, above the headings; NULL: none */
    struct json_t *facts;            /* an object, given away; NULL: none */
    const void *context;             /* for get(), as cell->context */
    const struct terminology *terms; /* of people's headings; NULL: the columns' own */
};
/* Whether this form has facts: some are costly to find. */
bool table_has_facts(const struct table *table);
/* A cluster begins, and ends; people read a blank line between two. */
void table_open(struct table *table, const struct table_cluster *cluster);
void table_close(struct table *table);

/* Add a row.  It is not needed afterwards. */
void table_add(struct table *table, const void *row);
/* For people: an ellipsis stands for rows that are left out here. */
void table_add_gap(struct table *table);

/* Once, after the last row; -1 where printing failed. */
int table_end(struct table *table, struct error *err);

/* Rows that a page has beside those of its command: `count` of so many bytes each. */
struct table_rows {
    const void *rows;
    size_t count, size;
    const void *context;             /* for get(), as cell->context */
    const char *cluster;             /* NULL where no column has it */
    const struct terminology *terms; /* as in struct table_cluster */
};
/* A table for people, in lines as short as those of text. */
void table_add_paragraph(struct text *text, const struct column *columns,
                         const struct table_rows *rows);
/* A list for JSON's facts, with the columns that JSON shows. */
struct json_t *table_rows_json(const struct column *columns, const struct table_rows *rows);

#endif
