/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DB_H
#define FAIRMILL_DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct text;

/* The port: all that fairmill asks of a database, and one struct of functions
 * (struct db_driver, below) for each database that can do it.
 *
 * SQL that passes through here means the same in every database: identifiers in
 * double quotes, texts in single quotes, `?` for each argument.  A session never
 * inherits what a server has set: each driver sets isolation, time limits and
 * character sets itself.  Texts are bytes; no driver converts a character. */

/* What a session is for. */
enum db_role {
    DB_SOURCE,  /* reads the accounting database: nothing can be written, begin() opens one
                   read-only snapshot that all queries up to commit() see; one of them fails with
                   ERROR_RETRY, at last commit(), where a table has been altered under them */
    DB_RESULTS, /* reads and writes the results: begin() opens a READ COMMITTED transaction that
                   may write (in SQLite one that already holds the write lock) */
    DB_READER,  /* reads the results: begin() opens a read-only snapshot */
    DB_OWNER,   /* as DB_RESULTS, and may create tables, for SQLite also the file */
};

/* How a session is encrypted.  A driver that cannot keep a mode refuses it, and never takes a
 * weaker one. */
enum db_tls {
    DB_TLS_DEFAULT,     /* what the client library does by itself, or its own files say */
    DB_TLS_OFF,         /* not at all */
    DB_TLS_REQUIRED,    /* whoever the server is */
    DB_TLS_VERIFY_CA,   /* by a server whose certificate tls_ca has signed */
    DB_TLS_VERIFY_FULL, /* and is made out to the host's name */
};
/* Their names, ended by NULL. */
extern const char *const db_tls_names[];

/* Where a database is and how to log in.  A text that was not given is NULL or "". */
struct db_settings {
    const char *driver;      /* "mysql", "pgsql", "sqlite" */
    const char *host;        /* NULL: the local socket */
    unsigned port;           /* 0: the driver's own default */
    const char *socket;      /* path of a unix socket; for pgsql of its directory */
    const char *database;    /* a name; a path for sqlite */
    const char *user;        /* NULL: the login of this process */
    const char *option_file; /* mysql: an option file, its groups [client] and [fairmill] */
    const char *service;     /* pgsql: an entry of pg_service.conf, for what is not given here */
    enum db_tls tls_mode;
    const char *tls_ca;  /* a file of the authorities that sign servers' certificates */
    unsigned deadline_s; /* no statement lasts longer; waits for locks are shorter */
};

enum db_type {
    DB_NULL,
    DB_INTEGER,
    DB_UNSIGNED, /* an integer; fetched only for what is above INT64_MAX */
    DB_REAL,
    DB_TEXT, /* bytes, not NUL-terminated */
};

struct db_value {
    enum db_type type;
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double real;
        struct {
            const char *bytes;
            size_t length;
        } text;
    };
};

#define DB_LAG_UNBOUNDED INT64_MAX

struct db;      /* a session */
struct db_rows; /* the rows that a query is still handing out */
struct db_bulk; /* a bulk write under way */

/* Column types of a query's answer, one letter a column: 'i' integer, 'r' real, 't' text.
 * A column may be NULL whatever its type.  A value that is not of the type (a word where an
 * integer was asked for, a number out of range) fails with ERROR_DATA and names the column.
 * Databases differ in how they hold a number (a sum may be a decimal, a large integer a text):
 * whatever is wholly a number counts as one, and an integer can be asked for as text. */

/* SQL by which a database lets people in: for an administrator to read and to run, never run by
 * us.  Functions add to a text. */
struct db_table {
    char *name;
    bool only_grows; /* who writes results may add to it, and neither change nor delete */
};
struct db_privileges {
    /* The GRANT of these privileges on a table, or on some of its columns (ended by NULL; NULL:
     * all), to who logs in with these settings. */
    void (*add_grant)(struct text *text, const struct db_settings *settings, const char *privileges,
                      const char *const *columns, const char *table);
    /* The GRANT that opening a database takes; NULL where one on any table of it will do. */
    void (*add_connect_grant)(struct text *text, const struct db_settings *settings);
    /* The GRANT of a role that add_after_tables() makes, to the same. */
    void (*add_role_grant)(struct text *text, const struct db_settings *settings, const char *role);
    /* The results' database and roles: what comes before the result tables are made in it, and
     * what comes after. */
    void (*add_before_tables)(struct text *text, const struct db_settings *results);
    void (*add_after_tables)(struct text *text, const struct db_settings *results,
                             const struct db_table *tables, size_t table_count);
    /* What comes before the GRANTs on the source. */
    void (*add_before_grants)(struct text *text, const struct db_settings *source);
    /* The GRANT that replica_lag() needs; NULL where everybody may ask. */
    void (*add_lag_grant)(struct text *text, const struct db_settings *source);
};

/* A column of a bulk write: its name, and its type as above. */
struct db_column {
    const char *name;
    char type;
};

struct db_driver {
    const char *name;

    /* Whether what is gone may come back while we wait: a server may, a file does not. */
    bool comes_back;

    /* Written after a table's name to have the table read in storage order, or by a range of its
     * primary key, but through no other index; "" where there is no such thing.  It is for tables
     * with a primary key only, not for views. */
    const char *scan_hint;

    /* A query with one argument, a table's name, whose answer is that table's columns, a row
     * with one text each; no row where the table is not there or not readable. */
    const char *columns_query;

    /* What a table's name may be: so many bytes, so many characters (0: any number), and whether
     * only characters up to U+FFFF. */
    size_t name_bytes, name_characters;
    bool name_is_basic;

    /* A query without arguments whose one text tells this database from every other one that
     * this driver could reach: server and database, not the login. */
    const char *identity_query;

    /* NULL where a database has no privileges of its own. */
    const struct db_privileges *privileges;

    /* The path, to be freed, of the client library's own file that these settings lead to and that
     * may hold a password; NULL: none.  We never read it. */
    char *(*login_file)(const struct db_settings *settings);

    /* Why a session cannot be encrypted as these settings want it, whatever the server says; NULL
     * where it can.  Asked for modes other than the default. */
    const char *(*tls_objection)(const struct db_settings *settings);

    int (*open)(struct db **db, const struct db_settings *settings, enum db_role role,
                struct error *err);
    void (*close)(struct db *db);

    /* After a failure inside a transaction only rollback() is sure to work. */
    int (*begin)(struct db *db, struct error *err);
    int (*commit)(struct db *db, struct error *err);
    void (*rollback)(struct db *db);

    /* By how many seconds a snapshot that begins now is behind the database that this one is a
     * replica of, or less: 0 where it is none, DB_LAG_UNBOUNDED where nothing comes from there.
     * Outside of transactions only.  NULL where there are no replicas. */
    int (*replica_lag)(struct db *db, int64_t *lag_s, struct error *err);

    /* Start a query; NULL when that failed.  Rows are streamed: memory does not grow with their
     * number.  One query at a time for each session; finish() ends it, also before its last row. */
    struct db_rows *(*query)(struct db *db, const char *sql, const struct db_value *arguments,
                             size_t argument_count, const char *column_types, struct error *err);
    /* The same for a query that answers with very many rows, where there is a road that costs less
     * a row and more to begin with; NULL where there is none. */
    struct db_rows *(*stream)(struct db *db, const char *sql, const struct db_value *arguments,
                              size_t argument_count, const char *column_types, struct error *err);
    /* The next row: 1 and *row, 0 after the last one, -1.  The row and the texts in it hold
     * until the next fetch or finish. */
    int (*fetch)(struct db_rows *rows, const struct db_value **row, struct error *err);
    void (*finish)(struct db_rows *rows);

    /* Run one statement that has no answer.  `changed` (may be NULL) becomes the number of rows
     * it found by its WHERE, whether or not their values differ from before. */
    int (*execute)(struct db *db, const char *sql, const struct db_value *arguments,
                   size_t argument_count, int64_t *changed, struct error *err);

    /* Run several statements of DDL, separated by a semicolon at the end of a line. */
    int (*script)(struct db *db, const char *sql, struct error *err);

    /* Wait for other sessions' locks for so many seconds at most from now on, instead of what
     * open() has set.  Outside of transactions only. */
    int (*set_lock_wait)(struct db *db, unsigned seconds, struct error *err);

    /* Take the advisory lock of this name, without waiting; ERROR_LOCKED if another session has
     * it.  It is held until unlock() or until the session ends, however it ends. */
    int (*lock)(struct db *db, const char *name, struct error *err);
    void (*unlock)(struct db *db, const char *name);

    /* Write many rows by the fastest road that leaves the table, its views and grants alone, in
     * the open transaction: a row whose first `key_count` columns equal those of a stored row
     * replaces it, any other row is added; without a key every row is added.  Values of a row
     * must be DB_NULL or of their column's type, and no two rows may have the same key.  bulk_row()
     * copies what it keeps of a row; the columns must stay until the end, and the session does
     * nothing else up to there.  bulk_begin() returns NULL when it failed.  bulk_end() sends what
     * is left and frees, also when it fails; bulk_abandon() sends nothing more, and frees. */
    struct db_bulk *(*bulk_begin)(struct db *db, const char *table, const struct db_column *columns,
                                  size_t column_count, size_t key_count, struct error *err);
    int (*bulk_row)(struct db_bulk *bulk, const struct db_value *row, struct error *err);
    int (*bulk_end)(struct db_bulk *bulk, struct error *err);
    void (*bulk_abandon)(struct db_bulk *bulk);
};

/* Every driver's session begins with this. */
struct db {
    const struct db_driver *driver;
    const struct db_settings *settings; /* what it was opened with, which must stay */
    enum db_role role;
    unsigned lock_wait_s; /* how long it waits for locks; kept by db.c */
    bool answering;       /* a query's rows are still being handed out; kept by db.c */
    bool writing;         /* a bulk write is under way; likewise */
};

/* The drivers that this build has, ended by NULL, and the one of a name (NULL if none). */
extern const struct db_driver *const db_drivers[];
const struct db_driver *db_driver_named(const char *name);

/* login_file() of the settings' driver. */
char *db_login_file(const struct db_settings *settings);

/* What is wrong with tls_mode and tls_ca under the settings' driver; NULL: nothing. */
const char *db_tls_objection(const struct db_settings *settings);

/* Open a session with the driver that the settings name.  A login file that others than its owner
 * may write to is refused (ERROR_SETTINGS): they could lead us elsewhere. */
int db_open(struct db **db, const struct db_settings *settings, enum db_role role,
            struct error *err);
/* A text that tells this database from every other one, to be freed; NULL on failure. */
char *db_identity(struct db *db, struct error *err);
/* Refuse (ERROR_DATA) a name that no table can have here. */
int db_check_table_name(const struct db *db, const char *name, struct error *err);
/* The functions of the session's driver; close, rollback and abandon take NULL.
 *
 * Who reads rows or writes in bulk may leave all checks to the end: a failure stays with the rows
 * or the bulk write, and NULL counts as one that failed at its beginning.  After a failure
 * db_fetch() and db_bulk_row() do nothing and return -1; db_finish() returns -1, and so does
 * db_bulk_end(), which then sends nothing more.  `err` says what failed first. */
void db_close(struct db *db);
int db_begin(struct db *db, struct error *err);
int db_commit(struct db *db, struct error *err);
int db_replica_lag(struct db *db, int64_t *lag_s, struct error *err);
void db_rollback(struct db *db);
struct db_rows *db_query(struct db *db, const char *sql, const struct db_value *arguments,
                         size_t argument_count, const char *column_types, struct error *err);
struct db_rows *db_stream(struct db *db, const char *sql, const struct db_value *arguments,
                          size_t argument_count, const char *column_types, struct error *err);
int db_fetch(struct db_rows *rows, const struct db_value **row, struct error *err);
int db_finish(struct db_rows *rows);
int db_execute(struct db *db, const char *sql, const struct db_value *arguments,
               size_t argument_count, int64_t *changed, struct error *err);
int db_script(struct db *db, const char *sql, struct error *err);
/* Have no wait for a lock last beyond `end_ms`, in clock_milliseconds(), by a second or more, and
 * none last longer than usual. */
int db_limit_waits(struct db *db, int64_t end_ms, struct error *err);
int db_lock(struct db *db, const char *name, struct error *err);
void db_unlock(struct db *db, const char *name);
struct db_bulk *db_bulk_begin(struct db *db, const char *table, const struct db_column *columns,
                              size_t column_count, size_t key_count, struct error *err);
int db_bulk_row(struct db_bulk *bulk, const struct db_value *row, struct error *err);
int db_bulk_end(struct db_bulk *bulk, struct error *err);
void db_bulk_abandon(struct db_bulk *bulk);

/* Every struct db_rows and struct db_bulk of a driver begins with its session. */
struct db_rows {
    struct db *db;
    bool failed; /* kept by db.c, likewise below */
};
struct db_bulk {
    struct db *db;
    bool failed;
};

/* Add what a DENIED error should say besides: add_grant() or add_role_grant() of the settings'
 * driver, or nothing. */
void db_add_role_grant(struct text *text, const struct db_settings *settings, const char *role);
void db_add_grant(struct text *text, const struct db_settings *settings, const char *privileges,
                  const char *const *columns, const char *table);

/* Shorthand for arguments. */
struct db_value db_null(void);
struct db_value db_integer(int64_t integer);
struct db_value db_unsigned(uint64_t integer);
struct db_value db_real(double real);
struct db_value db_text(const char *text); /* NUL-terminated; NULL is NULL */
struct db_value db_bytes(const char *bytes, size_t length);

/* What a value holds, of the type that its column was asked for as: a text as a copy to be freed,
 * "" for NULL; a real, NAN for NULL; an integer, `otherwise` for NULL. */
char *db_value_text(const struct db_value *value);
double db_value_real(const struct db_value *value);
int64_t db_value_integer(const struct db_value *value, int64_t otherwise);

#endif
