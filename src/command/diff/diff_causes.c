/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_causes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "command/diff/diff_finder.h"
#include "command/diff/diff_possible.h"
#include "command/diff/diff_rules.h"
#include "core/tree/tree.h"
#include "core/usage/ledger.h"
#include "report/sshare_print.h"
#include "results/published.h"
#include "util/error.h"
#include "util/memory.h"

/* Returns the usage within the printed bounds that is closest to the last stage's usage.  Ignores
 * differences of a few units of a double's last digit. */
static double printed_usage(const struct finder *finder, uint32_t node)
{
    const struct usage_bounds *bounds = &finder->match->bounds[node];
    double usage = finder->last.usage[node], rounding = 4 * DBL_EPSILON * usage;
    if (usage < bounds->low - rounding)
        return bounds->low;
    return usage > bounds->high + rounding ? bounds->high : usage;
}

/* Returns the usage that must be charged to each node itself to get the printed usage; the caller
 * frees the array, which is indexed by node.  Adds the differences to finder->own, so that values
 * without a difference stay the same to the last bit. */
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

/* Returns the bounds of a node's usage at the time of the output.  If its jobs charge nothing and
 * the output allows 0, the usage is exactly 0. */
static struct usage_bounds usage_bounds_of(const struct finder *finder, uint32_t node)
{
    struct usage_bounds bounds = finder->match->bounds[node];
    double usage = finder->last.usage[node];
    if (isnan(bounds.low) || (finder->asked->source && !(usage > 0) && !(bounds.low > 0)))
        return (struct usage_bounds){ usage, usage };
    return bounds;
}

/* Computes the bounds of the values that can have been printed with the printed shares and
 * usage. */
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

/* Computes the unexplained part of a factor's difference: the distance of the printed factor from
 * the possible factors.  The other part of the difference comes from the printed usage and the time
 * of slurmctld's computation. */
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

/* Applies the last two stages, which use the printed shares and then the printed usage.
 * Differences that CAUSE_PASS or CAUSE_SECOND can explain are attributed to that cause.  All other
 * differences are unexplained. */
static int finder_apply_print(struct finder *finder, struct error *err)
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

/* Computes the usage charged to each node of the base tree itself.  `tree` contains sums that
 * include descendants. */
static void find_own_usage(struct finder *finder, const struct tree *tree)
{
    struct wide *own = memory_zeroed(tree->count, sizeof *own);
    for (uint32_t i = 0; i < tree->count; i++)
        own[i] = tree->nodes[i].usage;
    for (uint32_t i = 1; i < tree->count; i++)
        if (!wide_subtract(&own[tree->nodes[i].parent], &tree->nodes[i].usage))
            own[tree->nodes[i].parent] = (struct wide){ { 0 } };
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in_tree(tree, &finder->tree->nodes[i]);
        bool some = place != NO_NODE && !wide_is_negative(&own[place]);
        finder->own[i] = some ? decay_table_usage(finder->options.decay, &own[place]) : 0;
    }
    free(own);
}

/* Removes a cause.  Returns false if it does not apply. */
static bool leave_out(struct finder *finder, enum cause cause)
{
    /* The settings already have slurmctld's conformance, which changes the owners of usage, too. */
    if (cause == CAUSE_READDED)
        return finder->asked->settings->conformance != CONFORMANCE_SLURMCTLD;
    if (cause != CAUSE_LEDGER)
        return settings_without(&finder->reduced, cause, finder->newest.findings);
    bool was_there = finder->ledger->count != 0;
    ledger_destroy(finder->ledger);
    finder->ledger = NULL;
    return was_there;
}

static int leave_out_causes(struct finder *finder, struct error *err)
{
    for (int cause = 0; cause < CAUSES; cause++) {
        if (!leave_out(finder, (enum cause)cause))
            continue;
        struct computation next;
        if (finder_compute(finder, &next, err))
            return -1;
        if (finder->computed)
            computation_free(&finder->newest);
        finder->newest = next;
        finder->computed = true;
        finder_explain(finder, (enum cause)cause, finder_stage_of(finder, next.tree, next.values));
    }
    find_own_usage(finder, finder->newest.tree);
    return 0;
}

/* Replaces fairmill's usage by the usage that slurmctld computes in decay steps. */
static int apply_steps(struct finder *finder, struct tree *tree, struct error *err)
{
    finder->blur = memory_zeroed(finder->tree->count, sizeof *finder->blur);
    finder->fresh = memory_zeroed(finder->tree->count, sizeof *finder->fresh);
    finder->late = memory_zeroed(finder->tree->count, sizeof *finder->late);
    struct stepped_usage *stepped = &finder->stepped;
    *stepped = (struct stepped_usage){ .period = finder->asked->period,
                                       .newest = finder->asked->newest_step,
                                       .ends_free = finder->asked->ends_free,
                                       .ledger = finder->first.ledger };
    const struct computation *newest = &finder->newest;
    struct usage_bounds *bounds = memory_zeroed(newest->tree->count, sizeof *bounds);
    for (uint32_t i = 0; i < newest->tree->count; i++) {
        uint32_t place = place_in_tree(finder->tree, &newest->tree->nodes[i]);
        bounds[i] =
            place == NO_NODE ? (struct usage_bounds){ NAN, NAN } : finder->match->bounds[place];
    }
    int result = stepped_usage_read(stepped, newest, bounds, err);
    free(bounds);
    if (result)
        return -1;
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in_tree(newest->tree, &finder->tree->nodes[i]);
        bool there = place != NO_NODE;
        finder->own[i] = there ? stepped->usage[place] : 0;
        finder->blur[i] = there ? stepped->blur[place] : 0;
        finder->fresh[i] = there ? stepped->fresh[place] : 0;
        finder->late[i] = there ? stepped->late[place] : 0;
    }
    finder->differences->period = stepped->period;
    finder->differences->newest_step = stepped->newest;
    finder->differences->period_decay = stepped->period_decay;
    struct stage stage;
    if (finder_compute_stage(finder, tree, &stage, err))
        return -1;
    finder_explain(finder, CAUSE_STEPS, stage);
    return 0;
}

/* Returns the printed usage of each association without its descendants; the caller frees it. */
static struct usage_bounds *printed_own(const struct finder *finder)
{
    const struct usage_bounds *printed = finder->match->bounds;
    struct usage_bounds *own = memory_zeroed(finder->tree->count, sizeof *own);
    for (uint32_t i = 0; i < finder->tree->count; i++)
        own[i] = printed[i];
    for (uint32_t i = 1; i < finder->tree->count; i++) {
        own[finder->tree->nodes[i].parent].low -= printed[i].high;
        own[finder->tree->nodes[i].parent].high -= printed[i].low;
    }
    return own;
}

/* Applies resets of fairmill's ledger that slurmctld has made, too.  Then the printed usage matches
 * the remaining usage after the reset, but not the usage without it.  Returns an array, indexed by
 * node, that is true if a reset was applied to the node.  Returns NULL if no reset was applied.
 * The caller frees the array. */
static bool *take_resets(struct finder *finder)
{
    bool any = false, *taken = memory_zeroed(finder->tree->count, sizeof *taken);
    struct usage_bounds *own = printed_own(finder);
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in_tree(finder->newest.tree, &finder->tree->nodes[i]);
        double slack = finder->blur[i];
        if (place == NO_NODE || isnan(finder->stepped.after_reset[place]) ||
            !(finder->own[i] - slack > own[i].high))
            continue;
        double left = finder->stepped.after_reset[place];
        struct usage_bounds around = finder->stepped.around_reset[place];
        if (around.low - slack > own[i].high || around.high + slack < own[i].low)
            continue;
        if (left - slack > own[i].high || left + slack < own[i].low)
            left = fmin(fmax(left, own[i].low), own[i].high);
        finder->own[i] = left;
        any = taken[i] = true;
    }
    free(own);
    if (!any)
        free(taken);
    return any ? taken : NULL;
}

/* Moves the amount of CAUSE_LEDGER to CAUSE_STEPS for each user with a true element in `taken`, and
 * for the accounts above these users.  Because slurmctld made the same reset, the remaining
 * difference comes from the steps. */
static void settle_ledger(struct finder *finder, const bool *taken)
{
    const struct tree *tree = finder->tree;
    double *settled = memory_zeroed(tree->count, sizeof *settled);
    for (size_t i = 0; i < finder->differences->count; i++) {
        uint32_t node = finder->match->nodes[i];
        if (taken[node] && tree->nodes[node].is_user)
            settled[node] = finder->differences->rows[i].usage.causes[CAUSE_LEDGER];
    }
    for (uint32_t i = tree->count; i-- > 1;)
        settled[tree->nodes[i].parent] += settled[i];
    for (size_t i = 0; i < finder->differences->count; i++) {
        double *causes = finder->differences->rows[i].usage.causes;
        causes[CAUSE_LEDGER] -= settled[finder->match->nodes[i]];
        causes[CAUSE_STEPS] += settled[finder->match->nodes[i]];
    }
    free(settled);
}

/* A reset in fairmill's ledger that slurmctld has made, too, is not a difference. */
static int apply_resets(struct finder *finder, struct tree *tree, struct error *err)
{
    struct stage stage;
    bool *taken = take_resets(finder);
    if (!taken)
        return 0;
    settle_ledger(finder, taken);
    free(taken);
    if (finder_compute_stage(finder, tree, &stage, err))
        return -1;
    finder_explain(finder, CAUSE_STEPS, stage);
    return 0;
}

/* The first stage has fairmill's values, before any cause is removed. */
static void begin_with_ours(struct finder *finder)
{
    const struct published_cluster *cluster = finder->asked->cluster;
    finder->last = finder_stage_of(finder, cluster->tree, cluster->values);
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct compared_association *row = &finder->differences->rows[i];
        row->usage.ours = finder->last.usage[finder->match->nodes[i]];
        row->fairshare.ours = finder->last.fairshare[finder->match->nodes[i]];
    }
}

static void diff_causes_begin(struct finder *finder, const struct tree *tree, struct names *names,
                              struct printed_match *match)
{
    finder->tree = tree;
    finder->names = names;
    finder->match = match;
    printed_match_make(match, finder->asked->print, tree, names, finder->asked->source != NULL,
                       finder->differences);
    finder->own = memory_zeroed(tree->count, sizeof *finder->own);
    begin_with_ours(finder);
}

/* Finds the causes with the accounting database. */
static int find_by_jobs(struct finder *finder, struct printed_match *match, struct error *err)
{
    struct tree *tree = NULL;
    if (recorded_state_read(&finder->notes, finder->asked->settings, finder->asked->cluster->name,
                            NULL, err))
        return -1;
    finder->ledger = finder->notes.ledger;
    finder->notes.ledger = NULL;
    if (finder_compute(finder, &finder->first, err))
        return -1;
    finder->newest = finder->first;
    finder->options = finder->first.options;
    diff_causes_begin(finder, finder->first.tree, finder->first.accounting->names, match);
    finder_explain(finder, CAUSE_AGE, finder_stage_of(finder, finder->tree, finder->first.values));
    finder_apply_conformance(finder, finder->tree);
    int result =
        finder_apply_order(finder, finder->first.tree, err) || leave_out_causes(finder, err);
    if (!result)
        result = finder_build_tree(finder, false, &tree, err);
    if (!result)
        result = apply_steps(finder, tree, err) || apply_resets(finder, tree, err) ? -1 : 0;
    tree_destroy(tree);
    return result ? -1 : finder_apply_print(finder, err);
}

/* Finds the causes from the published results alone. */
static int find_by_results(struct finder *finder, struct printed_match *match, struct error *err)
{
    const struct published_cluster *cluster = finder->asked->cluster;
    diff_causes_begin(finder, cluster->tree, cluster->names, match);
    finder_apply_conformance(finder, cluster->tree);
    if (finder_apply_order(finder, cluster->tree, err))
        return -1;
    find_own_usage(finder, cluster->tree);
    return finder_apply_print(finder, err);
}

int diff_causes_find(const struct diff_case *asked, struct differences *differences,
                     struct error *err)
{
    const struct published_cluster *cluster = asked->cluster;
    struct printed_match match = { 0 };
    struct finder finder = { .asked = asked,
                             .differences = differences,
                             .reduced = { .settings = *asked->settings },
                             .options = cluster->options };
    *differences = (struct differences){ .cluster = cluster->name,
                                         .login = asked->login,
                                         .as_of = cluster->as_of,
                                         .printed_at = asked->printed_at,
                                         .algorithm = cluster->algorithm,
                                         .period_decay = NAN };
    int result =
        asked->source ? find_by_jobs(&finder, &match, err) : find_by_results(&finder, &match, err);
    if (!result) {
        differences->users = finder.tree->user_count;
        diff_note_unknown(differences, asked->settings, asked->source != NULL,
                          finder.first.record.unattributed_usage);
    }
    printed_match_free(&match);
    stage_free(&finder.last);
    stepped_usage_free(&finder.stepped);
    free(finder.own);
    free(finder.blur);
    free(finder.fresh);
    free(finder.late);
    charge_weights_free(&finder.reduced.whole);
    ledger_destroy(finder.ledger);
    recorded_state_free(&finder.notes);
    if (finder.computed)
        computation_free(&finder.newest);
    computation_free(&finder.first);
    if (result)
        diff_causes_free(differences);
    return result;
}

void diff_causes_free(struct differences *differences)
{
    free(differences->rows);
    differences->rows = NULL;
    differences->count = 0;
    if (differences->texts)
        arena_destroy(differences->texts);
    differences->texts = NULL;
}
