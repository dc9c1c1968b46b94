/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_ROW_DIFFERENCES_H
#define FAIRMILL_RESULTS_ROW_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Differences between stored rows of result tables and the rows that a run would write. */

/* The cause of a difference, if it can be determined. */
enum difference_cause {
    CAUSE_UNKNOWN, /* no hash of the stored rows is known */
    CAUSE_ROWS,    /* the rows do not match their hash: another program changed them */
    CAUSE_SOURCE,  /* the rows match, but the accounting database has changed */
};

struct row_difference {
    const char *table;
    char *key;               /* the row, such as `id_assoc 5`; "" if the table has only one row */
    char *column;            /* NULL means the whole row */
    char *stored, *computed; /* NULL if the row does not exist */
    int64_t part;            /* its hash segment, as in fairmill_kept */
    enum difference_cause cause;
};

/* The number of differences of a table, and the first DIFFERENCES_AT_MOST of them. */
#define DIFFERENCES_AT_MOST 10
struct table_differences {
    const char *table;
    struct row_difference list[DIFFERENCES_AT_MOST];
    size_t listed;
    uint64_t count;
};
struct row_differences {
    struct table_differences *tables; /* only tables with differences */
    size_t count;
};

/* Adds a difference.  Copies its texts, but not difference->table, which must remain valid. */
void row_differences_add(struct row_differences *differences,
                         const struct row_difference *difference);

/*
 * Returns true if a hash segment of a table has a difference, or may have a difference that is not
 * listed.
 */
bool row_differences_have(const struct row_differences *differences, const char *table,
                          int64_t part);

/* Sets the cause of all listed differences of a hash segment. */
void row_differences_set_cause(struct row_differences *differences, const char *table, int64_t part,
                               enum difference_cause cause);
void row_differences_free(struct row_differences *differences);

#endif
