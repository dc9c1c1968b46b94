/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_SQLITE_SQLITE_SESSION_H
#define FAIRMILL_DB_SQLITE_SQLITE_SESSION_H

#include <sqlite3.h>

#include "db/common.h"

/* What the files of the sqlite driver share: sqlite.c (sessions, transactions, locks),
 * sqlite_statement.c (running, binding, errors, what older releases do not know) and sqlite_rows.c
 * (streaming an answer, bulk writes). */

/* The tables and views of a version of the schema, sorted by bytes. */
struct sqlite_names {
    char **names; /* NULL: none are known */
    size_t count;
    int64_t version;
};

struct sqlite_db {
    struct db base;
    sqlite3 *sqlite;
    struct lock_file *locks; /* that it holds */
    struct sqlite_names tables;
    unsigned deadline_s;
    int64_t until_ms; /* when the statement's time is over */
};

/* A function of SQL from now on: whether there is a table or view of just this name, while SQLite
 * itself does not tell upper case from lower. */
#define SQLITE_HAS_TABLE "fairmill_has_table"

/* Store what SQLite says went wrong last; returns -1. */
int sqlite_fail(const struct sqlite_db *db, struct error *err);

/* The time of a statement begins. */
void sqlite_start_clock(struct sqlite_db *db);
/* SQLite's progress handler: true interrupts the statement, whose time is over. */
int sqlite_is_overdue(void *db);

/* The layer through which SQLite has to open files; NULL: its usual one. */
const char *sqlite_layer(void);

/* The SQL in the words that the running release of SQLite knows, to be freed: tables are STRICT
 * from 3.37 on, and names mean columns only (see sqlite_refuse_unknown_names()). */
char *sqlite_fit(const char *sql);
/* A name in double quotes that is none of a column is an error from now on, and no text; where the
 * release cannot, sqlite_fit() sees to it. */
void sqlite_refuse_unknown_names(sqlite3 *sqlite);

/* Statements as they stand, which neither take arguments nor answer. */
int sqlite_run(struct db *db, const char *sql, struct error *err);

/* Texts are bound where they lie: they must stay until the statement is reset or over.  Returns
 * SQLite's own code. */
int sqlite_bind(sqlite3_stmt *statement, int position, const struct db_value *value);
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
