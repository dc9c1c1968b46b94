/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/fairshare/algorithm.h"
#include "core/fairshare/fair_tree_slurmctld.h"
#include "core/number/figure.h"
#include "util/memory.h"
#include "util/text.h"

/*
 * Fair Tree, from Slurm's document "Fair Tree Fairshare Algorithm".
 *
 *     LF = S / U, S = shares / level's shares, U = usage / level's usage
 *
 * The tree is traversed depth first and each level by descending LF.  Users are ranked in the order
 * of the traversal.  Tied users share a rank.  A user tied with an account gets the rank of that
 * account's best user.  The children of tied accounts are merged into one list.
 *
 * Two LF are first compared as doubles.  The doubles are correctly rounded quotients of integers,
 * so if they differ, their order is exact.  If they are equal, the integers are compared.
 */

/* Sets the exact fraction that level_fs rounds: (shares * level's usage) / (level's shares *
 * usage). */
static void exact_level_fs(const struct tree *tree, uint32_t i, struct natural *numerator,
                           struct natural *denominator)
{
    const struct node *node = &tree->nodes[i];
    const struct level *level = level_of(tree, node);
    *numerator = natural_of_wide(&level->usage);
    *numerator = natural_times(numerator, (uint64_t)node->shares);
    *denominator = natural_of_wide(&node->usage);
    *denominator = natural_times(denominator, level->shares);
}

static double level_fs_as_documented(const struct fairshare *fairshare, uint32_t i)
{
    const struct node *node = &fairshare->tree->nodes[i];
    if (node->shares == 0)
        return 0;
    if (wide_is_zero(&node->usage))
        return INFINITY;
    struct natural numerator, denominator;
    exact_level_fs(fairshare->tree, i, &numerator, &denominator);
    return natural_quotient(&numerator, &denominator);
}

/* An element of the lists that the traversal sorts. */
struct fair_tree_entry {
    double level_fs; /* infinite for users with `parent` shares */
    uint32_t node;
};

/* A list that is partly traversed. */
struct fair_tree_list {
    uint32_t next, end; /* indexes into walk->entries */
};

struct fair_tree_walk {
    const struct fairshare *fairshare;
    const struct tree *tree;
    /* A stack: the lists on the current path, one after the other. */
    struct fair_tree_entry *entries;
    uint32_t used;
    struct fair_tree_list *lists;
    uint32_t depth;
    uint32_t rank, next_rank;
    bool tied; /* the next user shares the rank of the previous one */
};

static int fair_tree_compare_exactly(const struct tree *tree, uint32_t a, uint32_t b)
{
    const struct node *one = &tree->nodes[a], *other = &tree->nodes[b];
    struct natural left, right;
    if (one->fairshare_parent == other->fairshare_parent) {
        /* Within a level, the level's sums cancel: `one` ranks higher if s_a * u_b > s_b * u_a. */
        left = natural_of_wide(&other->usage);
        left = natural_times(&left, (uint64_t)one->shares);
        right = natural_of_wide(&one->usage);
        right = natural_times(&right, (uint64_t)other->shares);
    } else {
        struct natural top_a, bottom_a, top_b, bottom_b;
        exact_level_fs(tree, a, &top_a, &bottom_a);
        exact_level_fs(tree, b, &top_b, &bottom_b);
        left = natural_product(&top_a, &bottom_b);
        right = natural_product(&top_b, &bottom_a);
    }
    return natural_compare(&left, &right);
}

/* Returns a positive number if `a` ranks higher than `b`, 0 if their LF are equal, or a negative
 * number if `b` ranks higher. */
static int compare_level_fs(const struct tree *tree, const struct fair_tree_entry *a,
                            const struct fair_tree_entry *b)
{
    if (a->level_fs != b->level_fs)
        return a->level_fs > b->level_fs ? 1 : -1;
    if (a->level_fs == 0 || isinf(a->level_fs))
        return 0;
    return fair_tree_compare_exactly(tree, a->node, b->node);
}

static int fair_tree_by_level_fs(const void *a, const void *b, void *context)
{
    const struct tree *tree = context;
    const struct fair_tree_entry *one = a, *other = b;
    int order = compare_level_fs(tree, other, one);
    if (order)
        return order;
    return tree->nodes[other->node].is_user - tree->nodes[one->node].is_user;
}

/* Appends the children of an account to walk->entries.  push_list() then makes a list of all
 * entries that were appended.  Omits accounts without users below them: such an account does not
 * get a rank, so no other member can be tied with it. */
static void append_children(struct fair_tree_walk *walk, uint32_t account)
{
    const struct node *node = &walk->tree->nodes[account];
    for (uint32_t i = 0; i < node->child_count; i++) {
        uint32_t child = walk->tree->children[node->first_child + i];
        const struct node *member = &walk->tree->nodes[child];
        if (!member->is_user && member->users_below == 0)
            continue;
        double level_fs = walk->fairshare->values[child].level_fs;
        if (node_has_parent_shares(member))
            level_fs = INFINITY;
        walk->entries[walk->used++] = (struct fair_tree_entry){ level_fs, child };
    }
}

static void push_list(struct fair_tree_walk *walk, uint32_t start)
{
    walk->lists[walk->depth++] = (struct fair_tree_list){ start, walk->used };
    qsort_r(walk->entries + start, walk->used - start, sizeof *walk->entries, fair_tree_by_level_fs,
            (void *)walk->tree);
}

static void fair_tree_rank_user(struct fair_tree_walk *walk, uint32_t node)
{
    struct values *values = &walk->fairshare->values[node];
    values->fair_tree_rank = walk->rank;
    values->fair_tree_factor = walk->rank / (double)walk->tree->user_count;
}

/* Ranks the users of the next group of tied members.  Users are sorted before accounts.  The
 * children of the group's accounts become the list that is traversed next. */
static void visit_group(struct fair_tree_walk *walk)
{
    struct fair_tree_list *list = &walk->lists[walk->depth - 1];
    uint32_t first = list->next, end = first + 1;
    while (end < list->end &&
           !compare_level_fs(walk->tree, &walk->entries[first], &walk->entries[end]))
        end++;
    list->next = end;

    uint32_t at = first;
    for (; at < end && walk->tree->nodes[walk->entries[at].node].is_user; at++) {
        if (!walk->tied)
            walk->rank = walk->next_rank;
        walk->tied = true;
        walk->next_rank--;
        fair_tree_rank_user(walk, walk->entries[at].node);
    }
    if (at == end) {
        walk->tied = false;
        return;
    }
    uint32_t start = walk->used;
    for (; at < end; at++)
        append_children(walk, walk->entries[at].node);
    push_list(walk, start);
}

static void rank_as_documented(struct fairshare *fairshare)
{
    const struct tree *tree = fairshare->tree;
    struct fair_tree_walk walk = {
        .fairshare = fairshare,
        .tree = tree,
        .entries = memory_zeroed(tree->count, sizeof *walk.entries),
        .lists = memory_zeroed(tree->level_count + 1, sizeof *walk.lists),
        .next_rank = tree->user_count,
    };
    append_children(&walk, 0);
    push_list(&walk, 0);
    while (walk.depth) {
        struct fair_tree_list *list = &walk.lists[walk.depth - 1];
        if (list->next < list->end) {
            visit_group(&walk);
            continue;
        }
        /* The list is finished: release its part of the stack. */
        walk.depth--;
        walk.used = walk.depth ? walk.lists[walk.depth - 1].end : 0;
        walk.tied = false;
    }
    free(walk.entries);
    free(walk.lists);
}

static void fair_tree_compute(struct fairshare *fairshare)
{
    bool slurmctld = fairshare->options->conformance == CONFORMANCE_SLURMCTLD;
    for (uint32_t i = 0; i < fairshare->tree->count; i++) {
        struct values *values = &fairshare->values[i];
        bool defined = i > 0 && !node_has_parent_shares(&fairshare->tree->nodes[i]);
        values->fair_tree_rank = 0;
        values->fair_tree_factor = NAN;
        values->level_fs = NAN;
        if (defined && !slurmctld)
            values->level_fs = level_fs_as_documented(fairshare, i);
    }
    if (slurmctld)
        fair_tree_rank_as_slurmctld(fairshare);
    else
        rank_as_documented(fairshare);
}

/* The position of an association in a list.  `ahead` is the number of users in higher groups.
 * `users` and `accounts` are the numbers of users and accounts in its own group. */
struct list_position {
    uint32_t ahead, users, accounts;
};

static struct fair_tree_entry fair_tree_entry_of(const struct fairshare *fairshare, uint32_t node)
{
    bool infinite = node_has_parent_shares(&fairshare->tree->nodes[node]);
    return (struct fair_tree_entry){ infinite ? INFINITY : level_fs_as_documented(fairshare, node),
                                     node };
}

/* Returns the position of `one` in the list of all children of the `accounts`.  Sets `members` to
 * the accounts in that list that are tied with `one`. */
static struct list_position find_list_position(const struct fairshare *fairshare, uint32_t one,
                                               const uint32_t *accounts, uint32_t count,
                                               uint32_t *members, const struct usage_setter *setter)
{
    const struct tree *tree = fairshare->tree;
    struct list_position position = { 0 };
    setter->set_usage(setter->context, one);
    const struct fair_tree_entry target = fair_tree_entry_of(fairshare, one);
    for (uint32_t i = 0; i < count; i++) {
        const struct node *account = &tree->nodes[accounts[i]];
        for (uint32_t j = 0; j < account->child_count; j++) {
            uint32_t child = tree->children[account->first_child + j];
            const struct node *member = &tree->nodes[child];
            if (!member->is_user && member->users_below == 0)
                continue;
            setter->set_usage(setter->context, child);
            const struct fair_tree_entry entry = fair_tree_entry_of(fairshare, child);
            int order = compare_level_fs(tree, &entry, &target);
            if (order > 0)
                position.ahead += member->is_user ? 1 : member->users_below;
            else if (order == 0 && member->is_user)
                position.users++;
            else if (order == 0)
                members[position.accounts++] = child;
        }
    }
    return position;
}

/* Returns the rank of the user at the end of `path`.  Uses the same traversal as
 * rank_as_documented(), but only counts users that are not on the path. */
static uint32_t rank_of_one(const struct fairshare *fairshare, const struct path *path,
                            const struct usage_setter *setter)
{
    const struct tree *tree = fairshare->tree;
    uint32_t *accounts = memory_zeroed(tree->level_count + 1, sizeof *accounts);
    uint32_t *members = memory_zeroed(tree->level_count + 1, sizeof *members);
    uint32_t count = 1, next_rank = tree->user_count, rank = 0;
    bool tied = false;
    for (uint32_t depth = 1; depth < path->count; depth++) {
        struct list_position position =
            find_list_position(fairshare, path->nodes[depth], accounts, count, members, setter);
        tied &= !position.ahead;
        next_rank -= position.ahead;
        if (position.users && !tied) {
            rank = next_rank;
            tied = true;
        }
        next_rank -= position.users;
        uint32_t *done = accounts;
        accounts = members;
        members = done;
        count = position.accounts;
    }
    free(accounts);
    free(members);
    return rank;
}

static bool fair_tree_find_one(struct fairshare *fairshare, uint32_t node,
                               const struct usage_setter *setter)
{
    const struct tree *tree = fairshare->tree;
    struct values *values = &fairshare->values[node];
    if (fairshare->options->conformance == CONFORMANCE_SLURMCTLD || !node)
        return false;
    values->fair_tree_rank = 0;
    values->fair_tree_factor = NAN;
    if (tree->nodes[node].is_user) {
        struct path path = path_to(tree, node, true);
        values->fair_tree_rank = rank_of_one(fairshare, &path, setter);
        values->fair_tree_factor = values->fair_tree_rank / (double)tree->user_count;
        path_free(&path);
    }
    setter->set_usage(setter->context, node);
    values->level_fs =
        node_has_parent_shares(&tree->nodes[node]) ? NAN : level_fs_as_documented(fairshare, node);
    return true;
}

static void fair_tree_decide(const struct fairshare *fairshare, uint32_t *order)
{
    const struct tree *tree = fairshare->tree;
    for (uint32_t i = 1; i < tree->count; i++)
        if (fairshare->values[i].fair_tree_rank)
            order[i] = tree->user_count + 1 - fairshare->values[i].fair_tree_rank;
}

VALUES_FIELD(fair_tree_factor)
VALUES_FIELD(level_shares_norm)
VALUES_FIELD(level_usage)

static void add_level_share(struct text *text, const struct explain_context *context, uint32_t i)
{
    if (!node_has_parent_shares(context_node(context, i)))
        text_add_figure(text, context_values(context, i)->level_shares_norm, context->digits);
}

/* Adds `usage/level's usage`. */
static void fair_tree_add_part(struct text *text, const struct explain_context *context, uint32_t i)
{
    explain_add_usage(text, context, i);
    if (!i)
        return;
    text_add(text, "/");
    explain_add_usage_figure(text, context,
                             level_usage(context->fairshare, context_node(context, i)));
}

static void add_level_usage(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, context_values(context, i)->level_usage, context->digits);
}

static void add_level_fs(struct text *text, const struct explain_context *context, uint32_t i)
{
    text_add_figure(text, i ? context_values(context, i)->level_fs : NAN, RESULT_DIGITS);
}

/* Returns true if the displayed quotient equals the quotient of the displayed numbers. */
static bool divides(const char *dividend, const char *divisor, const char *quotient, int digits)
{
    struct text text = { 0 };
    double by = strtod(divisor, NULL);
    if (!*quotient || !(by > 0))
        return true;
    text_add_figure(&text, strtod(dividend, NULL) / by, digits);
    bool holds = !strcmp(text.bytes, quotient);
    text_free(&text);
    return holds;
}

static bool follows(const struct explain_context *context, uint32_t node)
{
    struct text part = { 0 }, usage = { 0 }, shares = { 0 }, level_fs = { 0 };
    fair_tree_add_part(&part, context, node);
    text_add(&usage, "");
    add_level_usage(&usage, context, node);
    text_add(&shares, "");
    add_level_share(&shares, context, node);
    text_add(&level_fs, "");
    add_level_fs(&level_fs, context, node);
    const char *whole = strchr(part.bytes, '/');
    bool all = !whole || (divides(part.bytes, whole + 1, usage.bytes, context->digits) &&
                          divides(shares.bytes, usage.bytes, level_fs.bytes, RESULT_DIGITS));
    text_free(&part);
    text_free(&usage);
    text_free(&shares);
    text_free(&level_fs);
    return all;
}

static const struct explain_column columns[] = {
    { "Shares", explain_add_shares }, { "S", add_level_share },    { "Usage", fair_tree_add_part },
    { "U", add_level_usage },         { "LevelFS", add_level_fs }, { NULL, NULL },
};

const struct algorithm fair_tree = {
    .name = "fair_tree",
    .short_name = "fair_tree",
    .compute = fair_tree_compute,
    .decide = fair_tree_decide,
    .find_one = fair_tree_find_one,
    .factor = values_fair_tree_factor,
    .norm_shares = values_level_shares_norm,
    .effective_usage = values_level_usage,
    .ranks_users = true,
    .columns = columns,
    .digits = 7,
    .formulas = "S and U are its parts of the siblings' shares and usage; LevelFS = S / U\n",
    .follows = follows,
};
