/* SPDX-License-Identifier: MIT */
#include "report/permissions.h"

#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"
#include "util/error.h"

static const struct permissions_scope *scope_on(const struct permissions *permissions,
                                                const char *cluster)
{
    for (size_t i = 0; i < permissions->scope_count; i++)
        if (!strcmp(permissions->scopes[i].cluster, cluster))
            return &permissions->scopes[i];
    return NULL;
}

static int permissions_by_name(const void *a, const void *b)
{
    return strcmp(a, *(char *const *)b);
}

static bool coordinates(const struct permissions_scope *scope, const char *account)
{
    return account && scope->accounts.count &&
           bsearch(account, scope->accounts.values, scope->accounts.count,
                   sizeof *scope->accounts.values, permissions_by_name);
}

/*
 * Returns the private kinds of information on a cluster.  If no run recorded them, because the
 * cluster was forgotten or never published (`scope` is NULL), any kind that is private on another
 * cluster is private.
 */
static unsigned private_on(const struct permissions *permissions,
                           const struct permissions_scope *scope)
{
    unsigned anywhere = permissions->private;
    for (size_t i = 0; i < permissions->scope_count; i++)
        anywhere |= permissions->scopes[i].private;
    return scope ? scope->private : anywhere;
}

/*
 * Returns true if all users on a cluster may be shown.  Privileges on a cluster that is no longer
 * published are not stored.  Such a cluster may be seen by users who see all users on all published
 * clusters.
 */
static bool sees_all_on(const struct permissions *permissions,
                        const struct permissions_scope *scope)
{
    bool all = false;
    if (scope && !scope->is_past)
        return scope->sees_all;
    for (size_t i = 0; i < permissions->scope_count; i++)
        if (!permissions->scopes[i].is_past) {
            if (!permissions->scopes[i].sees_all)
                return false;
            all = true;
        }
    return all;
}

bool permissions_are_limited_on(const struct permissions *permissions, const char *cluster,
                                unsigned kind)
{
    const struct permissions_scope *scope = scope_on(permissions, cluster);
    return permissions->login && (private_on(permissions, scope) & kind) &&
           !sees_all_on(permissions, scope);
}

bool permissions_administer(const struct permissions *permissions, const char *cluster)
{
    return !permissions->login || sees_all_on(permissions, scope_on(permissions, cluster)) ||
           (!permissions->remote && !permissions_are_limited_on(permissions, cluster, PRIVATE_ALL));
}

bool permissions_take_advice(const struct permissions *permissions, const char *cluster)
{
    bool is_user = permissions->login && permissions->reads_only &&
                   !sees_all_on(permissions, scope_on(permissions, cluster));
    return !is_user && permissions_administer(permissions, cluster);
}

static bool sees(const struct permissions *permissions, unsigned kind, const char *cluster,
                 const char *account, const char *user)
{
    if (!permissions || !*user || !permissions_are_limited_on(permissions, cluster, kind) ||
        !strcmp(user, permissions->login))
        return true;
    const struct permissions_scope *scope = scope_on(permissions, cluster);
    return scope && coordinates(scope, account);
}

bool permissions_coordinate(const struct permissions *permissions, const char *cluster,
                            const char *account)
{
    const struct permissions_scope *scope = scope_on(permissions, cluster);
    return scope && coordinates(scope, account);
}

bool permissions_show(const struct permissions *permissions, const char *cluster,
                      const char *account, const char *user)
{
    return sees(permissions, PRIVATE_USAGE, cluster, account, user);
}

bool permissions_show_job(const struct permissions *permissions, const char *cluster,
                          const char *account, const char *user)
{
    return sees(permissions, PRIVATE_JOBS, cluster, account, user);
}

bool permissions_are_limited(const struct permissions *permissions, unsigned kind)
{
    bool limited = false, any = false;
    for (size_t i = 0; i < permissions->scope_count; i++)
        if (!permissions->scopes[i].is_past) {
            any = true;
            limited |= !permissions->scopes[i].sees_all && (permissions->scopes[i].private & kind);
        }
    return permissions->login && (any ? limited : (permissions->private & kind) != 0);
}

const char *permissions_only_login(const struct permissions *permissions)
{
    return permissions_are_limited(permissions, PRIVATE_ALL) ? permissions->login : NULL;
}

int permissions_deny(const char *name, struct error *err)
{
    return fail(err, ERROR_USAGE,
                "data about other users is private on this cluster, and '%s' is neither you nor "
                "an account",
                name);
}

int permissions_check_all(const struct permissions *permissions, const char *cluster,
                          struct error *err)
{
    return (cluster ? permissions_are_limited_on(permissions, cluster, PRIVATE_ALL)
                    : permissions_are_limited(permissions, PRIVATE_ALL))
               ? fail(err, ERROR_USAGE,
                      "data about other users is private on this cluster, so this is for operators "
                      "and administrators")
               : 0;
}

int permissions_check(const struct permissions *permissions, const char *cluster,
                      const char *account, const char *user, struct error *err)
{
    return permissions_show(permissions, cluster, account, user) ? 0 : permissions_deny(user, err);
}

int permissions_check_name(const struct permissions *permissions, unsigned kind, const char *user,
                           struct error *err)
{
    bool coordinator = false;
    for (size_t i = 0; i < permissions->scope_count; i++)
        coordinator |= permissions->scopes[i].accounts.count > 0;
    return coordinator || !permissions_are_limited(permissions, kind) ||
                   !strcmp(user, permissions->login)
               ? 0
               : permissions_deny(user, err);
}

void permissions_free(struct permissions *permissions)
{
    for (size_t i = 0; i < permissions->scope_count; i++) {
        free(permissions->scopes[i].cluster);
        name_list_free(&permissions->scopes[i].accounts);
    }
    free(permissions->scopes);
    free(permissions->login);
    *permissions = (struct permissions){ .login = NULL };
}
