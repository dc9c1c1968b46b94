/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_left.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "command/diff/diff_finder.h"
#include "command/diff/diff_possible.h"
#include "core/tree/tree.h"
#include "report/sshare_print.h"
#include "results/published.h"
#include "util/memory.h"

/* The usage that was printed, as near to the last stage's as its digits allow.  Less than a few
 * units of a double's last digit are no difference. */
static double printed_usage(const struct finder *finder, uint32_t node)
{
    const struct usage_bounds *bounds = &finder->match->bounds[node];
    double usage = finder->last.usage[node], rounding = 4 * DBL_EPSILON * usage;
    if (usage < bounds->low - rounding)
        return bounds->low;
    return usage > bounds->high + rounding ? bounds->high : usage;
}

/* Where nothing was printed otherwise, nothing changes, to the last bit. */
static double *printed_own_usage(const struct finder *finder)
{
    const struct tree *tree = finder->tree;
    double *own = memory_zeroed(tree->count, sizeof *own);
    for (uint32_t i = 0; i < tree->count; i++)
        own[i] = finder->own[i] + (printed_usage(finder, i) - finder->last.usage[i]);
    for (uint32_t i = 1; i < tree->count; i++)
        own[tree->nodes[i].parent] -= printed_usage(finder, i) - finder->last.usage[i];
    for (uint32_t i = 0; i < tree->count; i++)
        own[i] = own[i] > 0 ? own[i] : 0;
    return own;
}

static bool find_left_usage(struct finder *finder)
{
    bool any = false;
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct difference *usage = &finder->differences->rows[i].usage;
        uint32_t node = finder->match->nodes[i];
        double rest = printed_usage(finder, node) - finder->last.usage[node];
        usage->printed = usage->ours + rest;
        for (int cause = 0; cause < CAUSES; cause++)
            usage->printed += usage->causes[cause];
        if (finder->blur && fabs(rest) <= finder->blur[node])
            usage->causes[CAUSE_SECOND] = rest;
        else
            usage->left = rest;
        any |= usage->left < 0 || usage->left > 0;
    }
    return any;
}

/* Where the usage of a node was when it was printed.  Of one whose jobs charge nothing it was
 * nothing, if that may have been printed. */
static struct usage_bounds usage_bounds_of(const struct finder *finder, uint32_t node)
{
    struct usage_bounds bounds = finder->match->bounds[node];
    double usage = finder->last.usage[node];
    if (isnan(bounds.low) || (finder->asked->source && !(usage > 0) && !(bounds.low > 0)))
        return (struct usage_bounds){ usage, usage };
    return bounds;
}

/* What can have been printed with the printed shares and usage. */
static struct possible find_possible(const struct finder *finder, const struct tree *tree,
                                     const struct values *values)
{
    struct possible possible, found;
    uint32_t count = finder->tree->count;
    const struct printed_row **rows = memory_zeroed(count, sizeof *rows);
    struct usage_bounds *usage = memory_zeroed(count, sizeof *usage);
    double *fresh = memory_zeroed(count, sizeof *fresh), *late = memory_zeroed(count, sizeof *late);
    bool *exact = memory_zeroed(count, sizeof *exact);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = place_in_tree(tree, &finder->tree->nodes[i]);
        rows[place] = finder->match->rows[i];
        usage[place] = usage_bounds_of(finder, i);
        fresh[place] = finder->fresh ? finder->fresh[i] : 0;
        late[place] = finder->late ? finder->late[i] : 0;
        exact[place] = finder->blur && !(finder->blur[i] > 0) &&
                       printed_usage(finder, i) == finder->last.usage[i];
    }
    possible_find(&found, &(struct possible_case){ tree, values, &finder->options,
                                                   finder->asked->cluster->algorithm, rows, usage,
                                                   finder->fresh ? fresh : NULL,
                                                   finder->late ? late : NULL, exact });
    possible.fairshare = memory_zeroed(count, sizeof *possible.fairshare);
    possible.wrong = memory_zeroed(count, sizeof *possible.wrong);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = place_in_tree(tree, &finder->tree->nodes[i]);
        possible.fairshare[i] = found.fairshare[place];
        possible.wrong[i] = found.wrong[place];
    }
    possible_free(&found);
    free(rows);
    free(usage);
    free(fresh);
    free(late);
    free(exact);
    return possible;
}

static double nearest_in(struct usage_bounds bounds, double value)
{
    return value < bounds.low ? bounds.low : value > bounds.high ? bounds.high : value;
}

/* What is left of a factor: how far the printed one is from what is possible.  The rest is by the
 * printed usage, and by when slurmctld has looked at it. */
static void find_left_factor(const struct finder *finder, uint32_t node, double with_printed,
                             struct usage_bounds possible, struct difference *fairshare)
{
    const struct printed_number *number = &finder->match->rows[node]->fairshare;
    struct usage_bounds printed = { number->low, number->high };
    if (isnan(fairshare->ours) || !printed_is_there(number)) {
        fairshare->printed = NAN;
        return;
    }
    double nearest = nearest_in(printed, with_printed);
    double left = 0;
    if (!bounds_meet(possible, printed))
        left = nearest - nearest_in(possible, nearest);
    double rest = stage_change(finder->last.fairshare[node], nearest) - left;
    bool ranks = finder->asked->cluster->algorithm->ranks_users;
    fairshare->left = left;
    fairshare
        ->causes[!ranks && finder->fresh && finder->fresh[0] > 0 ? CAUSE_PASS : CAUSE_SECOND] +=
        rest;
    fairshare->printed = nearest;
}

static void find_left_fairshare(struct finder *finder, const struct tree *tree,
                                const struct values *values, bool any_left)
{
    struct possible possible = find_possible(finder, tree, values);
    struct stage stage = finder_stage_of(finder, tree, values);
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct compared_association *row = &finder->differences->rows[i];
        uint32_t node = finder->match->nodes[i];
        double by_usage =
            any_left ? stage_change(finder->last.fairshare[node], stage.fairshare[node]) : 0;
        by_usage = fabs(by_usage) > 1e-12 ? by_usage : 0;
        finder->last.fairshare[node] += by_usage;
        find_left_factor(finder, node, stage.fairshare[node], possible.fairshare[node],
                         &row->fairshare);
        if (!isnan(row->fairshare.printed))
            row->fairshare.left += by_usage;
        row->contradictions = possible.wrong[node];
        row->level_fs_differs = possible.wrong[node] & WRONG_LEVEL_FS;
    }
    stage_free(&stage);
    possible_free(&possible);
}

int finder_apply_print(struct finder *finder, struct error *err)
{
    struct tree *tree = NULL;
    struct stage stage;
    if (finder_build_tree(finder, true, &tree, err))
        return -1;
    int result = finder_compute_stage(finder, tree, &stage, err);
    if (!result) {
        finder_explain(finder, CAUSE_SHARES, stage);
        bool any_left = find_left_usage(finder);
        double *own = printed_own_usage(finder);
        struct values *values = finder_values_with(finder, tree, own, err);
        if (values)
            find_left_fairshare(finder, tree, values, any_left);
        result = values ? 0 : -1;
        free(values);
        free(own);
    }
    tree_destroy(tree);
    return result;
}
