/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_UTIL_ERROR_H
#define FAIRMILL_UTIL_ERROR_H

#include <stdbool.h>

/* Why something failed.
 *
 * A function that can fail returns 0 or -1 and takes a struct error last.
 * Whoever knows the reason says it once, with `return fail(err, ...)`; callers
 * that have nothing to add return -1.  complain() prints it, and main.c exits
 * with the status that error_exit_status() gives. */

enum error_class {
    ERROR_OTHER,    /* exit 1 */
    ERROR_USAGE,    /* the command line is wrong: 64 */
    ERROR_DATA,     /* the source's rows are wrong: 65 */
    ERROR_GONE,     /* a database is down, or went away: 69; worth another try */
    ERROR_RETRY,    /* deadlock, lock wait, serialisation failure: 69 once tries end */
    ERROR_FULL,     /* no room to write: 69 */
    ERROR_LAGGING,  /* the source is a replica that is too far behind: 69 */
    ERROR_LOCKED,   /* another run holds the lock, or published first: 75 */
    ERROR_SETTINGS, /* the settings are wrong: 78 */
    ERROR_LOGIN,    /* the server refuses the login or its password: 78 */
    ERROR_DENIED,   /* a privilege is missing: 78 */
    ERROR_MISSING,  /* a database, table or column is missing: 78 */
    ERROR_DAMAGED,  /* what an earlier run kept is not what it stored: all is to be made anew */
};

struct error {
    enum error_class class;
    bool of_database; /* the words of a database, which may name logins, hosts and files */
    char message[2048];
};

/* Store the reason and return -1.  Messages start in lower case with what failed,
 * hold names in single quotes, and end without a full stop. */
int fail(struct error *err, enum error_class class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put `context: ` before the message that is there; the class stays.  Returns -1. */
int fail_in(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit status of SPEC's list that belongs to this class. */
int error_exit_status(enum error_class class);

#endif
