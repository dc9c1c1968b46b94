/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_STANDING_H
#define FAIRMILL_CORE_INSIGHT_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fairshare/fairshare.h"

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

/* Indexed by node.  The algorithm's order must be the published one (algorithm.h). */
struct standings {
    const struct tree *tree;
    bool by_level;    /* the algorithm ranks users level by level */
    uint32_t users;   /* number of users with a place */
    uint32_t *places; /* place of a user among all users; ties share a place; 0: none */
    uint32_t *owners; /* the fairshare parent, whose level contains the node; the root's is 0 */
    /* Usage divided by share, both within the level.  0 without usage; INFINITY if the node has 0
     * shares, with usage or without; NAN for the root and with `parent` shares. */
    double *ratios;
    /* Number of users of other members of the node's level who are ahead of the node's first
     * user; 0 if there are no levels. */
    uint32_t *ahead;
    uint32_t *below_sorted, *below_first; /* private: the places of the users below each node */
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

struct standings *standings_create(const struct tree *tree, const struct algorithm *algorithm,
                                   const struct values *values, const uint32_t *order);
/* Accepts NULL. */
void standings_destroy(struct standings *standings);

/* Return the number of users with a place at or below a node, and the first and the last of these
 * places.  The places are 0 if there are no such users. */
uint32_t standing_users(const struct standings *standings, uint32_t node);
uint32_t standing_first_place(const struct standings *standings, uint32_t node);
uint32_t standing_last_place(const struct standings *standings, uint32_t node);

/* Finds the levels above a node.  An account has the place of its first user.  The caller frees
 * `standing` with standing_free(). */
void standing_find(const struct standings *standings, uint32_t node, struct standing *standing);
void standing_free(struct standing *standing);

#endif
