/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_READING_H
#define FAIRMILL_SOURCE_READING_H

#include "source/layout.h"
#include "util/text.h"

/* Helpers for layouts: reading rows one at a time, and converting columns. */

struct query {
    const char *sql;
    const struct db_value *arguments;
    size_t argument_count;
    const char *types; /* types of the columns, one letter each (db/value.h) */
    bool has_many;     /* a very large number of rows is expected */
};
typedef int (*row_taker)(void *context, const struct db_value *row, struct error *err);

/* Runs a query and passes each row to `take`.  Stops if `take` fails.  Returns -1 on error. */
int reading_each(struct db *db, const struct query *query, row_taker take, void *context,
                 struct error *err);

/*
 * Rows of one kind, from one or more queries.  Each kind of reading has this as its first member,
 * and is allocated with memory_zeroed().
 */
struct reading {
    struct source source;
    struct db_rows *rows; /* of the current query; NULL if the next query must be run */
    struct text sql;      /* text of the current query */
    /* Runs the next query with reading_run().  Returns 1 if a query was run, 0 if there are no more
     * queries, or -1 on error. */
    int (*ask)(struct reading *reading, struct error *err);
    /* Adds to `err` which table could not be read.  Returns -1. */
    int (*explain)(const struct reading *reading, struct error *err);
    /* Frees the members of the kind of reading; may be NULL. */
    void (*end)(struct reading *reading);
};
/* Runs a query, usually from reading->sql.  Returns 1, or -1 on error. */
int reading_run(struct reading *reading, const struct query *query, struct error *err);

struct job_reading {
    struct reading base;
    /* Converts columns to a row.  Returns false if the row is not of the source's cluster. */
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

/* Read the next row.  Return 1 if there is a row, 0 after the last row, or -1 on error. */
int job_reading_next(struct job_reading *reading, struct job_row *row, struct error *err);
int rollup_reading_next(struct rollup_reading *reading, struct rollup_row *row, struct error *err);
int queue_reading_next(struct queue_reading *reading, struct queued_job *job, struct error *err);
/* End a reading, even before its last row.  `reading` may be NULL. */
void job_reading_end(struct job_reading *reading);
void rollup_reading_end(struct rollup_reading *reading);
void queue_reading_end(struct queue_reading *reading);

/* Converts a count or a time.  Returns 0 for NULL and for negative values. */
uint64_t reading_number(const struct db_value *value);
/* Returns the index of a name in the accounting's names; NULL is treated as an empty name. */
uint32_t reading_name(struct accounting *accounting, const struct db_value *value);

/*
 * The columns of an association that every layout reads, in this order: id, parent id, account,
 * user, partition, shares, deleted ("iitttii").  The layout's own columns follow.
 */
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
/*
 * Appends an association and sets `*added` to it.  Returns -1 with ERROR_DATA if an id or the
 * shares are out of range.
 */
int reading_association(struct accounting *accounting, const struct db_value *row,
                        struct association **added, struct error *err);

/*
 * Appends a cluster.  The row contains the name as text, and an integer that is not 0 if the
 * cluster is marked as deleted.
 */
int reading_cluster(void *cluster_list, const struct db_value *row, struct error *err);
/* Sorts the clusters by name and removes duplicates. */
void reading_sort_clusters(struct cluster_list *list);

#endif
