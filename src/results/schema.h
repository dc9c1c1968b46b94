/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SCHEMA_H
#define FAIRMILL_RESULTS_SCHEMA_H

#include "db/db.h"

struct settings;

/* The result tables: made by `fairmill init`, used by everything else. */

#define SCHEMA_VERSION 9

/* Open the results and see that their tables are of our version; ERROR_MISSING or ERROR_SETTINGS
 * say what to do if they are not.  DB_OWNER, which makes them, sees to them itself. */
int results_open(struct db **db, const struct settings *settings, enum db_role role,
                 struct error *err);

/* Add to an error of the results what would mend it: where something was denied the GRANT on the
 * table in question, or of the writer's role; init where a table is missing.  Other errors stay as
 * they are.  Returns -1. */
int results_explain(const struct settings *settings, struct error *err);

/* Refuse (ERROR_SETTINGS) a database with slurmdbd's tables in it, unless share_database says
 * otherwise: also where the source cannot be asked today. */
int schema_refuse_accounting(struct db *db, const struct settings *settings, struct error *err);

/* Make the tables, or those that are missing, or bring older ones up to date; what is there
 * stays; views are always made again, and where all is there and the login may not make them, it is
 * enough that they can be read.  Refuses tables of a newer version.  What fails
 * is tried again for two seconds, since another host may be making the same. */
int schema_make(struct db *db, const struct settings *settings, struct error *err);

/* What comes after schema_print() for a driver that has privileges. */
void schema_print_privileges(const struct db_driver *driver, const struct db_settings *results,
                             struct text *text);

/* The SQL that makes tables and views with a driver. */
void schema_print(const struct db_driver *driver, struct text *text);

/* Whether readers get what runs wrote.  They read views, which may be gone, or whose definer may
 * have lost its rights or its account, while all tables are there. */

/* Opens every view; fails with the database's reason and what to do about it.  PostgreSQL ends the
 * transaction's use then. */
int views_open(struct db *db, struct error *err);
/* Fails unless the view of values has this many associations of the cluster. */
int views_count(struct db *db, const char *cluster, int64_t associations, struct error *err);

#endif
