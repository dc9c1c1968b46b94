/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SCHEMA_H
#define FAIRMILL_RESULTS_SCHEMA_H

#include "db/db.h"

struct error;
struct settings;
struct text;

/* The result tables: made by `fairmill init`, used by everything else. */

#define SCHEMA_VERSION 1

/* Open the results and see that their tables are of our version; ERROR_MISSING or ERROR_SETTINGS
 * say what to do if they are not.  DB_OWNER, which makes them, sees to them itself. */
int results_open(struct db **db, const struct settings *settings, enum db_role role,
                 struct error *err);

/* Add to an error that the results denied something the GRANT that would allow it; other errors
 * stay as they are.  Returns -1. */
int results_explain_denied(const struct settings *settings, struct error *err);

/* Make the tables, or bring older ones up to date; what is there stays.  Refuses tables of a
 * newer version. */
int schema_make(struct db *db, struct error *err);

/* The SQL that makes tables and views with a driver. */
void schema_print(const struct db_driver *driver, struct text *text);

#endif
