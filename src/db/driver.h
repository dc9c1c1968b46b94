/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_DRIVER_H
#define FAIRMILL_DB_DRIVER_H

#include "db/settings.h"
#include "db/value.h"

struct text;

/*
 * A driver has two parts for one database system: a struct db_driver, which describes the database
 * system and is always in the program, and a struct of functions for sessions.  The functions of
 * SQLite are in the program.  Those of other database systems are in modules, so that only programs
 * that open a session load the client library.  This header also declares the common parts of all
 * drivers' sessions, rows and bulk writes.  The functions of db.h call the drivers, and drivers do
 * not use db.h.
 */

#define DB_LAG_UNBOUNDED INT64_MAX

/* A session.  Each driver's own struct begins with this struct. */
struct db {
    const struct db_driver *driver;       /* set by db.c */
    const struct db_functions *functions; /* set by db.c */
    const struct db_settings *settings;   /* as passed to open(); must outlive the session */
    enum db_role role;
    char *name;                 /* database and server, for messages */
    unsigned lock_wait_s;       /* current lock timeout; set by db.c */
    struct db_rows *rows;       /* rows of the query in progress, or NULL; set by db.c */
    bool writing;               /* a bulk write is in progress; set by db.c */
    struct db_started *started; /* statement in a thread, or NULL; set by started.c */
};

/* A query, its arguments and the types of its columns (db/value.h). */
struct db_question {
    const char *sql;
    const struct db_value *arguments;
    size_t argument_count;
    const char *column_types;
    /* Prefer a method that is faster for each row, even if the query takes longer to start. */
    bool has_many_rows;
};

/* The rows of a query in progress.  Each driver's own struct begins with this struct. */
struct db_rows {
    struct db *db;
    bool failed; /* set by db.c */
};

/*
 * A bulk write in progress, with a description of its target.  Each driver's own struct begins with
 * this struct.
 */
struct db_bulk {
    struct db *db;
    const char *table;
    const struct db_column *columns;
    size_t column_count, key_count; /* the first `key_count` columns are the key */
    bool failed;                    /* set by db.c */
};

/*
 * SQL that grants access to a database.  fairmill only prints this SQL, for an administrator to
 * read and run.  The functions add the SQL to `text`.
 */
struct db_table {
    char *name;
    /* The role that writes results may insert rows, but not update or delete them. */
    bool only_grows;
};
struct db_privileges {
    /* Adds the GRANT of `privileges` on a table to the login of the settings.  `columns`, an
     * array that ends with NULL, limits the GRANT to these columns.  If `columns` is NULL, the
     * GRANT is for the whole table. */
    void (*add_grant)(struct text *text, const struct db_settings *settings, const char *privileges,
                      const char *const *columns, const char *table);
    /* Adds the GRANT to connect to the database.  NULL if a login with privileges on one of its
     * tables may always connect. */
    void (*add_connect_grant)(struct text *text, const struct db_settings *settings);
    /* Adds the GRANT of a role, such as fairmill_writer, to the login of the settings. */
    void (*add_role_grant)(struct text *text, const struct db_settings *settings, const char *role);
    /* Add the statements that create the database of the results and its roles.  The first adds the
     * statements to run before the result tables are created, and the second the statements to run
     * afterwards.  `nameless`, an array that ends with NULL, lists the tables and views without
     * user names. */
    void (*add_before_tables)(struct text *text, const struct db_settings *results);
    void (*add_after_tables)(struct text *text, const struct db_settings *results,
                             const struct db_table *tables, size_t table_count,
                             const char *const *nameless);
    /* Adds the statements that must precede the GRANTs on the accounting database. */
    void (*add_before_grants)(struct text *text, const struct db_settings *source);
    /* Adds the GRANT that replica_lag() needs.  NULL if every login may query the lag. */
    void (*add_lag_grant)(struct text *text, const struct db_settings *source);
};

struct db_driver {
    const char *name;

    /* The functions, if they are in the program; NULL if they are in the driver's module. */
    const struct db_functions *functions;

    /* True if a database that cannot be reached may return during the run: true for a server, false
     * for a file. */
    bool comes_back;

    /* SQL to write after a table's name.  The hint makes the database read the table in storage
     * order or by a range of its primary key, and use no other index.  "" if the database system
     * has no such hint.  Use it only for tables with a primary key, not for views. */
    const char *scan_hint;

    /* True if the database system has replicas, so that `max_lag` has a meaning. */
    bool has_replicas;

    /* True if it is cheaper to replace single rows (bulk_begin() with a key) than to delete all
     * rows and insert them again.  Replacing then writes only the replaced rows, and no index. */
    bool updates_in_place;

    /* A query with one argument, a table's name.  It returns one row, with the column's name, for
     * each column of the table.  It returns no row if the table does not exist or cannot be read.
     */
    const char *columns_query;

    /* Limits for table names.  The first two are the maximum lengths in bytes and in characters; 0
     * means no limit.  `name_is_basic` is true if a name cannot contain characters above U+FFFF. */
    size_t name_bytes, name_characters;
    bool name_is_basic;

    /* A query without arguments.  It returns one text that identifies this database by its server
     * and its name, and does not depend on the login. */
    const char *identity_query;

    /* A query without arguments.  It returns one text, the login of the session in the form that
     * GRANT uses.  NULL for a database system without logins. */
    const char *login_query;

    /* A query without arguments.  It returns a row of name and value for each server variable whose
     * value makes the server unsuitable for Slurm's accounting database.  NULL if there are no such
     * variables. */
    const char *doubt_query;

    /* A query without arguments.  It returns a row with the owner's name if the result tables
     * belong to a role of which the login is not a member.  NULL for a database system whose
     * tables do not have owners. */
    const char *owner_query;

    /* NULL if the database system has no privileges of its own. */
    const struct db_privileges *privileges;

    /* Returns the path of the client library's own file that these settings use, or NULL if they
     * use none.  The file may contain a password, and fairmill never reads it.  The caller frees
     * the path.  The function is NULL if the library has no such file. */
    char *(*login_file)(const struct db_settings *settings);

    /* Returns the reason why a session with these settings cannot use the requested encryption,
     * whatever the server offers.  Returns NULL if there is no such reason.  Called only if
     * tls_mode is not the default. */
    const char *(*tls_objection)(const struct db_settings *settings);

    /* Returns a copy of a script for an administrator to run, adapted to this database system; the
     * caller frees the copy.  NULL if scripts need no change. */
    char *(*fit)(const char *sql);
};

/* The functions for sessions.  They need the client library. */
struct db_functions {
    /* Opens a session, or returns NULL.  The settings must stay valid until close(). */
    struct db *(*open)(const struct db_settings *settings, enum db_role role, struct error *err);
    void (*close)(struct db *db);

    /* After a failure inside a transaction, only rollback() is certain to work. */
    int (*begin)(struct db *db, struct error *err);
    int (*commit)(struct db *db, struct error *err);
    void (*rollback)(struct db *db);

    /* Sets *lag_s to the maximum lag, in seconds, of a snapshot that begins now, relative
     * to the database that this one replicates.  Sets *lag_s to 0 if this database is not a
     * replica, and to DB_LAG_UNBOUNDED if the server does not know a maximum.  Must be called
     * outside of transactions.  NULL for a database system without replicas. */
    int (*replica_lag)(struct db *db, int64_t *lag_s, struct error *err);

    /* Starts a query, or returns NULL.  Rows are streamed: memory use does not grow with their
     * number.  A session can run one query at a time.  finish() ends the query, even if not all
     * rows were fetched. */
    struct db_rows *(*query)(struct db *db, const struct db_question *question, struct error *err);
    /* Returns 1 if it sets *row to the next row, 0 after the last row, or -1 on error.  The row and
     * its texts are valid until the next fetch() or finish(). */
    int (*fetch)(struct db_rows *rows, const struct db_value **row, struct error *err);
    void (*finish)(struct db_rows *rows);

    /* Runs one statement that returns no rows.  Sets *changed (may be NULL) to the number of rows
     * that the WHERE clause matched, even if their values did not change. */
    int (*execute)(struct db *db, const char *sql, const struct db_value *arguments,
                   size_t argument_count, int64_t *changed, struct error *err);

    /* Called first and last in a thread that executes a statement in a session that another thread
     * opened.  enter_thread() returns false if the library does not allow this.  NULL if the
     * library needs no such calls. */
    bool (*enter_thread)(void);
    void (*leave_thread)(void);

    /* Runs several DDL statements, each ended by a semicolon at the end of a line. */
    int (*script)(struct db *db, const char *sql, struct error *err);

    /* From now on, limits each wait for another session's lock to `seconds`.  This limit replaces
     * the limit that open() set.  Must be called outside of transactions. */
    int (*set_lock_wait)(struct db *db, unsigned seconds, struct error *err);

    /* Takes an advisory lock without waiting.  Fails with ERROR_LOCKED if another session holds it.
     * The lock is held until unlock() or the end of the session, however it ends. */
    int (*lock)(struct db *db, const char *name, struct error *err);
    void (*unlock)(struct db *db, const char *name);

    /* Writes many rows in the open transaction, by the fastest method that keeps the table, its
     * views and its grants.  A row replaces the stored row that has the same values in the first
     * `key_count` columns; if no such row exists, the new row is added.  Without a key, every row
     * is added.
     *
     * Each value must be DB_NULL or have its column's type, and no two rows may have the same key.
     * `table` and `columns` must stay valid until bulk_free().  Until then, the session must not be
     * used for anything else.
     *
     *   - `bulk_begin` copies `target`, and returns NULL on failure.
     *   - `bulk_row` copies the values it keeps.
     *   - `bulk_send` sends the remaining rows; NULL if bulk_row() sends each row at once.
     *   - `bulk_free` frees the bulk write and sends no more rows. */
    struct db_bulk *(*bulk_begin)(const struct db_bulk *target, struct error *err);
    int (*bulk_row)(struct db_bulk *bulk, const struct db_value *row, struct error *err);
    int (*bulk_send)(struct db_bulk *bulk, struct error *err);
    void (*bulk_free)(struct db_bulk *bulk);
};

/*
 * What a module exports, under the name NAME_module.  The functions are used only if the version is
 * that of the program, so `version` must remain the first member.
 */
struct db_module {
    const char *version;
    struct db_functions functions;
};
#define DB_EXPORTED __attribute__((visibility("default")))
extern const struct db_module mysql_module DB_EXPORTED;
extern const struct db_module pgsql_module DB_EXPORTED;

/*
 * A build may lack some of the drivers.  The structs of privileges are in every build, because they
 * only write SQL and need no client library.
 */
extern const struct db_driver mysql_driver;
extern const struct db_driver pgsql_driver;
extern const struct db_driver sqlite_driver;

extern const struct db_privileges mysql_privileges;
extern const struct db_privileges pgsql_privileges;

/*
 * Adds the GRANT that lets the login of the settings query a replica's lag.  The privilege
 * depends on the server: MariaDB or MySQL.
 */
void mysql_add_monitor_grant(struct text *text, const struct db_settings *settings, bool mariadb);

/*
 * Adds a script to `text`, with `definer` in place of the SQL SECURITY clause of each view, for
 * MariaDB and MySQL.  mysql_definer is that clause.
 */
extern const char mysql_definer[];
void mysql_add_defined(struct text *text, const char *sql, const char *definer);

/*
 * Tests set this variable to false, so that bulk writes work as with a library or a server that
 * cannot bind arrays.
 */
extern bool mysql_binds_arrays;

#endif
