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
    DB_SOURCE, /* reads the accounting database and cannot write. begin() opens a read-only snapshot
                  for all queries up to commit(). If a table is altered during the snapshot, a query
                  or, at the latest, commit() fails with ERROR_RETRY */
    DB_RESULTS, /* reads and writes the results. begin() opens a READ COMMITTED transaction (in
                   SQLite one that already holds the write lock) */
    DB_READER,  /* reads the results. begin() opens a read-only snapshot */
    DB_OWNER,   /* as DB_RESULTS; may also create tables and, in SQLite, the file */
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
    DB_TLS_VERIFY_CA,   /* as REQUIRED, and a CA in tls_ca signed the certificate */
    DB_TLS_VERIFY_FULL, /* as VERIFY_CA, and the certificate names the host */
};
/* The names of the modes, ended by NULL. */
extern const char *const db_tls_names[];

/* The address of a database and the login.  A text that was not given is NULL or "". */
struct db_settings {
    const char *driver;   /* "mysql", "pgsql", "sqlite" */
    const char *host;     /* NULL: the local socket */
    unsigned port;        /* 0: the driver's default */
    const char *socket;   /* path of a unix socket; for pgsql, of its directory */
    const char *database; /* a name; for sqlite, a path */
    const char *user;     /* NULL: the login of this process */
    const char
        *login; /* the server's name for the account, for GRANTs; NULL if it was not queried */
    const char
        *option_file;    /* mysql: an option file; its groups [client] and [fairmill] are read */
    const char *service; /* pgsql: an entry of pg_service.conf, for values not given here */
    enum db_tls tls_mode;
    const char *tls_ca;  /* file of the CAs that sign servers' certificates */
    unsigned deadline_s; /* time limit of a statement, in seconds; waits for locks are shorter; 0:
                            no limit */
};

/* Return the maximum time, in seconds, of a wait for a lock and of a connection attempt. */
unsigned db_lock_wait(const struct db_settings *settings);
unsigned db_connect_wait(const struct db_settings *settings);

/*
 * Returns the time in seconds after which the client gives up, or 0 for never.  The server ends a
 * statement at the deadline.  The client's limit is a little later, and is needed only if the
 * server hangs or the network fails.
 */
unsigned db_answer_wait(const struct db_settings *settings);

/*
 * Returns the time in seconds that a session of the results may be idle.  It is idle while the
 * source is read.  That may take twice the deadline, because the last attempt may begin when the
 * first deadline has passed.  The limit is not longer, so that the lock of a host that vanished is
 * soon released.
 */
unsigned db_results_idle(const struct db_settings *settings);

/* Returns true if a text of the settings was given. */
bool db_given(const char *text);

/*
 * The first returns true if the settings lead to this machine.  The second returns true if they
 * lead to a unix socket, so that the server gets the account from the operating system.
 */
bool db_is_here(const struct db_settings *settings);
bool db_logs_in_by_socket(const struct db_settings *settings);

#endif
