#include "util/name_list.h"
/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_REPORT_VIEWER_H
#define FAIRMILL_REPORT_VIEWER_H

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
struct viewer_scope {
    char *cluster;
    unsigned private; /* PRIVATE_... of settings.h: what is hidden of others there */
    bool is_past;     /* it is published no more: there is history of it, and the ledger */
    bool sees_all;
    struct name_list accounts; /* of a coordinator, in bytewise order, with all below */
};
struct viewer {
    char *login;      /* NULL: everybody may be shown */
    bool remote;      /* a user at the other end of the socket */
    unsigned private; /* what the settings hide on every cluster */
    struct viewer_scope *scopes;
    size_t scope_count;
};

/* A user "" is none, and is shown to everybody; an `account` NULL is not known, and nobody
 * coordinates it.  A viewer NULL sees all. */
bool viewer_sees(const struct viewer *viewer, const char *cluster, const char *account,
                 const char *user);
/* The same of a job. */
bool viewer_sees_job(const struct viewer *viewer, const char *cluster, const char *account,
                     const char *user);
/* Whether anything of this kind (PRIVATE_...) is hidden from the viewer on some cluster that is
 * published. */
bool viewer_is_limited(const struct viewer *viewer, unsigned kind);
/* The same of one cluster, published or not. */
bool viewer_is_limited_on(const struct viewer *viewer, const char *cluster, unsigned kind);
/* Whether the viewer may see what concerns administrators: the reason why a run failed, which names
 * users and logins, and commands that change the cluster.  Users who ask over the socket, and those
 * from whom something is hidden, may not, unless they are operators. */
bool viewer_administers(const struct viewer *viewer, const char *cluster);
/* The viewer's login where that is so; NULL: everybody may be shown. */
const char *viewer_only(const struct viewer *viewer);
/* Refuse (ERROR_USAGE) a user whom the viewer may not see. */
int viewer_check(const struct viewer *viewer, const char *cluster, const char *account,
                 const char *user, struct error *err);
/* Refuse one of whom nothing can be shown in any account.  `kind`: what would be. */
int viewer_check_name(const struct viewer *viewer, unsigned kind, const char *user,
                      struct error *err);
/* Refuse what needs everybody's values on a cluster (NULL: on those that are published) where the
 * viewer may not see them. */
int viewer_check_all(const struct viewer *viewer, const char *cluster, struct error *err);
/* Refuse a name that is nobody's whom the viewer may see: whether it is anybody's is not told. */
int viewer_refuse(const char *name, struct error *err);

void viewer_free(struct viewer *viewer);

#endif
