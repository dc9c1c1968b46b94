/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_READING_H
#define FAIRMILL_SOURCE_READING_H

#include "source/layout.h"
#include "util/text.h"

/* What the layouts share: rows that are read one after another, and what is made of columns. */

struct query {
    const char *sql;
    const struct db_value *arguments;
    size_t argument_count;
    const char *types; /* of its columns */
    bool has_many;     /* very many rows are expected */
};
typedef int (*row_taker)(void *context, const struct db_value *row, struct error *err);

/* Run a query and hand each row to `take`; ends early where that fails. */
int reading_each(struct db *db, const struct query *query, row_taker take, void *context,
                 struct error *err);

/* Rows of one kind, from as many queries as it takes.  Each kind begins with this; the memory is
 * from memory_zeroed(). */
struct reading {
    struct source source;
    struct db_rows *rows; /* of the query that is answered; NULL: the next is to be run */
    struct text sql;      /* of this query */
    /* Run the next query by reading_run(): 1, 0 where there is none, -1. */
    int (*ask)(struct reading *reading, struct error *err);
    /* Say in *err what could not be read; returns -1. */
    int (*explain)(const struct reading *reading, struct error *err);
    /* Free what is its own; NULL: nothing is. */
    void (*end)(struct reading *reading);
};
/* Run reading->sql; returns 1, or -1. */
int reading_run(struct reading *reading, const struct query *query, struct error *err);

struct job_reading {
    struct reading base;
    /* Make a row of its columns; false where it is none of the source's cluster. */
    bool (*make)(struct job_reading *reading, const struct db_value *values, struct job_row *row);
};
struct rollup_reading {
    struct reading base;
    void (*make)(const struct rollup_reading *reading, const struct db_value *values,
                 struct rollup_row *row);
};
struct queue_reading {
    struct reading base;
    void (*make)(const struct queue_reading *reading, const struct db_value *values,
                 struct queued_job *job);
};

/* The next row: 1, 0 behind the last, -1. */
int job_reading_next(struct job_reading *reading, struct job_row *row, struct error *err);
int rollup_reading_next(struct rollup_reading *reading, struct rollup_row *row, struct error *err);
int queue_reading_next(struct queue_reading *reading, struct queued_job *job, struct error *err);
/* Also before the last row. */
void job_reading_end(struct job_reading *reading);
void rollup_reading_end(struct rollup_reading *reading);
void queue_reading_end(struct queue_reading *reading);

/* A count or an instant; what is NULL or negative is 0. */
uint64_t reading_number(const struct db_value *value);
/* The number of a name in the accounting's names; NULL is "". */
uint32_t reading_name(struct accounting *accounting, const struct db_value *value);

/* The columns of an association that every layout has, in the order in which they are read:
 * id, parent id, account, user, partition, shares, deleted ("iitttii"), then the layout's own. */
enum {
    READ_ID,
    READ_PARENT_ID,
    READ_ACCOUNT,
    READ_USER,
    READ_PARTITION,
    READ_SHARES,
    READ_DELETED,
    READ_OWN
};
/* Append an association; ERROR_DATA where an id or shares are out of range.  *added is it. */
int reading_association(struct accounting *accounting, const struct db_value *row,
                        struct association **added, struct error *err);

/* Append a cluster: its name as text, whether it is deleted as integer. */
int reading_cluster(void *cluster_list, const struct db_value *row, struct error *err);
/* Sort them, each name once. */
void reading_sort_clusters(struct cluster_list *list);

#endif
