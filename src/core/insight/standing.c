/* SPDX-License-Identifier: MIT */
#include "core/insight/standing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tree/tree.h"
#include "util/memory.h"

/* ---- the users at or below each node ---- */

/* Adds the places of the users below `from` to those of `to`.  The lists of both are disjoint.
 * `to_last` and `from_last` are the numbers of users at the last place. */
static void user_places_add(struct user_places *to, uint32_t *to_last,
                            const struct user_places *from, uint32_t from_last)
{
    if (!from->users)
        return;
    if (!to->users || from->first < to->first)
        to->first = from->first;
    if (!to->users || from->last > to->last) {
        to->last = from->last;
        *to_last = from_last;
    } else if (from->last == to->last) {
        *to_last += from_last;
    }
    to->users += from->users;
}

struct user_places *user_places_create(const struct tree *tree, const uint32_t *order)
{
    struct user_places *places = memory_zeroed(tree->count, sizeof *places);
    uint32_t *ranks = user_ranks(tree, order);
    uint32_t *last = memory_zeroed(tree->count, sizeof *last);
    for (uint32_t i = tree->count; i-- > 0;) {
        uint32_t place = place_of_rank(ranks[i], tree->user_count);
        if (place) {
            places[i] = (struct user_places){ 1, place, place, false };
            last[i] = 1;
        }
        /* Each place is the previous one plus the number of users there, of all accounts. */
        places[i].interleaved = places[i].last - places[i].first != places[i].users - last[i];
        if (i)
            user_places_add(&places[tree->nodes[i].parent], &last[tree->nodes[i].parent],
                            &places[i], last[i]);
    }
    free(ranks);
    free(last);
    return places;
}

/* Returns the users that have a place, in ascending order of place: a counting sort, because places
 * are at most the number of users. */
static uint32_t *standing_users_by_place(const struct standings *standings)
{
    const struct tree *tree = standings->tree;
    uint32_t *next = memory_zeroed((size_t)tree->user_count + 2, sizeof *next);
    uint32_t *sorted = memory_zeroed((size_t)standings->users + 1, sizeof *sorted);
    for (uint32_t i = 0; i < tree->count; i++)
        if (standing_place(standings, i))
            next[standing_place(standings, i) + 1]++;
    for (uint32_t place = 1; place <= tree->user_count; place++)
        next[place + 1] += next[place];
    for (uint32_t i = 0; i < tree->count; i++)
        if (standing_place(standings, i))
            sorted[next[standing_place(standings, i)]++] = i;
    free(next);
    return sorted;
}

/* Fills the lists of places below each node, in ascending order. */
static void standings_fill_below(struct standings *standings)
{
    const struct tree *tree = standings->tree;
    uint32_t *sorted = standing_users_by_place(standings);
    uint32_t *first = memory_zeroed((size_t)tree->count + 1, sizeof *first);
    for (uint32_t i = 0; i < tree->count; i++)
        first[i + 1] = first[i] + standings->below[i].users;
    uint32_t *lists = memory_zeroed((size_t)first[tree->count] + 1, sizeof *lists);
    uint32_t *used = memory_zeroed(tree->count, sizeof *used);
    for (uint32_t i = 0; i < standings->users; i++)
        for (uint32_t at = sorted[i]; at != NO_NODE; at = tree->nodes[at].parent)
            lists[first[at] + used[at]++] = standing_place(standings, sorted[i]);
    free(used);
    free(sorted);
    standings->list_first = first;
    standings->lists = lists;
}

/* Returns the number of places in the node's list that are above `place`. */
static uint32_t standing_search_list(const struct standings *standings, uint32_t node,
                                     uint32_t place)
{
    uint32_t from = standings->list_first[node];
    uint32_t low = from, high = standings->list_first[node + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (standings->lists[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low - from;
}

/*
 * Returns the number of users at or below `node` with a place above `place`.  Unless the node's
 * places are interleaved, all users between its first and its last user are below it.
 */
static uint32_t standing_users_ahead(const struct standings *standings, uint32_t node,
                                     uint32_t place)
{
    const struct user_places *below = &standings->below[node];
    if (!below->users || place <= below->first)
        return 0;
    if (place > below->last)
        return below->users;
    return below->interleaved ? standing_search_list(standings, node, place) : place - below->first;
}

/* ---- all nodes ---- */

static double standing_ratio(const struct tree *tree, const struct values *values, uint32_t node)
{
    if (!node || node_has_parent_shares(&tree->nodes[node]))
        return NAN;
    if (!(values[node].level_shares_norm > 0))
        return INFINITY;
    return values[node].level_usage / values[node].level_shares_norm;
}

static bool standings_any_interleaved(const struct standings *standings)
{
    for (uint32_t i = 0; i < standings->tree->count; i++)
        if (standings->below[i].interleaved)
            return true;
    return false;
}

/* Creates the standings without the users ahead. */
static struct standings *standings_begin(const struct tree *tree, const struct algorithm *algorithm,
                                         const struct values *values, struct user_places *below)
{
    struct standings *standings = memory_zeroed(1, sizeof *standings);
    *standings = (struct standings){
        .tree = tree,
        .by_level = algorithm->ranks_users,
        .users = below[0].users,
        .below = below,
        .owners = memory_zeroed(tree->count, sizeof *standings->owners),
        .ratios = memory_zeroed(tree->count, sizeof *standings->ratios),
        .ahead = memory_zeroed(tree->count, sizeof *standings->ahead),
    };
    for (uint32_t i = 0; i < tree->count; i++) {
        standings->owners[i] = i ? tree->nodes[i].fairshare_parent : 0;
        standings->ratios[i] = standing_ratio(tree, values, i);
    }
    return standings;
}

struct standings *standings_create(const struct tree *tree, const struct algorithm *algorithm,
                                   const struct values *values, const uint32_t *order)
{
    struct standings *standings =
        standings_begin(tree, algorithm, values, user_places_create(tree, order));
    if (standings->by_level && standings_any_interleaved(standings))
        standings_fill_below(standings);
    for (uint32_t i = 1; standings->by_level && i < tree->count; i++)
        standings->ahead[i] =
            standing_users_ahead(standings, standings->owners[i], standings->below[i].first);
    return standings;
}

struct standings *standings_create_part(const struct tree *tree, const struct algorithm *algorithm,
                                        const struct values *values,
                                        const struct user_places *stored)
{
    struct user_places *below = memory_zeroed(tree->count, sizeof *below);
    memcpy(below, stored, tree->count * sizeof *below);
    return standings_begin(tree, algorithm, values, below);
}

bool standings_part_has(const struct tree *tree, const struct algorithm *algorithm,
                        const struct user_places *stored, uint32_t node)
{
    if (!stored[0].users)
        return false;
    bool has = true;
    if (!algorithm->ranks_users)
        return has;
    struct path path = path_to(tree, node, true);
    /* All users of the cluster are below the root, and none is ahead of the node's first user. */
    for (uint32_t i = 1; has && i + 1 < path.count; i++)
        has = !stored[path.nodes[i]].interleaved;
    path_free(&path);
    return has;
}

void standings_destroy(struct standings *standings)
{
    if (!standings)
        return;
    free(standings->below);
    free(standings->owners);
    free(standings->ratios);
    free(standings->ahead);
    free(standings->lists);
    free(standings->list_first);
    free(standings);
}

/* ---- one node ---- */

/* Fair Tree treats a user with `parent` shares like a user without usage. */
static double standing_sort_ratio(const struct standings *standings, uint32_t node)
{
    double ratio = standings->ratios[node];
    return isnan(ratio) ? 0 : ratio;
}

static bool standing_is_member(const struct tree *tree, uint32_t node)
{
    return tree->nodes[node].is_user || !node_has_parent_shares(&tree->nodes[node]);
}

/* Sets the position of the step's member among the members of its level. */
static void standing_set_position(const struct standings *standings, struct standing_step *step)
{
    const struct tree *tree = standings->tree;
    const struct node *owner = &tree->nodes[step->owner];
    double ratio = standing_sort_ratio(standings, step->member);
    for (uint32_t i = 0; i < owner->child_count; i++) {
        uint32_t each = tree->children[owner->first_child + i];
        if (!standing_is_member(tree, each))
            continue;
        step->members++;
        step->position += standing_sort_ratio(standings, each) < ratio;
    }
    if (standing_is_member(tree, step->member))
        step->position++;
    else
        step->position = 0;
}

void standing_find(const struct standings *standings, uint32_t node, struct standing *standing)
{
    *standing = (struct standing){ 0 };
    if (!standings->by_level || !node)
        return;
    uint32_t place = standings->below[node].first;
    struct path path = path_to(standings->tree, node, true);
    standing->count = path.count - 1;
    standing->steps = memory_zeroed(standing->count, sizeof *standing->steps);
    for (size_t i = 0; i < standing->count; i++) {
        struct standing_step *step = &standing->steps[i];
        *step = (struct standing_step){ .owner = path.nodes[i], .member = path.nodes[i + 1] };
        step->ratio = standings->ratios[step->member];
        step->ahead = standing_users_ahead(standings, step->owner, place) -
                      standing_users_ahead(standings, step->member, place);
        standing_set_position(standings, step);
    }
    path_free(&path);
}

void standing_free(struct standing *standing)
{
    free(standing->steps);
    *standing = (struct standing){ 0 };
}
