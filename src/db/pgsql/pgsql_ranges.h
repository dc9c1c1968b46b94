/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_PGSQL_RANGES_H
#define FAIRMILL_DB_PGSQL_RANGES_H

#include "db/driver.h"

/* Between which values the keys of many rows lie, so that a statement about these rows reads that
 * part of the table and not all of it. */
struct pgsql_range {
    bool begun, open; /* a row was noted; nothing is known of this column */
    int64_t least, most;
    char *text; /* of a column of texts, which is the same in all rows; else NULL */
};

/* One range for each column of a key. */
void pgsql_ranges_note(struct pgsql_range *ranges, size_t count, const struct db_value *key);
/* Add ` AND table.column = ?`, or BETWEEN ? AND ?, for each column of which something is known, and
 * the arguments, which point into the ranges; how many there are then, at most two a column.  Where
 * there is one value only an index goes on with the next column. */
size_t pgsql_ranges_add(const struct pgsql_range *ranges, const struct db_bulk *bulk,
                        struct text *sql, struct db_value *arguments);
void pgsql_ranges_free(struct pgsql_range *ranges, size_t count);

#endif
