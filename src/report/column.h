/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_COLUMN_H
#define FAIRMILL_REPORT_COLUMN_H

#include <stdint.h>

#include "report/terminal.h"
#include "util/text.h"

/* The columns of a table (report/table.h), and their cells. */

/*
 * The type of a column determines the format of its cells.  Texts are aligned left, other types
 * right.
 */
enum column_type {
    COLUMN_TEXT,    /* names and words, UTF-8 */
    COLUMN_INTEGER, /* 64 bits; a key that may be larger is a text */
    COLUMN_REAL,    /* 6 decimals in text, up to 17 digits elsewhere; infinity is `inf` */
    COLUMN_USAGE,   /* TRES-seconds: a real, truncated to an integer except in JSON, as in sshare */
    COLUMN_TIME,    /* epoch seconds; text output and --iso show local time */
    COLUMN_DAY,     /* epoch seconds of the start of a day; text output and --iso show its date */
    COLUMN_DURATION, /* seconds; text output shows `12 min` */
    COLUMN_YES_NO,   /* 1 and 0 between bars and in CSV, true and false in JSON */
};

/* Formats that omit a column unless it is chosen by name. */
#define NOT_FOR_PEOPLE 1u
#define NOT_IN_BARS 2u
#define NOT_IN_CSV 4u
#define NOT_IN_JSON 8u
#define ONLY_IN_JSON (NOT_FOR_PEOPLE | NOT_IN_BARS | NOT_IN_CSV)
#define ONLY_FOR_PEOPLE (NOT_IN_BARS | NOT_IN_CSV | NOT_IN_JSON)
#define ONLY_IF_CHOSEN (NOT_FOR_PEOPLE | NOT_IN_BARS | NOT_IN_CSV | NOT_IN_JSON)

struct cell;

struct column {
    const char *name;    /* as in SQL; used in CSV and JSON and to choose columns */
    const char *heading; /* in text and between bars; may also be used to choose columns */
    enum column_type type;
    /* The source of a cell is MEMBER(), CLUSTER_COLUMN or get(). get() calls cell_text() or a
     * similar function; if get() calls no such function, the cell is empty.  A COLUMN_YES_NO of a
     * real is yes if the real is infinite. */
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
    size_t depth_at;   /* DEPTH(): offset of the row's depth in the tree; 0: none */
    bool of_context;   /* the member is in cell->context, not in the row */
    bool is_behind;    /* MEMBER_BEHIND(): the member is in a struct that the row points to */
    size_t pointer_at; /* offset of that pointer; if it is NULL, the cell is empty */
    bool zero_is_none; /* if the integer is 0, the cell is empty */
    int index;         /* for a get() of several columns, as cell->column->index */

    unsigned hidden; /* NOT_... */
    /* The members below affect text output only. */
    const char *unit;    /* follows each number */
    const char *group;   /* a heading above adjacent columns with the same group */
    bool optional;       /* omitted if all cells are empty */
    unsigned expendable; /* omitted if lines are too long, lowest number first; 0: never */
    unsigned at_most;    /* terminal columns; a longer text ends with a plus; 0: no limit */
    bool right;          /* a text is aligned right */
    bool plus;           /* a number that is not negative has a plus sign */
    int decimals; /* number of decimals of a real; 0: 6; NO_DECIMALS: truncated to an integer */
    int digits;   /* significant digits of a real that may be tiny; 0: use `decimals` */
};
#define NO_DECIMALS (-1)

/*
 * Initializers for `struct column`: the cell is a member of the row.  The member is a number, a
 * bool or a pointer to a text, but not an array, which would be read as a pointer.  NULL and NAN
 * give an empty cell.
 */
extern void *column_of_row; /* used for its type only; never defined */
#define MEMBER(row, member) \
    .stored = _Generic(((row *)column_of_row)->member, char *: STORED_TEXT, const char *: STORED_TEXT,         \
                       int32_t: STORED_INT32, uint32_t: STORED_UINT32, int64_t: STORED_INT64,      \
                       uint64_t: STORED_UINT64, double: STORED_REAL, bool: STORED_FLAG),           \
    .offset = offsetof(row, member)
#define MEMBER_BEHIND(row, pointer, type, member) \
    MEMBER(type, member), .is_behind = true, .pointer_at = offsetof(row, pointer)
#define DEPTH(row, member) .depth_at = offsetof(row, member)

/* A column with the cluster's name from table_open().  Text output has the name in the title, not
 * in a column. */
#define CLUSTER_COLUMN                                                                           \
    {                                                                                            \
        "cluster", "Cluster", COLUMN_TEXT, .stored = STORED_AS_CLUSTER, .hidden = NOT_FOR_PEOPLE \
    }

struct cell {
    const struct column *column;
    const char *cluster; /* from table_open() */
    const void *context; /* from table_open() */
    bool has_dates;      /* between bars and in CSV, times and days are dates */

    enum { CELL_EMPTY, CELL_TEXT, CELL_INTEGER, CELL_REAL } kind;
    const char *text;
    int64_t integer; /* also a time or a duration; 1 means yes */
    double real;
    /* For text output: a text is indented by its depth in a tree, and may have a color. */
    uint32_t depth;
    enum paint paint;
    struct text composed;
};

/*
 * Functions for get().  The cell may differ in kind from its column: among shares, `parent` is a
 * text in every format.
 */
void cell_text(struct cell *cell, const char *text);
void cell_integer(struct cell *cell, int64_t number);
void cell_real(struct cell *cell, double number); /* NAN: empty */
/* Makes the cell an empty text and returns it.  The caller may add to it. */
struct text *cell_compose(struct cell *cell);
void cell_format(struct cell *cell, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Functions for the output formats; commands do not call them.  Start with a zeroed cell that has
 * its cluster and context.  Free it with text_free(&cell.composed).
 */
void cell_of(struct cell *cell, const struct column *column, const void *row);
void cell_add_for_people(struct text *text, const struct cell *cell);
void cell_add_between_bars(struct text *text, const struct cell *cell);
void cell_add_csv(struct text *text, const struct cell *cell);
/*
 * Adds the same text as form_add_json() does for cell_json(), but faster.  Returns false and adds
 * nothing if a text needs escapes.
 */
bool cell_add_json(struct text *text, const struct cell *cell);
struct json_t *cell_json(const struct cell *cell);

/* Adds a cell, padded with spaces to `width` terminal columns.  A wider cell is not cut. */
void form_add_padded(struct text *text, const char *cell, size_t width, bool left);
/* Adds `json` in one line and releases it. */
void form_add_json(struct text *text, struct json_t *json);
/*
 * Adds the same text as form_add_json() does for form_json_real().  As in jansson, a real has a
 * point or an exponent, and the exponent has neither a plus nor leading zeros.
 */
void form_add_json_real(struct text *text, double number);
/* Returns a JSON real, or null for NAN and infinity. */
struct json_t *form_json_real(double number);

/* Adds a duration, rounded down to a suitable unit: 90 s, 12 min, 3 h, 5 d. */
void text_add_duration(struct text *text, int64_t seconds);

#endif
