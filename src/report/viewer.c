/* SPDX-License-Identifier: MIT */
#include "report/viewer.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "util/error.h"

static const struct viewer_scope *scope_on(const struct viewer *viewer, const char *cluster)
{
    for (size_t i = 0; i < viewer->scope_count; i++)
        if (!strcmp(viewer->scopes[i].cluster, cluster))
            return &viewer->scopes[i];
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, *(char *const *)b);
}

static bool coordinates(const struct viewer_scope *scope, const char *account)
{
    return account && scope->accounts.count &&
           bsearch(account, scope->accounts.values, scope->accounts.count,
                   sizeof *scope->accounts.values, by_name);
}

/* What is private on a cluster.  Where no run recorded it (`scope` NULL: the cluster was forgotten,
 * or never published), everything is private that is so on any other cluster. */
static unsigned private_on(const struct viewer *viewer, const struct viewer_scope *scope)
{
    unsigned anywhere = viewer->private;
    for (size_t i = 0; i < viewer->scope_count; i++)
        anywhere |= viewer->scopes[i].private;
    return scope ? scope->private : anywhere;
}

/* Whether the viewer may see everybody on a cluster.  Privileges are not kept of a cluster that is
 * published no more: who sees all of the published ones sees all of it. */
static bool sees_all_on(const struct viewer *viewer, const struct viewer_scope *scope)
{
    bool all = false;
    if (scope && !scope->is_past)
        return scope->sees_all;
    for (size_t i = 0; i < viewer->scope_count; i++)
        if (!viewer->scopes[i].is_past) {
            if (!viewer->scopes[i].sees_all)
                return false;
            all = true;
        }
    return all;
}

bool viewer_is_limited_on(const struct viewer *viewer, const char *cluster, unsigned kind)
{
    const struct viewer_scope *scope = scope_on(viewer, cluster);
    return viewer->login && (private_on(viewer, scope) & kind) && !sees_all_on(viewer, scope);
}

bool viewer_administers(const struct viewer *viewer, const char *cluster)
{
    return !viewer->login || sees_all_on(viewer, scope_on(viewer, cluster)) ||
           (!viewer->remote && !viewer_is_limited_on(viewer, cluster, PRIVATE_ALL));
}

static bool sees(const struct viewer *viewer, unsigned kind, const char *cluster,
                 const char *account, const char *user)
{
    if (!viewer || !*user || !viewer_is_limited_on(viewer, cluster, kind) ||
        !strcmp(user, viewer->login))
        return true;
    const struct viewer_scope *scope = scope_on(viewer, cluster);
    return scope && coordinates(scope, account);
}

bool viewer_sees(const struct viewer *viewer, const char *cluster, const char *account,
                 const char *user)
{
    return sees(viewer, PRIVATE_USAGE, cluster, account, user);
}

bool viewer_sees_job(const struct viewer *viewer, const char *cluster, const char *account,
                     const char *user)
{
    return sees(viewer, PRIVATE_JOBS, cluster, account, user);
}

bool viewer_is_limited(const struct viewer *viewer, unsigned kind)
{
    bool limited = false, any = false;
    for (size_t i = 0; i < viewer->scope_count; i++)
        if (!viewer->scopes[i].is_past) {
            any = true;
            limited |= !viewer->scopes[i].sees_all && (viewer->scopes[i].private & kind);
        }
    return viewer->login && (any ? limited : (viewer->private & kind) != 0);
}

const char *viewer_only(const struct viewer *viewer)
{
    return viewer_is_limited(viewer, PRIVATE_ALL) ? viewer->login : NULL;
}

int viewer_refuse(const char *name, struct error *err)
{
    return fail(err, ERROR_USAGE,
                "what users have is private here ([report] private), and '%s' is not you, nor an "
                "account",
                name);
}

int viewer_check_all(const struct viewer *viewer, const char *cluster, struct error *err)
{
    return (cluster ? viewer_is_limited_on(viewer, cluster, PRIVATE_ALL)
                    : viewer_is_limited(viewer, PRIVATE_ALL))
               ? fail(err, ERROR_USAGE,
                      "what users have is private here ([report] private), and you may not see all")
               : 0;
}

int viewer_check(const struct viewer *viewer, const char *cluster, const char *account,
                 const char *user, struct error *err)
{
    return viewer_sees(viewer, cluster, account, user) ? 0 : viewer_refuse(user, err);
}

int viewer_check_name(const struct viewer *viewer, unsigned kind, const char *user,
                      struct error *err)
{
    bool coordinator = false;
    for (size_t i = 0; i < viewer->scope_count; i++)
        coordinator |= viewer->scopes[i].accounts.count > 0;
    return coordinator || !viewer_is_limited(viewer, kind) || !strcmp(user, viewer->login)
               ? 0
               : viewer_refuse(user, err);
}

void viewer_free(struct viewer *viewer)
{
    for (size_t i = 0; i < viewer->scope_count; i++) {
        free(viewer->scopes[i].cluster);
        name_list_free(&viewer->scopes[i].accounts);
    }
    free(viewer->scopes);
    free(viewer->login);
    *viewer = (struct viewer){ .login = NULL };
}
