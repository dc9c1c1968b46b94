/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_SQLITE_SQLITE_SESSION_H
#define FAIRMILL_DB_SQLITE_SQLITE_SESSION_H

#include <sqlite3.h>

#include "db/common.h"

/*
 * Shared by the files of the sqlite driver:
 *
 *   - sqlite.c: sessions, transactions, locks
 *   - sqlite_statement.c: runs and binds statements, reports errors, adapts SQL to older releases
 *   - sqlite_rows.c: streams query results, writes in bulk
 */

/* The names of the tables and views in one version of the schema, sorted by bytes. */
struct sqlite_names {
    char **names; /* NULL if the list has not been read */
    size_t count;
    int64_t version;
};

struct sqlite_db {
    struct db base;
    sqlite3 *sqlite;
    struct lock_file *locks; /* the locks that the session holds */
    struct sqlite_names tables;
    struct sqlite_rows *taken; /* the rows that SQLITE_TAKE reads, or NULL */
    unsigned deadline_s;
    int64_t until_ms; /* when the current statement must end, in clock_milliseconds() */
};

/*
 * An SQL function that each session defines.  It returns 1 if a table or view has exactly the name
 * in its argument, else 0.  SQLite itself ignores the case of names.
 */
#define SQLITE_HAS_TABLE "fairmill_has_table"

/*
 * An SQL aggregate function for sqlite_rows.c.  sqlite_know_take() defines it and returns SQLite's
 * result code.
 */
#define SQLITE_TAKE "fairmill_take"
int sqlite_know_take(struct sqlite_db *db);

/* Stores SQLite's last error, with its class, in `err`.  Returns -1. */
int sqlite_fail(const struct sqlite_db *db, struct error *err);

/*
 * Starts the time limit of a statement that begins now, and forgets failures of temporary files in
 * earlier statements.
 */
void sqlite_start_clock(struct sqlite_db *db);
/* SQLite's progress handler.  Returns true to interrupt a statement whose time limit has passed. */
int sqlite_is_overdue(void *db);

/*
 * Returns the name of the VFS that sessions must use, or NULL for SQLite's default.  Registers it
 * on the first call.
 */
const char *sqlite_layer(void);

/*
 * Returns a copy of `sql` that the running release of SQLite accepts; the caller frees it.  For
 * releases before 3.37, removes STRICT from tables.  For releases before 3.29, also replaces the
 * double quotes of names by backticks; see sqlite_refuse_unknown_names().
 */
char *sqlite_fit(const char *sql);
/*
 * Makes SQLite reject an unknown name in double quotes.  By default, SQLite treats such a name as a
 * text.  Releases before 3.29 do not have this option, so sqlite_fit() replaces the quotes.
 */
void sqlite_refuse_unknown_names(sqlite3 *sqlite);

/* Runs statements without arguments and discards any rows. */
int sqlite_run(struct db *db, const char *sql, struct error *err);

/*
 * Binds a value to the parameter at `position`, counted from 1.  Does not copy a text, which must
 * stay valid until the statement is reset or finalized.  Returns SQLite's result code.
 */
int sqlite_bind(sqlite3_stmt *statement, int position, const struct db_value *value);
/*
 * Prepare a statement; the caller finalizes it.  sqlite_prepare() also starts the statement's time
 * limit, checks the number of arguments and binds them.
 */
int sqlite_compile(struct sqlite_db *db, const char *sql, sqlite3_stmt **statement,
                   struct error *err);
int sqlite_prepare(struct sqlite_db *db, const char *sql, const struct db_value *arguments,
                   size_t argument_count, sqlite3_stmt **statement, struct error *err);

int sqlite_execute(struct db *db, const char *sql, const struct db_value *arguments,
                   size_t argument_count, int64_t *changed, struct error *err);

struct db_rows *sqlite_query(struct db *db, const struct db_question *question, struct error *err);
int sqlite_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
void sqlite_finish(struct db_rows *rows);

struct db_bulk *sqlite_bulk_begin(const struct db_bulk *target, struct error *err);
int sqlite_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
void sqlite_bulk_free(struct db_bulk *bulk);

#endif
