/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_SCHEMA_H
#define FAIRMILL_RESULTS_SCHEMA_H

#include "db/db.h"

struct settings;

/*
 * The result tables, which `fairmill init` creates and all other commands use.  Functions that
 * return int return -1 on error.
 */

#define SCHEMA_VERSION 14

/*
 * Opens the results and checks the version of their tables.  If it fails with ERROR_MISSING or
 * ERROR_SETTINGS, the message contains advice.  With DB_OWNER, which creates the tables, the
 * version is not checked.
 */
int results_open(struct db **db, const struct settings *settings, enum db_role role,
                 struct error *err);

/*
 * Adds advice to an error of the results database.  If access was denied, the advice is to grant
 * the privilege on the table or the role of the writer.  If a table is missing, the advice is to
 * run `fairmill init`.  Does not change other errors.  Returns -1.
 */
int results_explain(const struct settings *settings, struct error *err);

/*
 * Fails with ERROR_SETTINGS if the database has slurmdbd's tables, unless share_database is set.
 * This does not need access to the accounting database.
 */
int schema_refuse_accounting(struct db *db, const struct settings *settings, struct error *err);

/*
 * Creates missing tables, and upgrades tables of an older version.  Keeps existing rows.  Always
 * creates the views again.  If nothing is missing and the login must not create views, it is
 * sufficient that the views can be read.
 *
 * Rejects tables of a newer version.  Retries for two seconds, because another host may be creating
 * the same tables.
 */
int schema_make(struct db *db, const struct settings *settings, struct error *err);

/* Appends the GRANTs that follow schema_print(), for a driver with privileges. */
void schema_print_privileges(const struct db_driver *driver, const struct db_settings *results,
                             struct text *text);

/* Appends the SQL that creates the tables and views with a driver. */
void schema_print(const struct db_driver *driver, struct text *text);

/*
 * Checks that users who may only query results get the rows that runs wrote.  These users query
 * views.  Even if all tables exist, the views may be missing, or the login that owns them may have
 * been removed or have lost its privileges.
 */

/*
 * Opens every view.  Fails with the database's error and advice.  With PostgreSQL, no further query
 * is possible in the transaction after a failure.
 */
int views_open(struct db *db, struct error *err);

/* Fails unless the view fairmill_sshare has this number of associations of the cluster. */
int views_count(struct db *db, const char *cluster, int64_t associations, struct error *err);

/*
 * Does the same after a run that wrote a value for each association.  It is faster, because it only
 * counts `part` associations in the view, those with ids of at most `last_id`, and all of them in
 * the table of associations.
 */
int views_count_part(struct db *db, const char *cluster, int64_t associations, int64_t last_id,
                     int64_t part, struct error *err);

#endif
