/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_WITNESS_H
#define FAIRMILL_RESULTS_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct db;
struct error;

/* A session that compares.  A run that publishes into it writes nothing: each row that it would
 * write is compared with the one that is stored, and what it would remove should not be there.  So
 * what is right is said in one place, by those who write it.  Its queries are answered by the
 * results database, whose session must have begun its transaction, and must last as long. */

/* What differs, as far as that can be told. */
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
void row_differences_free(struct row_differences *differences);

struct db *witness_open(struct db *stored, const char *cluster);
/* Once the run has published: say what differs.  `seal_damaged`: the seal's rows were found not to
 * be what was stored. */
int witness_end(struct db *witness, bool seal_damaged, struct row_differences *differences,
                struct error *err);
/* Takes NULL; the session that it asks stays open. */
void witness_close(struct db *witness);

#endif
