/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_TABLE_H
#define FAIRMILL_REPORT_TABLE_H

#include "report/column.h"

struct error;
struct terminology;

/*
 * Renders rows as text, CSV or JSON.  No other module measures, pads, quotes or colors cells.
 *
 * A command declares its columns once (report/column.h) and adds rows.  The options determine the
 * format, the columns and their order.  The formats are:
 *
 *   text    Aligned columns.  If the terminal is too narrow, expendable columns are omitted.  If
 *           the remaining columns are still too wide, the table is printed in parts, one below the
 *           other.  Each part repeats the leading text columns.  Without a terminal, lines have any
 *           length.
 *   bars    `|` between cells, one line of headings, numbers with all digits.  A bar in a name is
 *           \x7C.
 *   CSV     RFC 4180, one line of column names, numbers with all digits.  A spreadsheet
 *           might take a text for a formula.  So a text gets a leading apostrophe if it begins with
 *           = + - @ (also full-width), a tab, a line end or an apostrophe.  Removing the first
 *           apostrophe restores the text.  Numbers are not changed.
 *   JSON    One object.  Its keys are the columns' names.  Empty cells, NaN and infinity are null.
 *             {"clusters": [{"cluster": NAME, FACTS..., ROWS: [{...}, ...]}, ...]}
 *           or, if rows are not grouped by cluster,
 *             {ROWS: [{...}, ...]}
 *
 * Except in JSON, control characters and bytes that are not UTF-8 are written as \xHH.
 */

enum table_form { TABLE_FOR_PEOPLE, TABLE_BARS, TABLE_CSV, TABLE_JSON };

/* Options from the command line.  If all are zero, the output is text. */
struct table_options {
    enum table_form form;
    bool ends_with_bar; /* -p: with bars, each line also ends with a bar */
    bool no_header;     /* -n; also omits the title */
    bool iso;           /* with bars and in CSV, times are dates as in text output */
    /* -o: names separated by commas, such as `account,user%10`.  A name is a column's name or
     * heading, or a unique prefix of one, in any case.  `%N` sets the width in text output and
     * aligns the cell right; `%-N` aligns it left.  A longer text ends with a plus, and a longer
     * real loses decimals.  NULL: the default columns of the format. */
    const char *columns;
    /* a format for text, used instead of columns (report/table_text.h) */
    const struct table_format *format;
};

struct table_layout {
    const struct column *columns; /* an array; the name of its last element is NULL */
    const char *rows;             /* key of the rows in JSON, such as `associations` */
    bool by_cluster;              /* table_open() is called for each cluster or other group */
    const char *groups;           /* key of these groups in JSON; NULL: `clusters` */
    bool as_paragraph;            /* limit text lines to terminal_line() even without a terminal */
    bool has_page; /* text output without choices is a page, not rows (report/answer.h) */
};

/*
 * Returns true if these options select the page of a command that has one: text with headings, and
 * no chosen columns.
 */
bool table_is_page(const struct table_options *options);

/*
 * Creates a table that appends to `text`.  Between clusters, the command may append paragraphs to
 * it.  `layout`, its columns and `options` must outlive the table.  Returns NULL with ERROR_USAGE
 * if a chosen column does not exist; the message suggests a similar name.  The caller frees the
 * table with table_destroy().
 */
struct table *table_create(struct text *text, const struct table_layout *layout,
                           const struct table_options *options, struct error *err);
void table_destroy(struct table *table);
/*
 * Prints and empties the text with `print` whenever it is long, so that a million rows are not held
 * in memory.  Short output is not printed in parts.
 */
void table_print_with(struct table *table,
                      int (*print)(const struct text *text, struct error *err));

struct table_cluster {
    const char *name;                /* UTF-8 */
    const char *title;               /* title of text output, above the headings; NULL: none */
    struct json_t *facts;            /* an object, released by table_open(); NULL: none */
    const void *context;             /* for get(), as cell->context */
    const struct terminology *terms; /* translates headings of text; NULL: no translation */
};
/* Returns true if the format has facts (JSON).  If it returns false, the caller need not compute
 * facts that are costly. */
bool table_has_facts(const struct table *table);
/* Begin and end a cluster.  Text output has an empty line between two clusters. */
void table_open(struct table *table, const struct table_cluster *cluster);
void table_close(struct table *table);

/* Adds a row.  `row` may be reused after the call. */
void table_add(struct table *table, const void *row);
/* Prints and empties the text if it is long, as table_add() does.  table_end() reports errors. */
void table_print_if_long(struct table *table);
/* In text output, adds an ellipsis in place of omitted rows. */
void table_add_gap(struct table *table);

/* Ends the table.  Call it once, after the last row.  Returns -1 if printing failed. */
int table_end(struct table *table, struct error *err);

/* Additional rows of a page: `count` rows of `size` bytes. */
struct table_rows {
    const void *rows;
    size_t count, size;
    const void *context;             /* for get(), as cell->context */
    const char *cluster;             /* NULL if no column needs it */
    const struct terminology *terms; /* as in struct table_cluster */
};
/* Adds the rows as text, in lines of at most terminal_line() columns. */
void table_add_paragraph(struct text *text, const struct column *columns,
                         const struct table_rows *rows);
/* Returns the rows as a list for the facts in JSON, with the columns that JSON shows. */
struct json_t *table_rows_json(const struct column *columns, const struct table_rows *rows);

#endif
