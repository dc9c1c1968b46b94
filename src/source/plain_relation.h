/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_SOURCE_PLAIN_RELATION_H
#define FAIRMILL_SOURCE_PLAIN_RELATION_H

#include "source/reading.h"

struct db_settings;

/* Reads the tables or views of the layout `plain`. */

struct plain_query {
    const char *select, *relation, *types;
    const char *where;               /* NULL selects all rows */
    const struct db_value *argument; /* argument of `where`; or NULL */
};

/*
 * Returns a query for the rows of the source's cluster, or of all clusters if its cluster is NULL.
 * One of the columns must be the cluster's name.  The query has at most two arguments.
 *
 * A database can compare an ASCII name in any encoding.  For other names, the query returns rows of
 * all clusters, and plain_is_of() filters them.
 */
struct query plain_query_of(const struct source *source, const struct plain_query *asked,
                            struct text *sql, struct db_value *arguments);

/* Passes each row of a query to `take`.  Returns -1 on error. */
int plain_read_relation(const struct source *source, const struct plain_query *asked,
                        row_taker take, void *context, struct error *err);
/* Adds to `err` which relation could not be read, and the GRANT if it is missing.  Returns -1. */
int plain_explain_relation(const struct source *source, const char *relation, struct error *err);

/*
 * Adds the GRANT that reading the relation needs.  Adds nothing for a relation in another schema,
 * to which only its owner can grant access.
 */
void plain_add_grant(struct text *text, const struct db_settings *settings, const char *relation);

/* Returns true if a row is of this cluster. */
bool plain_is_of(const struct db_value *stored, const char *cluster);

#endif
