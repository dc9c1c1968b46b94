/* SPDX-License-Identifier: MIT */
#include "results/published_find.h"

#include <stdlib.h>

#include "results/published.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* Maximum number of candidates that a message lists. */
#define CANDIDATES_NAMED 10

struct association_name published_name(const struct published_cluster *cluster, uint32_t node)
{
    const struct node *named = &cluster->tree->nodes[node];
    return (struct association_name){ names_text(cluster->names, named->account),
                                      names_text(cluster->names, named->user),
                                      names_text(cluster->names, named->partition) };
}

/*
 * A search for users and accounts, or for only one of these kinds.  It is limited to associations
 * that `permissions` allow.
 */
struct published_find_search {
    const struct published *published;
    const struct published_cluster *only;
    const char *asked;
    bool accounts_only, users_only;
    const struct permissions *permissions;
    /* The result. */
    struct published_node *all;
    enum name_match best;
    size_t count;           /* associations that match as well as `best` */
    struct text candidates; /* the first few, for the message */
};

static void add_candidate(struct published_find_search *search,
                          const struct published_cluster *cluster, uint32_t node)
{
    search->all = memory_grown(search->all, search->count, sizeof *search->all);
    search->all[search->count] = (struct published_node){ cluster, node };
    if (search->count++ >= CANDIDATES_NAMED)
        return;
    struct association_name name = published_name(cluster, node);
    text_add(&search->candidates, search->candidates.length ? ", '" : "'");
    association_name_add(&search->candidates, &name);
    text_add(&search->candidates, "'");
    if (search->published->count > 1)
        text_format(&search->candidates, " on '%s'", cluster->name);
}

static void published_find_look_at(struct published_find_search *search,
                                   const struct published_cluster *cluster, uint32_t node)
{
    struct association_name name = published_name(cluster, node);
    if ((*name.user ? search->accounts_only : search->users_only) ||
        !permissions_show(search->permissions, cluster->name, name.account, name.user))
        return;
    enum name_match match = association_name_match(&name, search->asked);
    if (match > search->best) {
        search->best = match;
        search->count = 0;
        text_free(&search->candidates);
    }
    if (match != NAME_OTHER && match == search->best)
        add_candidate(search, cluster, node);
}

/* Searches all trees.  Returns true if anything was found. */
static bool published_find_look(struct published_find_search *search, bool accounts_only,
                                const struct permissions *permissions)
{
    search->accounts_only = accounts_only;
    search->permissions = permissions;
    for (size_t i = 0; i < search->published->count; i++) {
        const struct published_cluster *cluster = &search->published->clusters[i];
        if (!cluster->tree || (search->only && cluster != search->only))
            continue;
        for (uint32_t node = 0; node < cluster->tree->count; node++)
            published_find_look_at(search, cluster, node);
    }
    return search->count > 0;
}

static int check_found(const struct published_find_search *search, struct error *err)
{
    if (search->count > CANDIDATES_NAMED)
        return fail(err, ERROR_USAGE, "'%s' is ambiguous: it may be %s, or one of %zu more",
                    search->asked, search->candidates.bytes, search->count - CANDIDATES_NAMED);
    if (search->count > 1)
        return fail(err, ERROR_USAGE, "'%s' is ambiguous: it may be %s", search->asked,
                    search->candidates.bytes);
    return 0;
}

/*
 * Returns true if all matches are associations of users.  All matches have the same name, so they
 * are of one user.
 */
static bool is_of_one_user(const struct published_find_search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (!search->all[i].cluster->tree->nodes[search->all[i].node].is_user)
            return false;
    return true;
}

static int results_published_find(struct published_find_search *search, bool account, bool several,
                                  struct error *err)
{
    const struct permissions *permissions = &search->published->permissions;
    int result = 0;
    if ((account && published_find_look(search, true, permissions)) ||
        published_find_look(search, false, permissions))
        result = several && is_of_one_user(search) ? 0 : check_found(search, err);
    else if (permissions_are_limited(permissions, PRIVATE_USAGE))
        result = permissions_deny(search->asked, err);
    else
        result = name_unknown(published_words(search->published, NULL)->either, search->asked, err);
    text_free(&search->candidates);
    return result;
}

static int published_find_one(struct published_find_search *search, bool account,
                              struct published_node *found, struct error *err)
{
    int result = results_published_find(search, account, false, err);
    if (!result)
        *found = search->all[0];
    free(search->all);
    return result;
}

int published_find(const struct published *published, const struct published_cluster *only,
                   const char *asked, struct published_node *found, struct error *err)
{
    struct published_find_search search = { .published = published, .only = only, .asked = asked };
    return published_find_one(&search, false, found, err);
}

int published_find_account(const struct published *published, const struct published_cluster *only,
                           const char *asked, struct published_node *found, struct error *err)
{
    struct published_find_search search = { .published = published, .only = only, .asked = asked };
    return published_find_one(&search, true, found, err);
}

int published_find_all(const struct published *published, const char *asked,
                       struct published_node **found, size_t *count, struct error *err)
{
    struct published_find_search search = { .published = published, .asked = asked };
    int result = results_published_find(&search, false, true, err);
    *found = search.all;
    *count = search.count;
    return result;
}

int published_find_user(const struct published *published, const char *user,
                        struct published_node **found, size_t *count, struct error *err)
{
    struct published_find_search search = { .published = published,
                                            .asked = user,
                                            .users_only = true };
    bool any = published_find_look(&search, false, &published->permissions);
    const struct terminology *terms = published_words(published, NULL);
    text_free(&search.candidates);
    *found = search.all;
    *count = search.count;
    return any ? 0
               : fail(err, ERROR_USAGE, "%s '%s' has no %s; name a %s", terms->user, user,
                      terms->association, terms->either);
}

static struct wide rounded_down(const struct wide *usage)
{
    struct natural number = natural_of_wide(usage);
    if (!number.length)
        return *usage;
    struct natural power = natural_of(1);
    power = natural_shifted(&power, natural_bits(&number) - 1);
    return wide_of_natural(&power);
}

bool published_round_others(const struct published *published,
                            const struct published_cluster *cluster)
{
    bool any = false;
    for (uint32_t i = 0; i < cluster->tree->count; i++) {
        struct association_name name = published_name(cluster, i);
        if (permissions_show(&published->permissions, cluster->name, name.account, name.user))
            continue;
        cluster->tree->nodes[i].usage = rounded_down(&cluster->tree->nodes[i].usage);
        any = true;
    }
    return any;
}
