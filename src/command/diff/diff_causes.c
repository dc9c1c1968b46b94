/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_causes.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "command/diff/diff_possible.h"
#include "command/diff/diff_print.h"
#include "command/diff/diff_resets.h"
#include "command/diff/diff_settings.h"
#include "compute/compute.h"
#include "compute/prior.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/tree/lineage.h"
#include "core/usage/ledger.h"
#include "report/sshare_print.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "source/source.h"
#include "compute/stepped_usage.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* What the values are at one stage, by node of the base tree. */
struct stage {
    double *usage, *fairshare, *level_fs;
};

struct finder {
    const struct diff_case *asked;
    struct differences *differences;
    struct ledger *ledger;           /* NULL once it is left out */
    struct prior notes;              /* without it */
    struct reduced_settings reduced; /* less the causes that were taken away */
    struct fairshare_options options;
    const struct tree *tree; /* the base: all stages are by its nodes */
    struct names *names;
    struct computation first, newest; /* as the settings have it, and less causes */
    bool computed;                    /* `newest` is another one than `first` */
    struct printed_match *match;
    struct stage last;
    double *own;                 /* usage charged to the association itself, at this stage */
    double *blur, *fresh, *late; /* of stepped usage; NULL without jobs */
    struct stepped_usage stepped;
};

static struct stage stage_create(uint32_t count)
{
    return (struct stage){ memory_zeroed(count, sizeof(double)),
                           memory_zeroed(count, sizeof(double)),
                           memory_zeroed(count, sizeof(double)) };
}

static void stage_free(struct stage *stage)
{
    free(stage->usage);
    free(stage->fairshare);
    free(stage->level_fs);
}

/* Where a node of the base is in another tree; NO_NODE where it is not. */
static uint32_t place_in(const struct tree *tree, const struct node *node)
{
    uint32_t place = tree_place(tree, node->id);
    return place != NO_NODE && tree->nodes[place].id == node->id ? place : NO_NODE;
}

static struct stage stage_of(const struct finder *finder, const struct tree *tree,
                             const struct values *values)
{
    struct stage stage = stage_create(finder->tree->count);
    const struct algorithm *algorithm = finder->asked->cluster->algorithm;
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in(tree, &finder->tree->nodes[i]);
        bool there = place != NO_NODE;
        stage.usage[i] = there ? values[place].usage_raw : 0;
        stage.fairshare[i] = there ? algorithm->factor(&values[place]) : NAN;
        stage.level_fs[i] = there ? values[place].level_fs : NAN;
    }
    return stage;
}

/* From or to no value there is no change. */
static double change_between(double from, double to)
{
    return isnan(from) || isnan(to) ? 0 : to - from;
}

/* The cause explains what is different at this stage, which is the last from now on. */
static void explain_by(struct finder *finder, enum cause cause, struct stage stage)
{
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct compared_association *row = &finder->differences->rows[i];
        uint32_t node = finder->match->nodes[i];
        row->usage.causes[cause] += change_between(finder->last.usage[node], stage.usage[node]);
        row->fairshare.causes[cause] +=
            change_between(finder->last.fairshare[node], stage.fairshare[node]);
    }
    stage_free(&finder->last);
    finder->last = stage;
}

/* Whether the association's place is another one because of what deleted users have used: then its
 * level_fs, or one above it, is another one too. */
static bool is_by_deleted(const struct finder *finder, const struct stage *stage, uint32_t node)
{
    for (; node != NO_NODE; node = finder->tree->nodes[node].fairshare_parent) {
        double before = finder->last.level_fs[node], after = stage->level_fs[node];
        if (!isnan(before) && !isnan(after) && fabs(after - before) > 1e-12 * fabs(before))
            return true;
    }
    return false;
}

static void explain_by_conformance(struct finder *finder, struct stage stage)
{
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct compared_association *row = &finder->differences->rows[i];
        uint32_t node = finder->match->nodes[i];
        enum cause cause = is_by_deleted(finder, &stage, node) ? CAUSE_DELETED : CAUSE_TIES;
        row->fairshare.causes[cause] +=
            change_between(finder->last.fairshare[node], stage.fairshare[node]);
    }
    stage_free(&finder->last);
    finder->last = stage;
}

/* The release by whose rules the print is: users have factors in it, accounts have them or not. */
static const struct release *printed_release(const struct finder *finder,
                                             const struct release *ours)
{
    bool users = false, accounts = false, any_account = false;
    for (uint32_t i = 1; i < finder->tree->count; i++) {
        const struct printed_row *row = finder->match->rows[i];
        bool has_factor = row && printed_is_there(&row->fairshare);
        users |= has_factor && finder->tree->nodes[i].is_user;
        accounts |= has_factor && !finder->tree->nodes[i].is_user;
        any_account |= row && !finder->tree->nodes[i].is_user;
    }
    const struct release *release = ours ? ours : releases;
    if (!finder->asked->cluster->algorithm->by_rules || !users || !any_account ||
        release->leaves_accounts_out == !accounts)
        return release;
    for (release = releases; !accounts && !release->leaves_accounts_out;)
        release++;
    return release;
}

/* The same usage by slurmctld's conformance, and then by the release of the print. */
static void apply_conformance(struct finder *finder, const struct tree *tree)
{
    struct values *values = memory_zeroed(tree->count, sizeof *values);
    const struct release *release = printed_release(finder, finder->options.release);
    if (finder->options.conformance == CONFORMANCE_DOCUMENTS)
        finder->options.release = NULL;
    finder->options.conformance = finder->reduced.settings.conformance = CONFORMANCE_SLURMCTLD;
    fairshare_compute(tree, &finder->options, values);
    explain_by_conformance(finder, stage_of(finder, tree, values));
    finder->options.release = finder->reduced.settings.slurm_release = release;
    fairshare_compute(tree, &finder->options, values);
    explain_by(finder, CAUSE_RELEASE, stage_of(finder, tree, values));
    free(values);
}

static int compute_again(struct finder *finder, struct computation *computation, struct error *err)
{
    const struct diff_case *asked = finder->asked;
    const struct prior prior = { .ledger = finder->ledger, .factors = finder->notes.factors };
    struct source source =
        source_of(&finder->reduced.settings, asked->source, asked->cluster->name);
    source.instant = &asked->printed_at;
    source.ordered = true;
    *computation = computation_of(&source);
    return compute_cluster(computation, &prior, err);
}

/* How many printed factors these values have. */
static size_t count_agreeing(const struct finder *finder, const struct values *values)
{
    const struct algorithm *algorithm = finder->asked->cluster->algorithm;
    size_t count = 0;
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        const struct printed_row *row = finder->match->rows[i];
        double factor = algorithm->factor(&values[i]);
        count += row && factor >= row->fairshare.low && factor <= row->fairshare.high;
    }
    return count;
}

/* Give the base the order that `ties` does not say: bytes follow from names, the database is asked
 * for its collation. */
static int reorder(struct finder *finder, struct tree *tree, struct error *err)
{
    enum ties *ties = &finder->reduced.settings.ties;
    struct computation other;
    if (*ties == TIES_BY_COLLATION || !finder->asked->source) {
        *ties = TIES_BY_BYTES;
        tree_order_by_lineage(tree, finder->names);
        return 0;
    }
    *ties = TIES_BY_COLLATION;
    if (compute_again(finder, &other, err))
        return -1;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t place = place_in(other.tree, &tree->nodes[i]);
        if (place != NO_NODE)
            tree->nodes[i].order = other.tree->nodes[place].order;
    }
    computation_free(&other);
    return 0;
}

/* The order in which tied accounts are visited is the one with which more of the print agrees. */
static int apply_order(struct finder *finder, struct tree *tree, struct error *err)
{
    if (!finder->asked->cluster->algorithm->ranks_users)
        return 0;
    enum ties ties = finder->reduced.settings.ties;
    struct values *values = memory_zeroed(tree->count, sizeof *values);
    uint32_t *orders = memory_zeroed(tree->count, sizeof *orders);
    for (uint32_t i = 0; i < tree->count; i++)
        orders[i] = tree->nodes[i].order;
    fairshare_compute(tree, &finder->options, values);
    size_t agreeing = count_agreeing(finder, values);
    int result = agreeing < tree->user_count ? reorder(finder, tree, err) : 0;
    fairshare_compute(tree, &finder->options, values);
    if (!result && count_agreeing(finder, values) > agreeing) {
        explain_by(finder, CAUSE_ORDER, stage_of(finder, tree, values));
    } else {
        finder->reduced.settings.ties = ties;
        for (uint32_t i = 0; i < tree->count; i++)
            tree->nodes[i].order = orders[i];
    }
    free(orders);
    free(values);
    return result;
}

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
        uint32_t place = place_in(tree, &finder->tree->nodes[i]);
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
        if (compute_again(finder, &next, err))
            return -1;
        if (finder->computed)
            computation_free(&finder->newest);
        finder->newest = next;
        finder->computed = true;
        explain_by(finder, (enum cause)cause, stage_of(finder, next.tree, next.values));
    }
    find_own_usage(finder, finder->newest.tree);
    return 0;
}

/* A tree like the base, with the printed shares where `printed`. */
static int build_tree(const struct finder *finder, bool printed, struct tree **tree,
                      struct error *err)
{
    const struct tree *base = finder->tree;
    struct association *rows = memory_zeroed(base->count, sizeof *rows);
    struct findings *findings = findings_create();
    uint32_t empty = names_find(finder->names, "", 0);
    for (uint32_t i = 0; i < base->count; i++) {
        const struct node *node = &base->nodes[i];
        const struct printed_row *row = finder->match->rows[i];
        bool changed = printed && i && row && row->has_shares;
        rows[i] = (struct association){
            .id = node->id,
            .parent_id = i ? base->nodes[node->parent].id : 0,
            .account = node->account,
            .user = node->user,
            .partition = node->partition,
            .parent_account = i && !node->is_user ? base->nodes[node->parent].account : empty,
            .shares = !changed             ? node->shares
                      : row->parent_shares ? SHARES_PARENT
                                           : printed_shares(row),
            .order = node->order,
        };
    }
    int result =
        tree_build(tree, &(struct associations){ rows, base->count, finder->names, empty, true },
                   BAD_ROWS_FAIL, findings, err);
    findings_destroy(findings);
    free(rows);
    return result;
}

/* Every value of a tree in which the associations have this usage of their own; to be freed. */
static struct values *values_with(const struct finder *finder, struct tree *tree, const double *own,
                                  struct error *err)
{
    for (uint32_t i = 0; i < tree->count; i++)
        tree->nodes[i].usage = (struct wide){ { 0 } };
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in(tree, &finder->tree->nodes[i]);
        if (!clock_sum_of(finder->options.clock, own[i], &tree->nodes[place].usage)) {
            fail(err, ERROR_DATA, "a usage is beyond the range of our integers");
            return NULL;
        }
    }
    if (tree_roll_up_usage(tree, err))
        return NULL;
    struct values *values = memory_zeroed(tree->count, sizeof *values);
    fairshare_compute(tree, &finder->options, values);
    return values;
}

static int compute_stage(const struct finder *finder, struct tree *tree, struct stage *stage,
                         struct error *err)
{
    struct values *values = values_with(finder, tree, finder->own, err);
    if (!values)
        return -1;
    *stage = stage_of(finder, tree, values);
    free(values);
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
        uint32_t place = place_in(finder->tree, &newest->tree->nodes[i]);
        bounds[i] =
            place == NO_NODE ? (struct usage_bounds){ NAN, NAN } : finder->match->bounds[place];
    }
    int result = stepped_usage_read(stepped, newest, bounds, err);
    free(bounds);
    if (result)
        return -1;
    for (uint32_t i = 0; i < finder->tree->count; i++) {
        uint32_t place = place_in(newest->tree, &finder->tree->nodes[i]);
        bool there = place != NO_NODE;
        finder->own[i] = there ? stepped->usage[place] : 0;
        finder->blur[i] = there ? stepped->blur[place] : 0;
        finder->fresh[i] = there ? stepped->fresh[place] : 0;
        finder->late[i] = there ? stepped->late[place] : 0;
    }
    finder->differences->period = stepped->period;
    finder->differences->newest_step = stepped->newest;
    struct stage stage;
    if (compute_stage(finder, tree, &stage, err))
        return -1;
    explain_by(finder, CAUSE_STEPS, stage);
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
    if (compute_stage(finder, tree, &stage, err))
        return -1;
    explain_by(finder, of_ledger ? CAUSE_LEDGER : CAUSE_RESET, stage);
    return 0;
}

/* What our ledger has taken away and slurmctld, too, differs by steps only. */
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
        uint32_t place = place_in(tree, &finder->tree->nodes[i]);
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
        uint32_t place = place_in(tree, &finder->tree->nodes[i]);
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
    double rest = change_between(finder->last.fairshare[node], nearest) - left;
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
    struct stage stage = stage_of(finder, tree, values);
    for (size_t i = 0; i < finder->differences->count; i++) {
        struct compared_association *row = &finder->differences->rows[i];
        uint32_t node = finder->match->nodes[i];
        double by_usage =
            any_left ? change_between(finder->last.fairshare[node], stage.fairshare[node]) : 0;
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

/* The printed shares, then the printed usage. */
static int apply_print(struct finder *finder, struct error *err)
{
    struct tree *tree = NULL;
    struct stage stage;
    if (build_tree(finder, true, &tree, err))
        return -1;
    int result = compute_stage(finder, tree, &stage, err);
    if (!result) {
        explain_by(finder, CAUSE_SHARES, stage);
        bool any_left = find_left_usage(finder);
        double *own = printed_own_usage(finder);
        struct values *values = values_with(finder, tree, own, err);
        if (values)
            find_left_fairshare(finder, tree, values, any_left);
        result = values ? 0 : -1;
        free(values);
        free(own);
    }
    tree_destroy(tree);
    return result;
}

/* The first stage has our own values, before any cause is left out. */
static void begin_with_ours(struct finder *finder)
{
    const struct published_cluster *cluster = finder->asked->cluster;
    finder->last = stage_of(finder, cluster->tree, cluster->values);
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
    if (compute_again(finder, &finder->first, err))
        return -1;
    finder->newest = finder->first;
    finder->options = finder->first.options;
    begin(finder, finder->first.tree, finder->first.accounting->names, match);
    explain_by(finder, CAUSE_AGE, stage_of(finder, finder->tree, finder->first.values));
    apply_conformance(finder, finder->tree);
    int result = apply_order(finder, finder->first.tree, err) || leave_out_causes(finder, err);
    if (!result)
        result = build_tree(finder, false, &tree, err);
    if (!result)
        result = apply_steps(finder, tree, err) || apply_resets(finder, tree, err) ? -1 : 0;
    tree_destroy(tree);
    return result ? -1 : apply_print(finder, err);
}

/* With what is published alone. */
static int find_by_results(struct finder *finder, struct printed_match *match, struct error *err)
{
    const struct published_cluster *cluster = finder->asked->cluster;
    begin(finder, cluster->tree, cluster->names, match);
    apply_conformance(finder, cluster->tree);
    if (apply_order(finder, cluster->tree, err))
        return -1;
    find_own_usage(finder, cluster->tree);
    return apply_print(finder, err);
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
