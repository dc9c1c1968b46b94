/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ROW_DIFFERENCES_H
#define FAIRMILL_RESULTS_ROW_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where rows of result tables are not as a run would write them. */

/* Why they differ, as far as that can be told. */
enum difference_cause {
    CAUSE_UNKNOWN, /* nothing is known of what was stored */
    CAUSE_ROWS,    /* what is stored is not what a run stored: somebody else changed it */
    CAUSE_SOURCE,  /* it is, but the source gives something else now */
};

struct row_difference {
    const char *table;
    char *key;               /* which row: `id_assoc 5`; "" where there is one only */
    char *column;            /* NULL: all of the row */
    char *stored, *computed; /* NULL: there is no such row */
    int64_t part;            /* of the table, as fairmill_kept has it */
    enum difference_cause cause;
};

/* The first of each table, so many at most, and how many there are. */
#define DIFFERENCES_AT_MOST 10
struct table_differences {
    const char *table;
    struct row_difference list[DIFFERENCES_AT_MOST];
    size_t listed;
    uint64_t count;
};
struct row_differences {
    struct table_differences *tables; /* those that have any */
    size_t count;
};
/* Add one.  Texts are copied, NULL stays NULL; the table is not, which lasts as long. */
void row_differences_add(struct row_differences *differences,
                         const struct row_difference *difference);
/* Whether a part of a table has any; true also where it may be among those that are not listed. */
bool row_differences_have(const struct row_differences *differences, const char *table,
                          int64_t part);
/* Give those of a part that are listed their cause. */
void row_differences_set_cause(struct row_differences *differences, const char *table, int64_t part,
                               enum difference_cause cause);
void row_differences_free(struct row_differences *differences);

#endif
