#include "util/name_list.h"
/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_PERMISSIONS_H
#define FAIRMILL_REPORT_PERMISSIONS_H

#include <stdbool.h>

struct error;

/* Who is told, and of whom: users of accounts and of themselves, coordinators also of their
 * accounts and all below, operators and administrators of all.  So Slurm has it (PrivateData).
 * Whoever reads the tables by the database's own means reads all of them: what is private is kept
 * by who may log in there. */

/* Printed below values that were computed with rounded usage of others. */
#define ROUNDED_NOTE                                                                \
    "Places and FairShare are approximate: usage that you may not see is rounded\n" \
    "down to a power of two.\n"

/* What a viewer may see on a cluster. */
struct permissions_scope {
    char *cluster;
    unsigned private; /* PRIVATE_... of settings.h: what is hidden of others there */
    bool is_past;     /* it is published no more: there is history of it, and the ledger */
    bool sees_all;
    struct name_list accounts; /* of a coordinator, in bytewise order, with all below */
};
struct permissions {
    char *login;      /* NULL: everybody may be shown */
    bool remote;      /* a user at the other end of the socket */
    unsigned private; /* what the settings hide on every cluster */
    struct permissions_scope *scopes;
    size_t scope_count;
};

/* A user "" is none, and is shown to everybody; an `account` NULL is not known, and nobody
 * coordinates it.  A viewer NULL sees all. */
bool permissions_show(const struct permissions *permissions, const char *cluster,
                      const char *account, const char *user);
/* The same of a job. */
bool permissions_show_job(const struct permissions *permissions, const char *cluster,
                          const char *account, const char *user);
/* Whether anything of this kind (PRIVATE_...) is hidden from the viewer on some cluster that is
 * published. */
bool permissions_are_limited(const struct permissions *permissions, unsigned kind);
/* The same of one cluster, published or not. */
bool permissions_are_limited_on(const struct permissions *permissions, const char *cluster,
                                unsigned kind);
/* Whether the viewer may see what concerns administrators: the reason why a run failed, which names
 * users and logins, and commands that change the cluster.  Users who ask over the socket, and those
 * from whom something is hidden, may not, unless they are operators. */
bool permissions_administer(const struct permissions *permissions, const char *cluster);
/* The viewer's login where that is so; NULL: everybody may be shown. */
const char *permissions_only_login(const struct permissions *permissions);
/* Refuse (ERROR_USAGE) a user whom the viewer may not see. */
int permissions_check(const struct permissions *permissions, const char *cluster,
                      const char *account, const char *user, struct error *err);
/* Refuse one of whom nothing can be shown in any account.  `kind`: what would be. */
int permissions_check_name(const struct permissions *permissions, unsigned kind, const char *user,
                           struct error *err);
/* Refuse what needs everybody's values on a cluster (NULL: on those that are published) where the
 * viewer may not see them. */
int permissions_check_all(const struct permissions *permissions, const char *cluster,
                          struct error *err);
/* Refuse a name that is nobody's whom the viewer may see: whether it is anybody's is not told. */
int permissions_deny(const char *name, struct error *err);

void permissions_free(struct permissions *permissions);

#endif
