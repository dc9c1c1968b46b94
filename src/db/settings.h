/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_DB_SETTINGS_H
#define FAIRMILL_DB_SETTINGS_H

#include <stdbool.h>

/*
 * The address of a database, the purpose of a session with it, and the time limits and login method
 * that follow from these.
 */

/* The purpose of a session. */
enum db_role {
    /* Reads the accounting database and cannot write.  begin() opens a read-only snapshot for all
     * queries up to commit().  If a table is altered during the snapshot, a query or, at the
     * latest, commit() fails with ERROR_RETRY. */
    DB_SOURCE,
    /* Reads and writes the results.  begin() opens a READ COMMITTED transaction, which in SQLite
     * already holds the write lock. */
    DB_RESULTS,
    /* Reads the results.  begin() opens a read-only snapshot. */
    DB_READER,
    /* As DB_RESULTS.  May also create tables and, in SQLite, the file. */
    DB_OWNER,
};

/* Returns true if sessions of this role may write. */
bool db_role_writes(enum db_role role);

/*
 * The encryption of a session.  A driver that cannot provide a mode rejects it and never uses a
 * weaker one.
 */
enum db_tls {
    DB_TLS_DEFAULT,     /* the default of the client library or of its configuration files */
    DB_TLS_OFF,         /* not encrypted */
    DB_TLS_REQUIRED,    /* encrypted; the server's certificate is not checked */
    DB_TLS_VERIFY_CA,   /* as REQUIRED; a CA in tls_ca must have signed the certificate */
    DB_TLS_VERIFY_FULL, /* as VERIFY_CA; the certificate must name the host */
};
/* The names of the modes, ended by NULL. */
extern const char *const db_tls_names[];

/* The address of a database and the login.  A text that was not given is NULL or "". */
struct db_settings {
    const char *driver;   /* "mysql", "pgsql", "sqlite" */
    const char *host;     /* NULL means the local socket */
    unsigned port;        /* 0 means the driver's default */
    const char *socket;   /* path of a unix socket; for pgsql, of its directory */
    const char *database; /* a name; for sqlite, a path */
    const char *user;     /* NULL means the user of this process */
    /* The login as the server names it, for GRANTs; NULL if it was not queried. */
    const char *login;
    /* mysql: an option file, of which the groups [client] and [fairmill] are read. */
    const char *option_file;
    const char *service; /* pgsql: an entry of pg_service.conf, for values not given here */
    enum db_tls tls_mode;
    const char *tls_ca; /* file of the CAs that sign servers' certificates */
    /* Time limit of a statement, in seconds; 0 means no limit.  Waits for locks are shorter. */
    unsigned deadline_s;
};

/* Return the maximum time, in seconds, of a wait for a lock and of a connection attempt. */
unsigned db_lock_wait(const struct db_settings *settings);
unsigned db_connect_wait(const struct db_settings *settings);

/*
 * Returns the time, in seconds, for which the client waits for the result of a statement.  0 means
 * no limit.  The server ends a statement at the deadline.  The client's limit is at most five
 * seconds later, and is needed only if the server hangs or the network fails.
 */
unsigned db_answer_wait(const struct db_settings *settings);

/*
 * Returns the time, in seconds, for which a session of the results may be idle.  The session is
 * idle while the accounting database is read.  Reading may take twice the deadline, because the
 * last attempt may begin at the deadline and may itself take that long.  The limit is only a minute
 * longer, so that the lock of a host that has failed is soon released.
 */
unsigned db_results_idle(const struct db_settings *settings);

/* Returns true if a text of the settings is neither NULL nor "". */
bool db_given(const char *text);

/*
 * The first returns true if `host` is not set or names this host.  The second returns true if the
 * connection is certain to use a unix socket, so that the server can get the user from the
 * operating system.
 */
bool db_is_here(const struct db_settings *settings);
bool db_logs_in_by_socket(const struct db_settings *settings);

#endif
