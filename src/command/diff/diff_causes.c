/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_causes.h"

#include <math.h>
#include <stdlib.h>

#include "command/diff/diff_finder.h"
#include "command/diff/diff_left.h"
#include "command/diff/diff_rules.h"
#include "core/tree/tree.h"
#include "core/usage/ledger.h"
#include "report/sshare_print.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* What is charged to each association of the base itself, of a tree that was rolled up. */
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
        finder->own[i] = some ? clock_usage(finder->options.clock, &own[place]) : 0;
    }
    free(own);
}

/* Leave a cause out; false where there is no such cause. */
static bool leave_out(struct finder *finder, enum cause cause)
{
    /* The settings have slurmctld's conformance by now, by which usage has other owners, too. */
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

/* slurmctld's steps. */
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

/* What was printed of each association itself, without what is below it. */
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

/* If the usage that is left after a reset of our ledger was printed, and more than that without the
 * reset, slurmctld forgot it, too: take it.  Returns whether it is so of each node, or NULL if it
 * is of none. */
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

/* What still differs of these users, and so of the accounts above, is by steps, not the ledger. */
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

/* A reset of our ledger that slurmctld has, too, is no difference. */
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

/* The first stage has our own values, before any cause is left out. */
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

static void begin(struct finder *finder, const struct tree *tree, struct names *names,
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

/* With the accounting database. */
static int find_by_jobs(struct finder *finder, struct printed_match *match, struct error *err)
{
    struct tree *tree = NULL;
    if (prior_read(&finder->notes, finder->asked->settings, finder->asked->cluster->name, NULL,
                   err))
        return -1;
    finder->ledger = finder->notes.ledger;
    finder->notes.ledger = NULL;
    if (finder_compute(finder, &finder->first, err))
        return -1;
    finder->newest = finder->first;
    finder->options = finder->first.options;
    begin(finder, finder->first.tree, finder->first.accounting->names, match);
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

/* With what is published alone. */
static int find_by_results(struct finder *finder, struct printed_match *match, struct error *err)
{
    const struct published_cluster *cluster = finder->asked->cluster;
    begin(finder, cluster->tree, cluster->names, match);
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
    pricing_free(&finder.reduced.whole);
    ledger_destroy(finder.ledger);
    prior_free(&finder.notes);
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
