/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_STANDING_H
#define FAIRMILL_CORE_INSIGHT_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fairshare/fairshare.h"
#include "core/tree/tree.h"

/*
 * The reasons for the places of users.
 *
 * Fair Tree orders the users level by level.  The members of a level are the children of an
 * account; an account with `parent` shares is replaced by its own children.  On each level of the
 * path to a user, some other members are ahead, and with them the users below them.  The numbers of
 * these users, added up over the levels, are the user's place minus 1.
 *
 * With other algorithms a user has a place, but there are no levels.
 */

/* The places of the users at or below an association, among all users of the cluster.  The place 1
 * is the best, and ties share a place. */
struct user_places {
    uint32_t users;       /* number of users with a place; the other members are 0 without them */
    uint32_t first, last; /* the best and the last place */
    /* A user elsewhere has a place from `first` up to, but not including, `last`.  If there is no
     * such user, P - first of the users are ahead of the one at place P. */
    bool interleaved;
};

/* Returns the places of the users at or below each node, indexed by node.  The order is that of
 * order_of_all().  The caller frees the array. */
struct user_places *user_places_create(const struct tree *tree, const uint32_t *order);

/* Indexed by node. */
struct standings {
    const struct tree *tree;
    bool by_level;  /* the algorithm ranks users level by level */
    uint32_t users; /* number of users with a place */
    struct user_places *below;
    uint32_t *owners; /* the fairshare parent, whose level contains the node; the root's is 0 */
    /* Usage divided by share, both within the level.  0 without usage; INFINITY if the node has 0
     * shares, with usage or without; NAN for the root and with `parent` shares. */
    double *ratios;
    /* Number of users of other members of the node's level who are ahead of the node's first
     * user; 0 if there are no levels, and in a part of a tree. */
    uint32_t *ahead;
    /* Private: the places of the users below each node, or NULL if no node needs them. */
    uint32_t *lists, *list_first;
};

/* One level of the path to a node. */
struct standing_step {
    uint32_t owner, member; /* the level's account, and its member on the path */
    double ratio;           /* of the member, as in standings.ratios */
    uint32_t ahead;         /* users of the other members who are ahead of the node */
    /* Position of the member among the level's members, by ratio.  The lowest ratio has position 1.
     * An account with `parent` shares is not a member of a level; its position is 0. */
    uint32_t position, members;
};
struct standing {
    struct standing_step *steps; /* from the root down; `count` is 0 if there are no levels */
    size_t count;
};

/* Creates the standings of a whole tree.  The algorithm's order must be the published one
 * (algorithm.h). */
struct standings *standings_create(const struct tree *tree, const struct algorithm *algorithm,
                                   const struct values *values, const uint32_t *order);
/* Creates the standings of a part of a tree from the stored places of its nodes.  The part has all
 * members of the levels that it contains, but not everything below these members.
 * standings_part_has() returns true if standing_find() then finds the same levels above `node` as
 * in the whole tree, and if the standings have the same places. */
struct standings *standings_create_part(const struct tree *tree, const struct algorithm *algorithm,
                                        const struct values *values,
                                        const struct user_places *stored);
bool standings_part_has(const struct tree *tree, const struct algorithm *algorithm,
                        const struct user_places *stored, uint32_t node);
/* Accepts NULL. */
void standings_destroy(struct standings *standings);

/* Returns the place of a user, or 0 if the node is an account or has no place. */
static inline uint32_t standing_place(const struct standings *standings, uint32_t node)
{
    return standings->tree->nodes[node].is_user ? standings->below[node].first : 0;
}

/* Finds the levels above a node.  An account has the place of its first user.  The caller frees
 * `standing` with standing_free(). */
void standing_find(const struct standings *standings, uint32_t node, struct standing *standing);
void standing_free(struct standing *standing);

#endif
