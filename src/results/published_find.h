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

/* Finds users and accounts by NAME (report/selection.h). */

/* An association that was found. */
struct published_node {
    const struct published_cluster *cluster;
    uint32_t node;
};

struct association_name published_name(const struct published_cluster *cluster, uint32_t node);

/*
 * Finds a name in all trees that were read, or only in the tree of `only`.  Fails with ERROR_USAGE
 * if no association matches, if several match (the message lists them), or if the user must not be
 * shown.
 */
int published_find(const struct published *published, const struct published_cluster *only,
                   const char *asked, struct published_node *found, struct error *err);

/* Works as published_find(), but searches users only if no account has that name. */
int published_find_account(const struct published *published, const struct published_cluster *only,
                           const char *asked, struct published_node *found, struct error *err);

/*
 * Finds a name that may match one user in several accounts.  Sets `*found` to all associations that
 * the name can mean.  If several associations match and one of them is an account, fails like
 * published_find().  The caller frees `*found`, even on failure.
 */
int published_find_all(const struct published *published, const char *asked,
                       struct published_node **found, size_t *count, struct error *err);

/*
 * Sets `*found` to the associations of a user in all trees that were read, and `*count` to their
 * number.  Fails with ERROR_USAGE if the requesting user can see none.  The caller frees `*found`,
 * even on failure.
 */
int published_find_user(const struct published *published, const char *user,
                        struct published_node **found, size_t *count, struct error *err);

/*
 * Rounds usage down to a power of two for each user hidden from the requesting user, in the tree
 * that was read.  The usage of accounts does not change.  Values that are computed from the rounded
 * usage do not reveal the exact usage.  Returns true if any user is hidden.
 */
bool published_round_others(const struct published *published,
                            const struct published_cluster *cluster);

#endif
