/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_PGSQL_RANGES_H
#define FAIRMILL_DB_PGSQL_RANGES_H

#include "db/driver.h"

/* Between which values the keys of many rows lie, so that a statement about these rows reads that
 * part of the table and not all of it. */
struct pgsql_range {
    bool begun; /* a row was noted */
    bool open;  /* the column has no range: texts differ, or a value is no integer */
    int64_t least, most;
    char *text; /* of a column of texts, which is the same in all rows; else NULL */
};

/* Widen the ranges, one for each column of the key, by the key of a row. */
void pgsql_ranges_note(struct pgsql_range *ranges, size_t count, const struct db_value *key);
/* Add a condition to a statement for each column whose range is known: ` AND table.column = ?` if
 * there is one value (an index then goes on with the next column), else BETWEEN ? AND ?.
 * `arguments` has room for two a column, and points into the ranges afterwards.  Returns how many
 * there are. */
size_t pgsql_ranges_add(const struct pgsql_range *ranges, const struct db_bulk *bulk,
                        struct text *sql, struct db_value *arguments);
void pgsql_ranges_free(struct pgsql_range *ranges, size_t count);

#endif
