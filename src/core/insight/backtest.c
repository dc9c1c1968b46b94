/* SPDX-License-Identifier: MIT */
#include "core/insight/backtest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "core/tree/tree.h"
#include "util/index.h"
#include "util/memory.h"

/* backtest_add() adds the values of a point to sums and stores the place of each user.  After the
 * last point, backtest_finish() compares the places of each variant with the places in variant 0
 * and turns the sums into means. */

/* ---- discordant pairs ---- */

struct backtest_member {
    uint32_t before, after, number;
};

static int by_before(const void *a, const void *b)
{
    const struct backtest_member *one = a, *other = b;
    return (one->before > other->before) - (one->before < other->before);
}

/* Returns how many of the added members have a place up to `place` (a Fenwick tree, 1994). */
static uint32_t sum_to(const uint32_t *sums, uint32_t place)
{
    uint32_t sum = 0;
    for (; place; place &= place - 1)
        sum += sums[place];
    return sum;
}

static void insight_backtest_add(uint32_t *sums, uint32_t size, uint32_t place)
{
    for (; place <= size; place += place & -place)
        sums[place]++;
}

/* Returns the members that have a place in both orders, sorted by their place in `before`.  Sets
 * *found to the number of these members and *last to their highest place in `after`.  The caller
 * frees the array. */
static struct backtest_member *sorted_members(const uint32_t *before, const uint32_t *after,
                                              size_t count, size_t *found, uint32_t *last)
{
    struct backtest_member *members = memory_zeroed(count + 1, sizeof *members);
    *found = 0;
    *last = 0;
    for (size_t i = 0; i < count; i++) {
        if (!before[i] || !after[i])
            continue;
        members[(*found)++] = (struct backtest_member){ before[i], after[i], (uint32_t)i };
        if (after[i] > *last)
            *last = after[i];
    }
    qsort(members, *found, sizeof *members, by_before);
    return members;
}

/* Returns the end of the group of members with the same place in `before` as the member at
 * `from`. */
static size_t backtest_group_end(const struct backtest_member *members, size_t count, size_t from)
{
    size_t end = from;
    while (end < count && members[end].before == members[from].before)
        end++;
    return end;
}

void places_discordant(const uint32_t *before, const uint32_t *after, size_t count,
                       uint32_t *discordant)
{
    size_t found, begin, end;
    uint32_t last;
    struct backtest_member *members = sorted_members(before, after, count, &found, &last);
    uint32_t *sums = memory_zeroed((size_t)last + 1, sizeof *sums);
    memset(discordant, 0, count * sizeof *discordant);
    /* Count members that ranked higher before and rank lower after ... */
    for (begin = 0; begin < found; begin = end) {
        end = backtest_group_end(members, found, begin);
        for (size_t i = begin; i < end; i++)
            discordant[members[i].number] += (uint32_t)begin - sum_to(sums, members[i].after);
        for (size_t i = begin; i < end; i++)
            insight_backtest_add(sums, last, members[i].after);
    }
    /* ... and members that ranked lower before and rank higher after. */
    memset(sums, 0, ((size_t)last + 1) * sizeof *sums);
    for (end = found; end > 0; end = begin) {
        begin = end - 1;
        while (begin && members[begin - 1].before == members[end - 1].before)
            begin--;
        for (size_t i = begin; i < end; i++)
            discordant[members[i].number] += sum_to(sums, members[i].after - 1);
        for (size_t i = begin; i < end; i++)
            insight_backtest_add(sums, last, members[i].after);
    }
    free(members);
    free(sums);
}

/* The number of comparisons per variant to find the most frequent discordant partners. */
#define COMPARISONS_AT_MOST UINT64_C(2000000000)

/* The places of users at a point, by their number.  The place is 0 if the entity is not a user or
 * did not exist. */
struct places {
    uint32_t *list;
    size_t count;
};

struct insight_backtest_variant {
    struct places *points; /* one for each time, in the order of `times` */
    size_t point_count;
    double distance; /* sum over its points */
    uint64_t discordant, pairs;
};

struct backtest {
    const int64_t *times;
    size_t time_count;
    struct insight_backtest_variant *variants;
    size_t variant_count;
    struct backtest_entity **entities; /* indexed by number; numbered in order of appearance */
    size_t count;
    struct id_index *numbers;
    const struct backtest_entity **sorted;
    struct arena *arena;
};

struct backtest *backtest_create(size_t variants, const int64_t *times, size_t count)
{
    struct backtest *backtest = memory_zeroed(1, sizeof *backtest);
    *backtest = (struct backtest){ .times = times,
                                   .time_count = count,
                                   .variants = memory_zeroed(
                                       variants, sizeof(struct insight_backtest_variant)),
                                   .variant_count = variants,
                                   .numbers = id_index_create(),
                                   .arena = arena_create() };
    for (size_t i = 0; i < variants; i++)
        backtest->variants[i].points = memory_zeroed(count + 1, sizeof(struct places));
    return backtest;
}

void backtest_destroy(struct backtest *backtest)
{
    if (!backtest)
        return;
    for (size_t i = 0; i < backtest->variant_count; i++) {
        for (size_t k = 0; k < backtest->time_count; k++)
            free(backtest->variants[i].points[k].list);
        free(backtest->variants[i].points);
    }
    for (size_t i = 0; i < backtest->count; i++)
        free(backtest->entities[i]->results);
    free(backtest->variants);
    free(backtest->entities);
    free(backtest->sorted);
    id_index_destroy(backtest->numbers);
    arena_destroy(backtest->arena);
    free(backtest);
}

/* ---- points ---- */

static const char *kept_text(struct backtest *backtest, const char *old, const struct names *names,
                             uint32_t name)
{
    const char *bytes = names_text(names, name);
    return old && !strcmp(old, bytes)
               ? old
               : arena_copy(backtest->arena, bytes, names_length(names, name));
}

/* Returns the number of a node's entity, adds the entity if it is new, and updates it to the node's
 * state at this point. */
static uint32_t backtest_number_of(struct backtest *backtest, const struct backtest_point *point,
                                   uint32_t i)
{
    const struct node *node = &point->tree->nodes[i];
    uint32_t number = id_index_add(backtest->numbers, node->id, (uint32_t)backtest->count);
    if (number == INDEX_NONE) {
        number = (uint32_t)backtest->count;
        backtest->entities =
            memory_grown(backtest->entities, backtest->count, sizeof *backtest->entities);
        struct backtest_entity *added = arena_take(backtest->arena, sizeof *added);
        *added = (struct backtest_entity){
            .id = node->id,
            .results = memory_zeroed(backtest->variant_count, sizeof *added->results),
        };
        backtest->entities[backtest->count++] = added;
    }
    struct backtest_entity *entity = backtest->entities[number];
    entity->account = kept_text(backtest, entity->account, point->names, node->account);
    entity->user = kept_text(backtest, entity->user, point->names, node->user);
    entity->partition = kept_text(backtest, entity->partition, point->names, node->partition);
    entity->is_user = node->is_user;
    entity->wanted = i && point->wants(point->context, point, i);
    return number;
}

static size_t place_of_time(const struct backtest *backtest, int64_t time)
{
    size_t low = 0, high = backtest->time_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (backtest->times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Stores the place of the user with this number.  Lower numbers that have no place yet get place
 * 0. */
static void backtest_add_place(struct places *places, uint32_t number, uint32_t place)
{
    while (places->count <= number)
        places->list[places->count++] = 0;
    places->list[number] = place;
}

void backtest_add(struct backtest *backtest, const struct backtest_point *point)
{
    const struct tree *tree = point->tree;
    struct insight_backtest_variant *variant = &backtest->variants[point->variant];
    struct places *places = &variant->points[place_of_time(backtest, point->time)];
    uint32_t *ranks = user_ranks(tree, point->order);
    double apart = 0;
    places->list = memory_zeroed(backtest->count + tree->count + 1, sizeof *places->list);
    for (uint32_t i = 0; i < tree->count; i++) {
        const struct values *values = &point->values[i];
        uint32_t number = backtest_number_of(backtest, point, i);
        struct backtest_entity *entity = backtest->entities[number];
        struct backtest_result *result = &entity->results[point->variant];
        double distance = fabs(values->usage_norm - values->shares_norm);
        result->points++;
        result->use += values->usage_norm;
        result->distance += distance;
        if (!point->variant)
            entity->due += values->shares_norm;
        if (!tree->nodes[i].is_user || !ranks[i])
            continue;
        uint32_t place = tree->user_count - ranks[i] + 1;
        result->place += place;
        apart += distance;
        backtest_add_place(places, number, place);
    }
    variant->distance += apart / 2;
    variant->point_count++;
    free(ranks);
}

/* ---- discordant users ---- */

/* Copies the orders of a point in variant 0 and in `variant`.  Returns the number of members that
 * are in both orders. */
static size_t orders_of(const struct backtest *backtest, size_t variant, size_t at,
                        uint32_t *before, uint32_t *after)
{
    const struct places *one = &backtest->variants[0].points[at],
                        *other = &backtest->variants[variant].points[at];
    size_t count = one->count < other->count ? one->count : other->count;
    if (count) {
        memcpy(before, one->list, count * sizeof *before);
        memcpy(after, other->list, count * sizeof *after);
    }
    return count;
}

static void count_discordant(struct backtest *backtest, size_t number)
{
    struct insight_backtest_variant *variant = &backtest->variants[number];
    size_t room = backtest->count + 1;
    uint32_t *before = memory_zeroed(room, sizeof *before),
             *after = memory_zeroed(room, sizeof *after),
             *discordant = memory_zeroed(room, sizeof *discordant);
    for (size_t at = 0; at < backtest->time_count; at++) {
        size_t count = orders_of(backtest, number, at, before, after);
        uint64_t users = 0, all = 0;
        places_discordant(before, after, count, discordant);
        for (size_t i = 0; i < count; i++) {
            backtest->entities[i]->results[number].discordant += discordant[i];
            all += discordant[i];
            users += before[i] && after[i];
        }
        variant->discordant += all / 2; /* each pair was counted for both users */
        variant->pairs += users ? users * (users - 1) / 2 : 0;
    }
    free(before);
    free(after);
    free(discordant);
}

/* Finds the user with which `entity` is discordant most often. */
static void find_partner(struct backtest *backtest, size_t number, uint32_t entity,
                         uint32_t *counts)
{
    struct backtest_result *result = &backtest->entities[entity]->results[number];
    memset(counts, 0, backtest->count * sizeof *counts);
    for (size_t at = 0; at < backtest->time_count; at++) {
        const struct places *one = &backtest->variants[0].points[at],
                            *other = &backtest->variants[number].points[at];
        size_t count = one->count < other->count ? one->count : other->count;
        if (entity >= count || !one->list[entity] || !other->list[entity])
            continue;
        uint32_t before = one->list[entity], after = other->list[entity];
        for (size_t i = 0; i < count; i++)
            if (one->list[i] && other->list[i])
                counts[i] += (one->list[i] < before && other->list[i] > after) ||
                             (one->list[i] > before && other->list[i] < after);
    }
    for (size_t i = 0; i < backtest->count; i++)
        if (counts[i] > result->with_points) {
            result->with_points = counts[i];
            result->with = backtest->entities[i];
        }
}

struct backtest_candidate {
    double discordant;
    uint32_t number;
};

static int backtest_most_discordant_first(const void *a, const void *b)
{
    const struct backtest_candidate *one = a, *other = b;
    if (one->discordant < other->discordant || one->discordant > other->discordant)
        return one->discordant > other->discordant ? -1 : 1;
    return (one->number > other->number) - (one->number < other->number);
}

static void find_partners(struct backtest *backtest, size_t number)
{
    struct backtest_candidate *candidates = memory_zeroed(backtest->count + 1, sizeof *candidates);
    uint32_t *counts = memory_zeroed(backtest->count + 1, sizeof *counts);
    size_t count = 0;
    for (uint32_t i = 0; i < backtest->count; i++) {
        double discordant = backtest->entities[i]->results[number].discordant;
        if (discordant > 0 && backtest->entities[i]->wanted)
            candidates[count++] = (struct backtest_candidate){ discordant, i };
    }
    qsort(candidates, count, sizeof *candidates, backtest_most_discordant_first);
    uint64_t each = (uint64_t)backtest->count * backtest->time_count + 1;
    for (size_t i = 0; i < count && i * each < COMPARISONS_AT_MOST; i++)
        find_partner(backtest, number, candidates[i].number, counts);
    free(candidates);
    free(counts);
}

/* ---- means ---- */

static double mean(double sum, size_t count)
{
    return count ? sum / (double)count : NAN;
}

static void make_means(struct backtest *backtest)
{
    for (size_t i = 0; i < backtest->count; i++) {
        struct backtest_entity *entity = backtest->entities[i];
        entity->due = mean(entity->due, entity->results[0].points);
        for (size_t k = 0; k < backtest->variant_count; k++) {
            struct backtest_result *result = &entity->results[k];
            result->use = mean(result->use, result->points);
            result->distance = mean(result->distance, result->points);
            result->place = mean(entity->is_user ? result->place : NAN, result->points);
            result->discordant =
                mean(entity->is_user && k ? result->discordant : NAN, result->points);
        }
    }
}

static int backtest_by_name(const void *a, const void *b)
{
    const struct backtest_entity *one = *(const struct backtest_entity *const *)a,
                                 *other = *(const struct backtest_entity *const *)b;
    int order = strcmp(one->account, other->account);
    order = order ? order : strcmp(one->user, other->user);
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

void backtest_finish(struct backtest *backtest)
{
    for (size_t i = 1; i < backtest->variant_count; i++) {
        count_discordant(backtest, i);
        find_partners(backtest, i);
    }
    make_means(backtest);
    backtest->sorted = memory_zeroed(backtest->count + 1, sizeof(void *));
    for (size_t i = 0; i < backtest->count; i++)
        backtest->sorted[i] = backtest->entities[i];
    qsort(backtest->sorted, backtest->count, sizeof(void *), backtest_by_name);
}

size_t backtest_count(const struct backtest *backtest)
{
    return backtest->count;
}

const struct backtest_entity *backtest_entity(const struct backtest *backtest, size_t number)
{
    return backtest->sorted[number];
}

struct backtest_variant backtest_variant(const struct backtest *backtest, size_t number)
{
    const struct insight_backtest_variant *variant = &backtest->variants[number];
    return (struct backtest_variant){
        .points = variant->point_count,
        .distance = mean(variant->distance, variant->point_count),
        .discordant = variant->pairs ? (double)variant->discordant / (double)variant->pairs : 0,
    };
}
