/* SPDX-License-Identifier: MIT */
#include "report/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "report/permissions.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/name_list.h"
#include "util/text.h"

struct whatif *whatif_create(const char *cluster, int64_t as_of)
{
    struct whatif *whatif = memory_zeroed(1, sizeof *whatif);
    *whatif =
        (struct whatif){ .as_of = as_of, .arena = arena_create(), .job_places = id_index_create() };
    whatif->cluster = whatif_text(whatif, cluster);
    return whatif;
}

void whatif_destroy(struct whatif *whatif)
{
    if (!whatif)
        return;
    arena_destroy(whatif->arena);
    name_list_free(&whatif->changes);
    name_list_free(&whatif->commands);
    free(whatif->own);
    free(whatif->named);
    free(whatif->rows);
    free(whatif->jobs);
    id_index_destroy(whatif->job_places);
    for (enum whatif_side side = BEFORE; side < SIDES; side++)
        free(whatif->entries[side].list);
    free(whatif);
}

const char *whatif_text(struct whatif *whatif, const char *bytes)
{
    return utf8_copy_in(whatif->arena, bytes, strlen(bytes));
}

void whatif_add_change(struct whatif *whatif, const char *sentence)
{
    name_list_add(&whatif->changes, sentence, strlen(sentence));
}

void whatif_add_command(struct whatif *whatif, const char *command)
{
    if (!whatif->no_commands)
        name_list_add(&whatif->commands, command, strlen(command));
}

void whatif_add_named(struct whatif *whatif, uint32_t id)
{
    *memory_append(&whatif->named, &whatif->named_count) = id;
}

static bool report_whatif_is_named(const struct whatif *whatif, uint32_t id)
{
    for (size_t i = 0; i < whatif->named_count; i++)
        if (whatif->named[i] == id)
            return true;
    return false;
}

void whatif_state_free(struct whatif_state *state)
{
    tree_destroy(state->tree);
    free(state->values);
    free(state->order);
}

/* A state with the ranks of its users. */
struct ranked_state {
    const struct whatif_state *state;
    uint32_t *ranks;
};

static void fill_side(struct whatif_row *row, enum whatif_side side,
                      const struct ranked_state *ranked, uint32_t id)
{
    const struct whatif_state *state = ranked->state;
    uint32_t node = tree_place(state->tree, id);
    row->factor[side] = row->level_fs[side] = row->shares_norm[side] = row->usage[side] = NAN;
    /* For a removed association, tree_place() returns the node that got its usage. */
    if (node == NO_NODE || state->tree->nodes[node].id != id)
        return;
    const struct values *values = &state->values[node];
    row->there[side] = true;
    row->factor[side] = state->algorithm->factor(values);
    row->level_fs[side] = state->algorithm->ranks_users ? values->level_fs : NAN;
    row->shares_norm[side] = state->algorithm->norm_shares(values);
    row->usage[side] = values->usage_raw;
    row->rank[side] = ranked->ranks[node];
}

static bool report_whatif_same(double one, double other)
{
    return one == other || (isnan(one) && isnan(other));
}

static bool is_changed(const struct whatif_row *row)
{
    return row->there[BEFORE] != row->there[AFTER] || row->rank[BEFORE] != row->rank[AFTER] ||
           !report_whatif_same(row->factor[BEFORE], row->factor[AFTER]) ||
           !report_whatif_same(row->level_fs[BEFORE], row->level_fs[AFTER]);
}

/* Replaces the names, which the tree owns, by copies. */
static void copy_names(struct whatif *whatif, struct whatif_row *row)
{
    row->account = whatif_text(whatif, row->account);
    row->user = whatif_text(whatif, row->user);
    row->partition = whatif_text(whatif, row->partition);
}

/*
 * Returns the increase of the fairshare factor or, if the algorithms before and after differ, the
 * number of places gained.  The result is negative for a loss and -INFINITY for a removed user.
 * Otherwise, it is 0 if the factor or place is missing on either side.
 */
static double gain_of(const struct whatif *whatif, const struct whatif_row *row)
{
    if (!row->there[AFTER])
        return -INFINITY;
    double gain = row->factor[AFTER] - row->factor[BEFORE];
    if (whatif->algorithm[BEFORE] != whatif->algorithm[AFTER])
        gain = row->rank[BEFORE] && row->rank[AFTER]
                   ? (double)place_of_rank(row->rank[BEFORE], whatif->users[BEFORE]) -
                         (double)place_of_rank(row->rank[AFTER], whatif->users[AFTER])
                   : 0;
    return isnan(gain) ? 0 : gain;
}

static bool has_no_place(const struct ranked_state *ranked)
{
    const struct tree *tree = ranked->state->tree;
    for (uint32_t i = 0; i < tree->count; i++)
        if (ranked->ranks[i])
            return false;
    return tree->user_count != 0;
}

static int by_gain(const void *a, const void *b)
{
    const struct whatif_row *one = a, *other = b;
    if (one->gain != other->gain)
        return one->gain > other->gain ? -1 : 1;
    int64_t climb = (int64_t)one->rank[AFTER] - one->rank[BEFORE];
    int64_t others_climb = (int64_t)other->rank[AFTER] - other->rank[BEFORE];
    if (climb != others_climb)
        return climb > others_climb ? -1 : 1;
    int order = strcmp(one->account, other->account);
    order = order ? order : strcmp(one->user, other->user);
    order = order ? order : strcmp(one->partition, other->partition);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

/* Returns the row of a node of the tree before the changes, with the names that the tree owns. */
static struct whatif_row report_whatif_row_of(const struct whatif *whatif,
                                              const struct ranked_state *sides, uint32_t place)
{
    const struct whatif_state *before = sides[BEFORE].state;
    const struct node *node = &before->tree->nodes[place];
    struct whatif_row row = {
        .id = node->id,
        .account = names_text(before->names, node->account),
        .user = names_text(before->names, node->user),
        .partition = names_text(before->names, node->partition),
    };
    fill_side(&row, BEFORE, &sides[BEFORE], row.id);
    fill_side(&row, AFTER, &sides[AFTER], row.id);
    bool rescaled = whatif->algorithm[BEFORE] != whatif->algorithm[AFTER];
    row.gain = gain_of(whatif, &row);
    row.change = rescaled ? NAN : row.factor[AFTER] - row.factor[BEFORE];
    row.removed = !row.there[AFTER];
    row.named = report_whatif_is_named(whatif, row.id);
    row.is_own = whatif->login && node->is_user && !strcmp(row.user, whatif->login);
    row.changed = is_changed(&row);
    return row;
}

/* Returns true if `one` ranks higher than `other` only after the changes. */
static bool passes(const struct whatif_row *one, const struct whatif_row *other)
{
    for (enum whatif_side side = BEFORE; side < SIDES; side++)
        if (!one->rank[side] || !other->rank[side])
            return false;
    return one->rank[BEFORE] <= other->rank[BEFORE] && one->rank[AFTER] > other->rank[AFTER];
}

/* Counts a user who passes.  Adds the name if it may be shown and there is room for it. */
static void add_passing(struct whatif *whatif, struct whatif_passing *passing,
                        const struct whatif_row *row)
{
    struct text name = { 0 };
    passing->count++;
    if (passing->shown == PASSING_NAMES ||
        !permissions_show(whatif->permissions, whatif->cluster, row->account, row->user))
        return;
    text_format(&name, "%s/%s%s%s", row->account, row->user, *row->partition ? "/" : "",
                row->partition);
    passing->names[passing->shown++] = whatif_text(whatif, name.bytes);
    text_free(&name);
}

/* Records whether the user of `other` would pass an association of the requesting user, or the
 * reverse. */
static void meet_own(struct whatif *whatif, const struct whatif_row *other)
{
    for (size_t i = 0; i < whatif->own_count && !other->is_own; i++) {
        struct whatif_own *own = &whatif->own[i];
        if (passes(other, &own->row))
            add_passing(whatif, &own->passed_by, other);
        else if (passes(&own->row, other))
            add_passing(whatif, &own->passes, other);
    }
}

static void report_whatif_find_own(struct whatif *whatif, const struct ranked_state *sides)
{
    const struct whatif_state *before = sides[BEFORE].state;
    const char *login = whatif->login ? whatif->login : "";
    uint32_t user = names_find(before->names, login, strlen(login));
    for (uint32_t i = 0; i < before->tree->count && user != INDEX_NONE; i++)
        if (before->tree->nodes[i].is_user && before->tree->nodes[i].user == user) {
            struct whatif_row row = report_whatif_row_of(whatif, sides, i);
            copy_names(whatif, &row);
            *memory_append(&whatif->own, &whatif->own_count) = (struct whatif_own){ .row = row };
        }
}

void whatif_compare(struct whatif *whatif, const struct whatif_state *before,
                    const struct whatif_state *after)
{
    struct ranked_state sides[SIDES] = {
        { before, user_ranks(before->tree, before->order) },
        { after, user_ranks(after->tree, after->order) },
    };
    for (enum whatif_side side = BEFORE; side < SIDES; side++) {
        whatif->users[side] = sides[side].state->tree->user_count;
        whatif->algorithm[side] = sides[side].state->algorithm;
        whatif->unknown[side] = has_no_place(&sides[side]);
    }
    report_whatif_find_own(whatif, sides);
    /* Changes never add associations, so the tree before has all of them. */
    for (uint32_t i = 0; i < before->tree->count; i++) {
        struct whatif_row row = report_whatif_row_of(whatif, sides, i);
        meet_own(whatif, &row);
        if (!row.named && !row.changed)
            continue;
        copy_names(whatif, &row);
        *memory_append(&whatif->rows, &whatif->row_count) = row;
    }
    if (whatif->row_count)
        qsort(whatif->rows, whatif->row_count, sizeof *whatif->rows, by_gain);
    free(sides[BEFORE].ranks);
    free(sides[AFTER].ranks);
}

void whatif_hide_others(struct whatif *whatif)
{
    size_t rows = 0, jobs = 0;
    for (size_t i = 0; i < whatif->row_count; i++)
        if (permissions_show(whatif->permissions, whatif->cluster, whatif->rows[i].account,
                             whatif->rows[i].user))
            whatif->rows[rows++] = whatif->rows[i];
    for (size_t i = 0; i < whatif->job_count; i++)
        if (permissions_show_job(whatif->permissions, whatif->cluster, whatif->jobs[i].account,
                                 whatif->jobs[i].user))
            whatif->jobs[jobs++] = whatif->jobs[i];
    whatif->is_part = rows < whatif->row_count || jobs < whatif->job_count;
    whatif->row_count = rows;
    whatif->job_count = jobs;
}

void whatif_leave(struct whatif *whatif, const struct name_list *accounts,
                  const struct name_list *users)
{
    size_t rows = 0, jobs = 0, own = 0;
    for (size_t i = 0; i < whatif->own_count; i++)
        if (name_list_wants(accounts, whatif->own[i].row.account) &&
            name_list_wants(users, whatif->own[i].row.user))
            whatif->own[own++] = whatif->own[i];
    for (size_t i = 0; i < whatif->row_count; i++)
        if (name_list_wants(accounts, whatif->rows[i].account) &&
            name_list_wants(users, whatif->rows[i].user))
            whatif->rows[rows++] = whatif->rows[i];
    for (size_t i = 0; i < whatif->job_count; i++)
        if (name_list_wants(accounts, whatif->jobs[i].account) &&
            name_list_wants(users, whatif->jobs[i].user))
            whatif->jobs[jobs++] = whatif->jobs[i];
    whatif->row_count = rows;
    whatif->job_count = jobs;
    whatif->is_chosen = true;
    whatif->own_count = own;
}
