#include "util/name_list.h"
/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PERMISSIONS_H
#define FAIRMILL_REPORT_PERMISSIONS_H

#include <stdbool.h>

struct error;

/*
 * Permissions of the requesting user.
 *
 * As with Slurm's PrivateData, users may see accounts and themselves.  Coordinators may also see
 * the users in and below their accounts.  Operators and administrators may see all users.
 *
 * These rules hold for fairmill's commands only.  A login that can read the tables can read all of
 * them, so access to the database must be restricted there.
 */

/* Printed below values that were computed from rounded usage of hidden users. */
#define ROUNDED_NOTE                                                                \
    "Places and FairShare are approximate: usage that you may not see is rounded\n" \
    "down to a power of two.\n"

/* The permissions on one cluster. */
struct permissions_scope {
    char *cluster;
    unsigned private; /* kinds of information hidden about other users: PRIVATE_... of settings.h */
    bool is_past;     /* no longer published; only its history and ledger remain */
    bool sees_all;
    struct name_list accounts; /* coordinated accounts and all below them, in bytewise order */
};
struct permissions {
    char *login;      /* the requesting user; NULL: all users may be shown */
    bool remote;      /* the request came through the socket */
    bool reads_only;  /* the settings have no accounting database, as in reader.conf */
    unsigned private; /* hidden on every cluster by the settings */
    struct permissions_scope *scopes;
    size_t scope_count;
};

/*
 * Returns true if the usage of `user` in `account` may be shown.  A `user` of "" means the account
 * itself, which may always be shown.  If `account` is NULL (unknown), coordinators may not see it.
 * If `permissions` is NULL, all may be shown.
 */
bool permissions_show(const struct permissions *permissions, const char *cluster,
                      const char *account, const char *user);
/* Returns true if the requesting user coordinates `account` or an account above it. */
bool permissions_coordinate(const struct permissions *permissions, const char *cluster,
                            const char *account);
/* Like permissions_show(), but for jobs. */
bool permissions_show_job(const struct permissions *permissions, const char *cluster,
                          const char *account, const char *user);
/*
 * Returns true if information of this kind (PRIVATE_...) is hidden on any published cluster.  If
 * none is published, the settings decide.
 */
bool permissions_are_limited(const struct permissions *permissions, unsigned kind);
/* Returns true if information of this kind is hidden on `cluster`, published or not. */
bool permissions_are_limited_on(const struct permissions *permissions, const char *cluster,
                                unsigned kind);
/*
 * Returns true if information for administrators may be shown: the reason why a run failed, which
 * names users and logins.  It is hidden from users of the socket and from users with limited
 * permissions, unless they are operators.
 */
bool permissions_administer(const struct permissions *permissions, const char *cluster);
/*
 * Returns true if advice for administrators helps the requesting user: commands that change the
 * cluster or its values.  In addition to permissions_administer(), users of reader.conf get none,
 * unless they are operators.
 */
bool permissions_take_advice(const struct permissions *permissions, const char *cluster);
/*
 * Returns the login if anything is hidden on any published cluster.  Otherwise returns NULL: all
 * users may be shown.
 */
const char *permissions_only_login(const struct permissions *permissions);
/* Returns -1 with ERROR_USAGE if permissions_show() does not allow this user. */
int permissions_check(const struct permissions *permissions, const char *cluster,
                      const char *account, const char *user, struct error *err);
/*
 * For a request that names a user but no account.  Returns -1 with ERROR_USAGE if information of
 * this kind is hidden on a published cluster, and the requesting user is neither `user` nor a
 * coordinator of any account.
 */
int permissions_check_name(const struct permissions *permissions, unsigned kind, const char *user,
                           struct error *err);
/*
 * Returns -1 with ERROR_USAGE if anything is hidden on `cluster`, or on any published cluster if it
 * is NULL.  For requests that need the values of all users.
 */
int permissions_check_all(const struct permissions *permissions, const char *cluster,
                          struct error *err);
/*
 * Fails with ERROR_USAGE because the name may not be shown; always returns -1.  The message does
 * not reveal whether the name exists.
 */
int permissions_deny(const char *name, struct error *err);

void permissions_free(struct permissions *permissions);

#endif
