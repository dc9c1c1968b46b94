/* SPDX-License-Identifier: MIT */
#include "core/insight/standing.h"

#include <math.h>
#include <stdlib.h>

#include "core/tree/tree.h"
#include "util/memory.h"

/* ---- the users below each node, by place ---- */

/* Returns the users that have a place, in ascending order of place: a counting sort, because places
 * are at most the number of users. */
static uint32_t *standing_users_by_place(const struct tree *tree, const uint32_t *places,
                                         uint32_t users)
{
    uint32_t *next = memory_zeroed((size_t)tree->user_count + 2, sizeof *next);
    uint32_t *sorted = memory_zeroed((size_t)users + 1, sizeof *sorted);
    for (uint32_t i = 0; i < tree->count; i++)
        if (places[i])
            next[places[i] + 1]++;
    for (uint32_t place = 1; place <= tree->user_count; place++)
        next[place + 1] += next[place];
    for (uint32_t i = 0; i < tree->count; i++)
        if (places[i])
            sorted[next[places[i]]++] = i;
    free(next);
    return sorted;
}

/* Fills the lists of places below each node, in ascending order. */
static void standings_fill_below(struct standings *standings)
{
    const struct tree *tree = standings->tree;
    uint32_t *sorted = standing_users_by_place(tree, standings->places, standings->users);
    uint32_t *first = memory_zeroed((size_t)tree->count + 1, sizeof *first);
    for (uint32_t i = 0; i < tree->count; i++)
        first[i + 1] = standings->places[i] ? 1 : 0;
    for (uint32_t i = tree->count; --i > 0;)
        first[tree->nodes[i].parent + 1] += first[i + 1];
    for (uint32_t i = 0; i < tree->count; i++)
        first[i + 1] += first[i];
    uint32_t *below = memory_zeroed((size_t)first[tree->count] + 1, sizeof *below);
    uint32_t *used = memory_zeroed(tree->count, sizeof *used);
    for (uint32_t i = 0; i < standings->users; i++)
        for (uint32_t at = sorted[i]; at != NO_NODE; at = tree->nodes[at].parent)
            below[first[at] + used[at]++] = standings->places[sorted[i]];
    free(used);
    free(sorted);
    standings->below_first = first;
    standings->below_sorted = below;
}

/* Returns the number of users at or below `node` with a place above `place`. */
static uint32_t standing_users_ahead(const struct standings *standings, uint32_t node,
                                     uint32_t place)
{
    uint32_t from = standings->below_first[node];
    uint32_t low = from, high = standings->below_first[node + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (standings->below_sorted[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low - from;
}

uint32_t standing_first_place(const struct standings *standings, uint32_t node)
{
    uint32_t first = standings->below_first[node];
    return first < standings->below_first[node + 1] ? standings->below_sorted[first] : 0;
}

uint32_t standing_last_place(const struct standings *standings, uint32_t node)
{
    uint32_t end = standings->below_first[node + 1];
    return standings->below_first[node] < end ? standings->below_sorted[end - 1] : 0;
}

uint32_t standing_users(const struct standings *standings, uint32_t node)
{
    return standings->below_first[node + 1] - standings->below_first[node];
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

struct standings *standings_create(const struct tree *tree, const struct algorithm *algorithm,
                                   const struct values *values, const uint32_t *order)
{
    struct standings *standings = memory_zeroed(1, sizeof *standings);
    *standings = (struct standings){
        .tree = tree,
        .by_level = algorithm->ranks_users,
        .places = user_ranks(tree, order),
        .owners = memory_zeroed(tree->count, sizeof *standings->owners),
        .ratios = memory_zeroed(tree->count, sizeof *standings->ratios),
        .ahead = memory_zeroed(tree->count, sizeof *standings->ahead),
    };
    for (uint32_t i = 0; i < tree->count; i++) {
        standings->places[i] = place_of_rank(standings->places[i], tree->user_count);
        standings->users += standings->places[i] != 0;
        standings->owners[i] = i ? tree->nodes[i].fairshare_parent : 0;
        standings->ratios[i] = standing_ratio(tree, values, i);
    }
    standings_fill_below(standings);
    for (uint32_t i = 1; standings->by_level && i < tree->count; i++)
        standings->ahead[i] = standing_users_ahead(standings, standings->owners[i],
                                                   standing_first_place(standings, i));
    return standings;
}

void standings_destroy(struct standings *standings)
{
    if (!standings)
        return;
    free(standings->places);
    free(standings->owners);
    free(standings->ratios);
    free(standings->ahead);
    free(standings->below_sorted);
    free(standings->below_first);
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
    uint32_t place = standing_first_place(standings, node);
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
