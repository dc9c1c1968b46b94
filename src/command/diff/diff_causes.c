/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_causes.h"

#include <math.h>
#include <stdlib.h>

#include "command/diff/diff_finder.h"
#include "command/diff/diff_left.h"
#include "command/diff/diff_resets.h"
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
                                       .ends_free = finder->asked->ends_free };
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
    struct stage stage;
    if (finder_compute_stage(finder, tree, &stage, err))
        return -1;
    finder_explain(finder, CAUSE_STEPS, stage);
    return 0;
}

/* Take the resets that are in our ledger, or those that are not. */
static int apply_some_resets(struct finder *finder, const struct resets *resets, bool of_ledger,
                             struct tree *tree, struct error *err)
{
    struct stage stage;
    for (size_t i = 0; i < resets->count; i++)
        if (resets->list[i].in_ledger == of_ledger)
            for (uint32_t j = 0; j < finder->tree->count; j++)
                if (resets->cover[j] == resets->list[i].node)
                    finder->own[j] = resets->own[j];
    if (finder_compute_stage(finder, tree, &stage, err))
        return -1;
    finder_explain(finder, of_ledger ? CAUSE_LEDGER : CAUSE_RESET, stage);
    return 0;
}

/* Where our ledger has a reset and slurmctld forgot the same, the cause of what still differs is
 * steps, not the ledger. */
static void settle_ledger(struct finder *finder, const struct resets *resets)
{
    uint32_t count = finder->tree->count;
    double *by_steps = memory_zeroed(count, sizeof *by_steps);
    for (size_t i = 0; i < finder->differences->count; i++)
        by_steps[finder->match->nodes[i]] = finder->differences->rows[i].usage.causes[CAUSE_LEDGER];
    double *settled = memory_zeroed(count, sizeof *settled);
    for (size_t i = 0; i < resets->count; i++) {
        uint32_t node = resets->list[i].node;
        if (!resets->list[i].in_ledger)
            continue;
        for (uint32_t j = node; j < count; j++)
            settled[j] = resets->cover[j] == node ? by_steps[j] : settled[j];
        for (uint32_t above = node; above;) {
            above = finder->tree->nodes[above].parent;
            settled[above] += by_steps[node];
        }
    }
    for (size_t i = 0; i < finder->differences->count; i++) {
        double *causes = finder->differences->rows[i].usage.causes;
        causes[CAUSE_LEDGER] -= settled[finder->match->nodes[i]];
        causes[CAUSE_STEPS] += settled[finder->match->nodes[i]];
    }
    free(by_steps);
    free(settled);
}

static void add_command(struct differences *differences, struct text *text)
{
    differences->commands = memory_grown(differences->commands, differences->command_count,
                                         sizeof *differences->commands);
    differences->commands[differences->command_count++] =
        arena_copy(differences->texts, text->bytes, text->length);
    text_free(text);
}

static void add_commands(struct finder *finder, const struct reset_search *search,
                         const struct resets *resets)
{
    struct differences *differences = finder->differences;
    for (size_t i = 0; i < resets->count; i++) {
        const struct found_reset *reset = &resets->list[i];
        struct text text = { 0 };
        if (reset->in_ledger)
            continue;
        reset_add_command(&text, search, reset, finder->names, differences->cluster);
        add_command(differences, &text);
        for (size_t j = 0; j < reset->ended.count; j++) {
            reset_add_refund(&text, reset, reset->ended.keys[j], differences->cluster);
            add_command(differences, &text);
        }
    }
}

/* What slurmctld was told to forget.  If our ledger has been told, too, that is no difference. */
static int apply_resets(struct finder *finder, struct tree *tree, struct error *err)
{
    struct resets resets;
    const struct reset_search search = { .tree = finder->tree,
                                         .computation = &finder->newest,
                                         .ledger = finder->first.ledger,
                                         .stepped = &finder->stepped,
                                         .printed = finder->match->bounds,
                                         .own = finder->own,
                                         .blur = finder->blur };
    if (resets_find(&resets, &search, err))
        return -1;
    add_commands(finder, &search, &resets);
    int result = resets.count ? apply_some_resets(finder, &resets, true, tree, err) : 0;
    if (!result && resets.count) {
        settle_ledger(finder, &resets);
        result = apply_some_resets(finder, &resets, false, tree, err);
    }
    resets_free(&resets);
    return result;
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
                                         .algorithm = cluster->algorithm };
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
    free(differences->commands);
    differences->commands = NULL;
    differences->rows = NULL;
    differences->count = 0;
    if (differences->texts)
        arena_destroy(differences->texts);
    differences->texts = NULL;
}
