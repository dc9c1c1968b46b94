/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_RESULTS_PUBLISHED_FIND_H
#define FAIRMILL_RESULTS_PUBLISHED_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct association_name;
struct error;
struct published;
struct published_cluster;
struct text;

/* Users and accounts by NAME (report/selection.h). */

/* An association that was found. */
struct published_node {
    const struct published_cluster *cluster;
    uint32_t node;
};

struct association_name published_name(const struct published_cluster *cluster, uint32_t node);

/* Find a name in the trees that were read, or in one of these only.  ERROR_USAGE where there is
 * none, lists the candidates where there are several, and refuses users who may not be shown. */
int published_find(const struct published *published, const struct published_cluster *only,
                   const char *asked, struct published_node *found, struct error *err);
/* The same where only an account can be meant: users count where no account has that name. */
int published_find_account(const struct published *published, const struct published_cluster *only,
                           const char *asked, struct published_node *found, struct error *err);
/* Like published_find(), but a user may be in several accounts: `*found` gets all associations that
 * the name can mean, if no account is among them; the caller frees it, also on failure. */
int published_find_all(const struct published *published, const char *asked,
                       struct published_node **found, size_t *count, struct error *err);
/* The associations of a user, at least one; the caller frees them, also on failure. */
int published_find_user(const struct published *published, const char *user,
                        struct published_node **found, size_t *count, struct error *err);

/* Round the usage of each user whom the viewer may not see down to a power of two, in the tree that
 * was read; accounts keep theirs.  What is computed from it tells no usage exactly.  Returns
 * whether there is such a user. */
bool published_round_others(const struct published *published,
                            const struct published_cluster *cluster);

#endif
