/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_ERROR_H
#define FAIRMILL_UTIL_ERROR_H

#include <stdbool.h>

/*
 * The reason for a failure.
 *
 * A function that can fail returns 0 on success and -1 on failure, and takes a struct error as its
 * last parameter.  The function that knows the reason stores it with `return fail(err, ...)`.
 * Callers that have nothing to add return -1.  complain() prints the message, and main.c exits with
 * the status that error_exit_status() returns.
 */

/* The number after the colon is the exit status. */
enum error_class {
    ERROR_OTHER,    /* any other error: 1 */
    ERROR_USAGE,    /* invalid command line: 64 */
    ERROR_DATA,     /* invalid rows in the accounting database: 65 */
    ERROR_GONE,     /* a database is down or the connection was lost: 69; may be retried */
    ERROR_RETRY,    /* deadlock, lock timeout, serialization failure: 69 after the last retry */
    ERROR_FULL,     /* no space left to write: 69 */
    ERROR_LAGGING,  /* the accounting database is a replica that lags too far: 69 */
    ERROR_LOCKED,   /* another run holds the lock or published first: 75 */
    ERROR_SETTINGS, /* invalid settings: 78 */
    ERROR_LOGIN,    /* the server rejects the login or its password: 78 */
    ERROR_DENIED,   /* a privilege is missing: 78 */
    ERROR_MISSING,  /* a database, table or column is missing: 78 */
    ERROR_VERSION,  /* tables or a driver are of another version, as during an upgrade: 78 */
    ERROR_DAMAGED,  /* stored state does not match its hash and must be rebuilt: 1 */
};

struct error {
    enum error_class class;
    bool of_database; /* the message is from a database; may contain logins, hosts and files */
    char message[2048];
};

/*
 * Stores the reason in `err` and returns -1.  Truncates messages that are longer than err->message.
 * A message starts in lower case and names the operation that failed.  It has names in single
 * quotes, and ends without a full stop.
 */
int fail(struct error *err, enum error_class class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Puts the formatted text and `: ` before the message in `err`.  Does not change the class.
 * Returns -1.
 */
int fail_in(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the exit status for an error of this class; see fairmill(8). */
int error_exit_status(enum error_class class);

#endif
