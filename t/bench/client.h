/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_BENCH_CLIENT_H
#define FAIRMILL_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A database's own client library with nothing of ours in between: what fairmill is measured
 * against.  Whatever fails ends the program. */

#define RESULT_COLUMNS 30

/* The columns of bench_fairshare, the table that fairmill_fairshare was in 0.1.0: 't', 'i' or 'r' for
 * text, integer and real. */
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
    /* Ways to stream and to replace rows, each list ended by NULL. */
    const char *const *streams, *const *writes;
    void *(*open)(const char *place);
    void (*close)(void *session);
    /* Read a query's rows and throw them away; how many there were. */
    uint64_t (*stream)(void *session, const char *way, const char *sql);
    /* Hand every row to `take` as texts, NULL for NULL. */
    void (*each)(void *session, const char *sql,
                 void (*take)(void *context, const char *const *texts), void *context);
    /* Replace the cluster's rows in one transaction. */
    void (*replace)(void *session, const char *way, const struct result_rows *rows);
};

extern const struct client mysql_client, pgsql_client, sqlite_client;

_Noreturn void die(const char *what);
void *room_for(size_t count, size_t size);

/* Add ` (a, b, ...)`: the columns that a row has.  The table may have more. */
void add_columns(char *sql, size_t size);
/* Write `INSERT INTO bench_fairshare (...) VALUES (...)`, with `$1` or `?` for each value. */
void add_insert(char *sql, size_t size, bool numbered);
/* Add `a = PREFIXaSUFFIX, ...` of all columns that are not of the key. */
void add_assignments(char *sql, size_t size, const char *before, const char *after);

#endif
