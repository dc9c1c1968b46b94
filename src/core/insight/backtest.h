/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_BACKTEST_H
#define FAIRMILL_CORE_INSIGHT_BACKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;
struct tree;
struct values;

/*
 * A backtest computes the values at the same times under several settings, the variants.  All other
 * variants are compared with variant 0.  The users' usage is the same in all variants; jobs are not
 * scheduled again.
 *
 * The entitlement of an association at a time is its normalized share.  Its usage fraction is its
 * part of the cluster's decayed usage, with the variant's half-life.  Its distance is the
 * difference between its usage fraction and its entitlement.  A pair of users is discordant at a
 * time if one ranks higher in variant 0 and the other ranks higher in the compared variant.
 */

struct backtest_result {
    size_t points;        /* number of points at which the association existed */
    double use, distance; /* means over these points; NAN without points */
    /* Mean of a user's places, counted from 1; NAN for an account. */
    double place;
    /* Mean number of users with which the user is discordant; NAN for an account and in variant
     * 0. */
    double discordant;
    /* The user that is discordant with this user at most points, or NULL.  Also NULL if the search
     * ended before it reached this user. */
    const struct backtest_entity *with;
    size_t with_points; /* number of points with that partner */
};

struct backtest_entity {
    uint32_t id; /* id of the association */
    /* As at the last point; bytes as stored in the database. */
    const char *account, *user, *partition;
    bool is_user, wanted;
    double due;                      /* mean entitlement */
    struct backtest_result *results; /* indexed by variant */
};

/* The effect of a variant on all users. */
struct backtest_variant {
    size_t points;
    /* Mean fraction of the usage, from 0 to 1, that would have to move between users so that each
     * user's usage fraction equals the entitlement. */
    double distance;
    double discordant; /* discordant fraction of all pairs of users, over all points */
};

/* Returns an empty backtest.  `times` has `count` elements, in ascending order, and must outlive
 * the backtest.  The caller frees it with backtest_destroy(), which accepts NULL. */
struct backtest *backtest_create(size_t variants, const int64_t *times, size_t count);
void backtest_destroy(struct backtest *backtest);

/* The values computed for one time under a variant's settings. */
struct backtest_point {
    size_t variant;
    int64_t time; /* one of the times of the backtest */
    const struct tree *tree;
    const struct values *values;
    const uint32_t *order; /* indexed by node (core/fairshare/algorithm.h) */
    const struct names *names;
    /* Returns true if the caller will report this association.  Not called for the root. */
    bool (*wants)(const void *context, const struct backtest_point *point, uint32_t node);
    const void *context;
};
/* Adds a point.  Each time may be added once for each variant.  Nothing in `point` needs to outlive
 * the call. */
void backtest_add(struct backtest *backtest, const struct backtest_point *point);

/* Call after all points were added.  Turns sums into means, counts discordant pairs and finds
 * discordant partners.  The search for partners begins with the users that have the most discordant
 * pairs.  The search ends after a maximum number of comparisons, which take a few seconds. */
void backtest_finish(struct backtest *backtest);

size_t backtest_count(const struct backtest *backtest);
/* Returns the entity with index `number` in the order of accounts and users.  Includes entities
 * that the caller does not report. */
const struct backtest_entity *backtest_entity(const struct backtest *backtest, size_t number);
struct backtest_variant backtest_variant(const struct backtest *backtest, size_t variant);

/* The places of the same members in two orders.  Places begin at 1, tied members have the same
 * place, and 0 means no place.  Two members are discordant if one ranks higher in the first order
 * and the other ranks higher in the second.  Members tied in either order are not discordant. */

/* Sets discordant[i] to the number of members with which member i is discordant.  Takes time
 * proportional to count * log(count). */
void places_discordant(const uint32_t *before, const uint32_t *after, size_t count,
                       uint32_t *discordant);

#endif
