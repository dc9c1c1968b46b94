/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_CORE_INSIGHT_BACKTEST_H
#define FAIRMILL_CORE_INSIGHT_BACKTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;
struct tree;
struct values;

/* The same instants under several settings: the variants.  Number 0 is what the others are compared
 * with.  What users did is the same in all of them: nothing is scheduled anew.
 *
 * What an association is due at an instant is its normalised share; what it has of the use is its
 * part of the whole's decayed usage, as the variant's half-life weighs it; the distance is between
 * these two.  A pair of users is turned at an instant where one is ahead of the other in variant 0,
 * and behind it in another one. */

struct backtest_result {
    size_t points;        /* at which it was there */
    double use, distance; /* means over these points; NAN without a point */
    double place;         /* mean of a user's places, from 1 on; NAN of an account */
    double discordant;    /* mean number of users with whom it is turned; NAN likewise, and of
                           * variant 0 */
    const struct backtest_entity *with; /* with whom it is most often; NULL: with none, or nobody
                                         * counted */
    size_t with_points;                 /* and at how many points */
};

struct backtest_entity {
    uint32_t id;                            /* of the association */
    const char *account, *user, *partition; /* as at the last point, bytes of the source */
    bool is_user, wanted;
    double due;                      /* mean */
    struct backtest_result *results; /* by variant */
};

/* What a variant does to all. */
struct backtest_variant {
    size_t points;
    double distance;   /* mean part of the use that would have to change hands among users, 0..1 */
    double discordant; /* part of the pairs of users that are turned, of all points together */
};

struct backtest *backtest_create(size_t variants, const int64_t *times, size_t count);
void backtest_destroy(struct backtest *backtest);

/* What is computed of an instant under a variant's settings. */
struct backtest_point {
    size_t variant;
    int64_t time; /* one of the list */
    const struct tree *tree;
    const struct values *values;
    const uint32_t *order; /* by node (core/fairshare/algorithm.h) */
    const struct names *names;
    /* Which associations are to be told of, besides the root, of which there is nothing to tell. */
    bool (*wants)(const void *context, const struct backtest_point *point, uint32_t node);
    const void *context;
};
void backtest_add(struct backtest *backtest, const struct backtest_point *point);

/* Once all points are there: make means of the sums, and count who is turned with whom; with whom,
 * for as many of those who are turned most as can be done in some seconds. */
void backtest_finish(struct backtest *backtest);

size_t backtest_count(const struct backtest *backtest);
/* By their account's name, users behind it; those that are not wanted, too. */
const struct backtest_entity *backtest_entity(const struct backtest *backtest, size_t number);
struct backtest_variant backtest_variant(const struct backtest *backtest, size_t variant);

/* Who changes places with whom between two orders of the same members.  Places begin at 1, equal
 * ones have the same, and 0 is no place.  Two members are turned where one is ahead of the other in
 * one order and behind it in the other: who is equal in either is not. */

/* turned[i] is with how many others member i is turned.  Takes count x log(count). */
void places_discordant(const uint32_t *before, const uint32_t *after, size_t count,
                       uint32_t *discordant);

#endif
