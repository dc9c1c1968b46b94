/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SCRIPT_H
#define FAIRMILL_RESULTS_SCRIPT_H

#include <stdbool.h>

#include "db/db.h"

struct text;

/*
 * Reads the scripts of sql/schema/: the tables and views that they create, and the columns that a
 * database lacks.
 */

/*
 * Returns the name of the next table or view that a script creates, and moves `*at` to that name;
 * returns NULL at the end.  The caller frees the name.  The name is the first text in double quotes
 * after CREATE; CREATE INDEX is skipped.
 */
char *script_next_name(const char **at);

/*
 * Appends the column names of a table, each in double quotes, separated by commas.  Returns -1 on
 * error.
 */
int script_list_columns(struct db *db, const char *table, struct text *names, struct error *err);

/*
 * Adds columns of the script that the tables of an older release lack.  If `look` is true, changes
 * nothing, and returns 1 if a column is missing.  Returns 0 on success, or -1 on error.
 */
int script_add_columns(struct db *db, const char *script, bool look, struct error *err);

#endif
