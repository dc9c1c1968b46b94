/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DRIVER_H
#define FAIRMILL_DB_DRIVER_H

#include "db/settings.h"
#include "db/value.h"

struct text;

/* A driver is one struct of functions for a database, and what its sessions, rows and bulk writes
 * begin with.  Drivers need nothing of db.h, which calls them. */

#define DB_LAG_UNBOUNDED INT64_MAX

/* A session; every driver's begins with this. */
struct db {
    const struct db_driver *driver;
    const struct db_settings *settings; /* what it was opened with, which must stay */
    enum db_role role;
    char *name;           /* database and server, for messages */
    unsigned lock_wait_s; /* how long it waits for locks; kept by db.c */
    struct db_rows *rows; /* of the query that it is still answering; kept by db.c */
    bool writing;         /* a bulk write is under way; likewise */
};

/* A query: its arguments, and the types of its columns (db/value.h). */
struct db_question {
    const char *sql;
    const struct db_value *arguments;
    size_t argument_count;
    const char *column_types;
    bool has_many_rows; /* a method that costs less for each row may cost more at the start */
};

/* The rows that a query is still handing out; every driver's begin with this. */
struct db_rows {
    struct db *db;
    bool failed; /* kept by db.c */
};

/* A bulk write under way; every driver's begins with this, which describes what it writes to. */
struct db_bulk {
    struct db *db;
    const char *table;
    const struct db_column *columns;
    size_t column_count, key_count; /* the key is the first columns */
    bool failed;                    /* kept by db.c */
};

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
     * what comes after.  `nameless`, ended by NULL: what has no names of users. */
    void (*add_before_tables)(struct text *text, const struct db_settings *results);
    void (*add_after_tables)(struct text *text, const struct db_settings *results,
                             const struct db_table *tables, size_t table_count,
                             const char *const *nameless);
    /* What comes before the GRANTs on the source. */
    void (*add_before_grants)(struct text *text, const struct db_settings *source);
    /* The GRANT that replica_lag() needs; NULL where everybody may ask. */
    void (*add_lag_grant)(struct text *text, const struct db_settings *source);
};

struct db_driver {
    const char *name;

    /* Whether what is gone may come back while we wait: a server may, a file does not. */
    bool comes_back;

    /* Written after a table's name to have the table read in storage order, or by a range of its
     * primary key, but through no other index; "" where there is no such thing.  It is for tables
     * with a primary key only, not for views. */
    const char *scan_hint;

    /* Whether a row is better replaced where it lies (bulk_begin() with a key) than deleted with
     * all others and inserted: the database writes no more than that, and no index. */
    bool updates_in_place;

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

    /* A query without arguments whose one text is who is logged in, as GRANTs name it; NULL where
     * there are no logins. */
    const char *login_query;

    /* A query without arguments: a row with a name and a value for each variable of the server with
     * which it can be no accounting database of Slurm.  NULL where there are none. */
    const char *doubt_query;

    /* A query without arguments: a row with the owner's name if there are result tables whose owner
     * this session is not, nor may be.  NULL where tables have no owners. */
    const char *owner_query;

    /* NULL where a database has no privileges of its own. */
    const struct db_privileges *privileges;

    /* The path, to be freed, of the client library's own file that these settings lead to and that
     * may hold a password; NULL: none.  We never read it. */
    char *(*login_file)(const struct db_settings *settings);

    /* Why a session cannot be encrypted as these settings want it, whatever the server says; NULL
     * where it can.  Asked for modes other than the default. */
    const char *(*tls_objection)(const struct db_settings *settings);

    /* NULL when that failed.  The settings must stay until close(). */
    struct db *(*open)(const struct db_settings *settings, enum db_role role, struct error *err);
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
    struct db_rows *(*query)(struct db *db, const struct db_question *question, struct error *err);
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
    /* Returns a script in words to print for an administrator, to be freed; NULL: as it stands. */
    char *(*fit)(const char *sql);

    /* Wait for other sessions' locks for so many seconds at most from now on, instead of what
     * open() has set.  Outside of transactions only. */
    int (*set_lock_wait)(struct db *db, unsigned seconds, struct error *err);

    /* Take the advisory lock of this name, without waiting; ERROR_LOCKED if another session has
     * it.  It is held until unlock() or until the session ends, however it ends. */
    int (*lock)(struct db *db, const char *name, struct error *err);
    void (*unlock)(struct db *db, const char *name);

    /* Write many rows by the fastest method that leaves the table, its views and grants alone, in
     * the open transaction: a row whose first `key_count` columns equal those of a stored row
     * replaces it, any other row is added; without a key every row is added.  Values of a row
     * are DB_NULL or of their column's type, and no two rows may have the same key.  bulk_row()
     * copies what it keeps of a row; table and columns must stay until the end, and the session
     * does nothing else up to there.  bulk_begin() copies `target`, and returns NULL when it
     * failed.  bulk_send() sends what is left, and is NULL where nothing ever is; bulk_free() sends
     * nothing more. */
    struct db_bulk *(*bulk_begin)(const struct db_bulk *target, struct error *err);
    int (*bulk_row)(struct db_bulk *bulk, const struct db_value *row, struct error *err);
    int (*bulk_send)(struct db_bulk *bulk, struct error *err);
    void (*bulk_free)(struct db_bulk *bulk);
};

/* The drivers; a build may lack some.  Privileges are there in every build. */
extern const struct db_driver mysql_driver;
extern const struct db_driver pgsql_driver;
extern const struct db_driver sqlite_driver;

extern const struct db_privileges mysql_privileges;
extern const struct db_privileges pgsql_privileges;

/* Add the GRANT for who may ask a replica how far it lags, of either server. */
void mysql_add_monitor_grant(struct text *text, const struct db_settings *settings, bool mariadb);

/* Tests clear it to write in bulk as with a library or a server that cannot bind arrays. */
extern bool mysql_binds_arrays;

#endif
