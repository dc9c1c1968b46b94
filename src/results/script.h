/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SCRIPT_H
#define FAIRMILL_RESULTS_SCRIPT_H

#include <stdbool.h>

#include "db/db.h"

struct text;

/* What a script of sql/schema/ creates, and what a database has of that. */

/* The name of the next table or view that a script creates, to be freed, and *at is moved on to it;
 * NULL at the end.  It is the first text in double quotes behind its CREATE. */
char *script_next_name(const char **at);
/* List the columns that a table has, each in double quotes. */
int script_list_columns(struct db *db, const char *table, struct text *names, struct error *err);
/* Add the columns that tables of an older script lack, or only look: 1 where one is lacking. */
int script_add_columns(struct db *db, const char *script, bool look, struct error *err);

#endif
