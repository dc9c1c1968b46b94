/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_SETTINGS_H
#define FAIRMILL_DB_SETTINGS_H

#include <stdbool.h>

/* Where a database is, what a session with it is for, and what follows from both. */

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

/* Whether a session of this role may write. */
bool db_role_writes(enum db_role role);

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
    const char *login;       /* who the server says that is, for GRANTs; NULL: nobody has asked */
    const char *option_file; /* mysql: an option file, its groups [client] and [fairmill] */
    const char *service;     /* pgsql: an entry of pg_service.conf, for what is not given here */
    enum db_tls tls_mode;
    const char *tls_ca;  /* a file of the authorities that sign servers' certificates */
    unsigned deadline_s; /* no statement lasts longer; waits for locks are shorter */
};

/* Seconds that a wait for a lock, or for a connection, may last under this deadline. */
unsigned db_lock_wait(const struct db_settings *settings);
unsigned db_connect_wait(const struct db_settings *settings);

/* Seconds after which the client gives up by itself, 0: never.  The server ends a statement at the
 * deadline; only if it does not, because it hangs or the network is gone, we leave a little later.
 */
unsigned db_answer_wait(const struct db_settings *settings);

/* Seconds that a session of the results may be idle.  It idles for as long as the
 * source is read, which may take the deadline twice: the last try may begin when it is over.  Its
 * lock should not outlast for long a host that vanished. */
unsigned db_results_idle(const struct db_settings *settings);

/* Whether a text of the settings was given. */
bool db_given(const char *text);

/* Whether the settings lead to this machine, and by a way where the server is told by the operating
 * system who logs in. */
bool db_is_here(const struct db_settings *settings);
bool db_logs_in_by_socket(const struct db_settings *settings);

#endif
