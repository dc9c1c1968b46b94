/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_COLUMN_H
#define FAIRMILL_REPORT_COLUMN_H

#include <stdint.h>

#include "report/terminal.h"
#include "util/text.h"

/* A column of a table (report/table.h), and the cell that it has of a row. */

/* What a column holds decides how its cells look.  Texts stand left, all else right. */
enum column_type {
    COLUMN_TEXT,     /* names and words, UTF-8 */
    COLUMN_INTEGER,  /* 64 bits; a key that may be larger is a text */
    COLUMN_REAL,     /* people see 6 decimals, programs 17 digits; infinity is `inf` */
    COLUMN_USAGE,    /* TRES-seconds: a real, cut to an integer except in JSON, as in sshare */
    COLUMN_TIME,     /* epoch seconds; people see a date in local time */
    COLUMN_DAY,      /* likewise, where a day begins; people see its date */
    COLUMN_DURATION, /* seconds; people see `12 min` */
    COLUMN_YES_NO,   /* 1 and 0 between bars and in CSV, true and false in JSON */
};

/* Where a column is only if it is chosen by name. */
#define NOT_FOR_PEOPLE 1u
#define NOT_IN_BARS 2u
#define NOT_IN_CSV 4u
#define NOT_IN_JSON 8u
#define ONLY_IN_JSON (NOT_FOR_PEOPLE | NOT_IN_BARS | NOT_IN_CSV)
#define ONLY_FOR_PEOPLE (NOT_IN_BARS | NOT_IN_CSV | NOT_IN_JSON)
#define ONLY_IF_CHOSEN (NOT_FOR_PEOPLE | NOT_IN_BARS | NOT_IN_CSV | NOT_IN_JSON)

struct cell;

struct column {
    const char *name;    /* of the SQL column; in CSV, in JSON and in choices */
    const char *heading; /* for people and between bars; in choices it is taken too */
    enum column_type type;
    /* How a cell is made from its row: one of MEMBER(), CLUSTER_COLUMN and get().  get() calls one
     * of cell_text() and its like, or none: then there is nothing in the cell.  Of a real, a column
     * of COLUMN_YES_NO has whether it is infinite. */
    void (*get)(const void *row, struct cell *cell);
    enum stored {
        STORED_NOWHERE,
        STORED_TEXT,
        STORED_INT32,
        STORED_UINT32,
        STORED_INT64,
        STORED_UINT64,
        STORED_REAL,
        STORED_FLAG,
        STORED_AS_CLUSTER,
    } stored;
    size_t offset;
    size_t depth_at;   /* DEPTH(): where the row has the depth of its cell; 0: it has none */
    bool of_context;   /* it is a member of cell->context, not of the row */
    bool is_behind;    /* MEMBER_BEHIND(): it is one of what the row points to, */
    size_t pointer_at; /* here; NULL: then there is nothing in the cell */
    bool zero_is_none; /* an integer 0 is no value */
    int index;         /* for a get() that serves several columns: cell->column->index */

    unsigned hidden; /* NOT_... */
    /* All of these are for people only. */
    const char *unit;    /* behind each number */
    const char *group;   /* a heading above those of neighbours with the same group */
    bool optional;       /* left out where no row has such a cell */
    unsigned expendable; /* left out where lines are too long, 1 first; 0: never */
    unsigned at_most;    /* columns of the terminal; a longer text ends with a plus; 0: any */
    bool right;          /* a text that stands right */
    bool plus;           /* a number above 0 has a plus */
    int decimals;        /* of a real; 0: 6; NO_DECIMALS: it is cut to an integer */
    int digits;          /* of a real that may be very small; 0: it has decimals */
};
#define NO_DECIMALS (-1)

/* For `struct column`: the cell is a member of the row, a pointer to a text (no array: that would
 * be read as a pointer), a number or a bool.  NULL and NAN are no value. */
extern void *column_of_row; /* for its type only: it is nowhere */
#define MEMBER(row, member) \
    .stored = _Generic(((row *)column_of_row)->member, char *: STORED_TEXT, const char *: STORED_TEXT,         \
                       int32_t: STORED_INT32, uint32_t: STORED_UINT32, int64_t: STORED_INT64,      \
                       uint64_t: STORED_UINT64, double: STORED_REAL, bool: STORED_FLAG),           \
    .offset = offsetof(row, member)
#define MEMBER_BEHIND(row, pointer, type, member) \
    MEMBER(type, member), .is_behind = true, .pointer_at = offsetof(row, pointer)
#define DEPTH(row, member) .depth_at = offsetof(row, member)

/* The cluster of table_open(), which people read in the title. */
#define CLUSTER_COLUMN                                                                           \
    {                                                                                            \
        "cluster", "Cluster", COLUMN_TEXT, .stored = STORED_AS_CLUSTER, .hidden = NOT_FOR_PEOPLE \
    }

struct cell {
    const struct column *column;
    const char *cluster; /* as table_open() got it */
    const void *context; /* likewise */

    enum { CELL_EMPTY, CELL_TEXT, CELL_INTEGER, CELL_REAL } kind;
    const char *text;
    int64_t integer; /* also an instant, a span, 1 for yes */
    double real;
    /* For people: blanks before a text, by its depth in a tree, and a colour. */
    uint32_t depth;
    enum paint paint;
    struct text composed;
};

/* What get() calls.  The kind may be another than its column's: `parent` among shares is a text in
 * every form. */
void cell_text(struct cell *cell, const char *text);
void cell_integer(struct cell *cell, int64_t number);
void cell_real(struct cell *cell, double number); /* NAN: nothing */
/* The text of the cell, empty, to be added to. */
struct text *cell_compose(struct cell *cell);
void cell_format(struct cell *cell, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What the forms are made of; commands need none of these.  Begin with a cell of zeros with its
 * cluster and context; end with text_free(&cell.composed). */
void cell_of(struct cell *cell, const struct column *column, const void *row);
void cell_add_for_people(struct text *text, const struct cell *cell);
void cell_add_between_bars(struct text *text, const struct cell *cell);
void cell_add_csv(struct text *text, const struct cell *cell);
/* As form_add_json() adds cell_json(); false where it must be asked, since the text is not plain.
 */
bool cell_add_json(struct text *text, const struct cell *cell);
struct json_t *cell_json(const struct cell *cell);

/* A cell of a table with blanks on its other side; one that is wider has none. */
void form_add_padded(struct text *text, const char *cell, size_t width, bool left);
/* JSON in one line; the object is given back. */
void form_add_json(struct text *text, struct json_t *json);
/* NAN and infinity are null. */
struct json_t *form_json_real(double number);

/* 90 s, 12 min, 3 h, 5 d. */
void text_add_duration(struct text *text, int64_t seconds);

#endif
