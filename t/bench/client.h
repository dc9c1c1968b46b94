/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_BENCH_CLIENT_H
#define FAIRMILL_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A benchmark of a database's own client library, without fairmill, for comparison.  Any failure
 * ends the program. */

#define RESULT_COLUMNS 30

/* The columns of bench_fairshare, and their types: 't', 'i' or 'r' for text, integer and real.  The
 * table has the columns that fairmill_fairshare had in 0.1.0. */
extern const char *const result_names[RESULT_COLUMNS];
extern const char result_types[RESULT_COLUMNS + 1];

struct cell {
    bool is_null;
    int64_t integer;
    double real;
    char *text;
    size_t length;
};

struct result_rows {
    struct cell (*rows)[RESULT_COLUMNS];
    size_t count;
};

struct client {
    const char *name;
    /* The names of the ways to stream and to replace rows; each list ends with NULL. */
    const char *const *streams, *const *writes;
    void *(*open)(const char *place);
    void (*close)(void *session);
    /* Reads a query's rows and discards them.  Returns their number. */
    uint64_t (*stream)(void *session, const char *way, const char *sql);
    /* Calls `take` for each row, with its values as texts or NULL. */
    void (*each)(void *session, const char *sql,
                 void (*take)(void *context, const char *const *texts), void *context);
    /* Replaces the cluster's rows in one transaction. */
    void (*replace)(void *session, const char *way, const struct result_rows *rows);
};

extern const struct client mysql_client, pgsql_client, sqlite_client;

_Noreturn void die(const char *what);
void *room_for(size_t count, size_t size);

/* Appends ` (a, b, ...)`, the columns of a row.  The table may have other columns, too. */
void add_columns(char *sql, size_t size);
/* Writes `INSERT INTO bench_fairshare (...) VALUES (...)`, with `$1` or `?` for each value. */
void add_insert(char *sql, size_t size, bool numbered);
/* Appends `a = PREFIXaSUFFIX, ...` for all columns that do not belong to the key. */
void add_assignments(char *sql, size_t size, const char *before, const char *after);

#endif
