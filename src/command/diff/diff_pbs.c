/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/diff/diff_pbs_view.h"
#include "command/diff/diff_values.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "core/usage/entity.h"
#include "report/pbs_forms.h"
#include "report/pbsfs_print.h"
#include "report/value_differences.h"
#include "results/published.h"
#include "settings/settings.h"
#include "source/pbs/rules.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

/* Relative rounding errors of OpenPBS's percentages, which are floats, and of doubles. */
#define SINGLE_ROUNDING 1e-6
#define ROUNDING 1e-12

struct diff_pbs_finder {
    const struct diff_values_case *asked;
    const struct pbsfs_print *print;
    const struct published_cluster *published;
    struct value_differences *differences;
    struct pbs_view ours, without_ledger;
    /* factor of a decay step that may be missing on one side; 1 if no step can be missing */
    double decay;
    struct names *entities; /* names in UTF-8 */
    uint32_t *node_of;      /* indexed by number of the name in `entities`: its node */
    uint32_t *row_of;       /* indexed by node: its printed row; NO_NODE if not printed */
    double *percentages;    /* indexed by printed row; computed from the printed shares */
    /* indexed by printed row: the usage that pbsfs would compute from the rows directly below it */
    struct printed_number *below;
    bool tree_differs;
};

/* ---- Matching rows ---- */

static const struct tree *diff_pbs_tree_of(const struct diff_pbs_finder *finder)
{
    return finder->ours.pbs.fairshare.tree;
}

static const char *diff_pbs_name_copy(struct diff_pbs_finder *finder, const char *name)
{
    char *utf8 = utf8_copy(name, strlen(name));
    const char *copy = value_differences_copy(finder->differences, utf8);
    free(utf8);
    return copy;
}

/* Returns true for groups, and for a user that the requesting user may see. */
static bool may_be_shown(const struct diff_pbs_finder *finder, uint32_t node, const char *name)
{
    const char *login = finder->asked->login;
    return !login || !diff_pbs_tree_of(finder)->nodes[node].is_user || !strcmp(name, login);
}

/* Maps names to nodes.  If a name occurs more than once, OpenPBS finds the first entity. */
static void index_nodes(struct diff_pbs_finder *finder)
{
    uint32_t count = diff_pbs_tree_of(finder)->count;
    finder->entities = names_create();
    finder->node_of = memory_zeroed(count, sizeof *finder->node_of);
    finder->row_of = memory_zeroed(count, sizeof *finder->row_of);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = diff_pbs_name_copy(finder, pbs_tree_member(&finder->ours.pbs, i).name);
        uint32_t known = names_count(finder->entities);
        uint32_t number = names_add(finder->entities, name, strlen(name));
        finder->row_of[i] = NO_NODE;
        if (number == known)
            finder->node_of[number] = i;
    }
}

static void diff_pbs_note_missing(size_t *count, const char **first, const char *name)
{
    if (!(*count)++)
        *first = name;
}

static void match_rows(struct diff_pbs_finder *finder)
{
    const struct pbsfs_print *print = finder->print;
    struct value_differences *differences = finder->differences;
    for (uint32_t i = 0; i < print->count; i++) {
        const char *name = print->rows[i].name;
        uint32_t number = names_find(finder->entities, name, strlen(name));
        uint32_t node = number == INDEX_NONE ? NO_NODE : finder->node_of[number];
        if (node != NO_NODE && finder->row_of[node] == NO_NODE)
            finder->row_of[node] = i;
        else if (!finder->asked->login && (node == NO_NODE || print->whole))
            diff_pbs_note_missing(&differences->only_printed, &differences->first_only_printed,
                                  diff_pbs_name_copy(finder, name));
    }
}

/* Returns true if OpenPBS may have removed the user: it removes users of the group `unknown` whose
 * usage has decayed. */
static bool may_be_forgotten(const struct diff_pbs_finder *finder, uint32_t node)
{
    const struct tree *tree = diff_pbs_tree_of(finder);
    uint32_t above = tree->nodes[node].parent;
    if (above == NO_NODE || !tree->nodes[node].is_user || tree->nodes[above].id != ENTITY_UNKNOWN)
        return false;
    double usage = pbs_tree_member(&finder->ours.pbs, node).usage;
    return usage - finder->ours.behind[node] - finder->ours.running[node] < 1.5;
}

static void diff_pbs_note_only_ours(struct diff_pbs_finder *finder)
{
    struct value_differences *differences = finder->differences;
    for (uint32_t i = 0; finder->print->whole && i < diff_pbs_tree_of(finder)->count; i++) {
        const char *name = pbs_tree_member(&finder->ours.pbs, i).name;
        if (finder->row_of[i] == NO_NODE && may_be_shown(finder, i, name) &&
            !may_be_forgotten(finder, i))
            diff_pbs_note_missing(&differences->only_ours, &differences->first_only_ours,
                                  diff_pbs_name_copy(finder, name));
    }
}

/* ---- Checking the output itself ---- */

/* Returns, for each row, the index of its group's row, or NO_NODE if no earlier row is its
 * group. */
static uint32_t *groups_of(const struct pbsfs_print *print)
{
    struct id_index *places = id_index_create();
    uint32_t *groups = memory_zeroed(print->count, sizeof *groups);
    for (uint32_t i = 0; i < print->count; i++) {
        const struct printed_member *row = &print->rows[i];
        uint32_t place = row->group >= 0 ? id_index_find(places, (uint64_t)row->group) : INDEX_NONE;
        groups[i] = place == INDEX_NONE ? NO_NODE : place;
        if (row->number >= 0)
            id_index_add(places, (uint64_t)row->number, i);
    }
    id_index_destroy(places);
    return groups;
}

/* Computes percentages from the printed shares, and sums the usage of the rows directly below each
 * group.  The usage of an entity that is printed with the minimum usage may be 0. */
static void sum_print(struct diff_pbs_finder *finder)
{
    const struct pbsfs_print *print = finder->print;
    uint32_t *groups = groups_of(print);
    double *shares = memory_zeroed(print->count, sizeof *shares);
    finder->percentages = memory_zeroed(print->count, sizeof *finder->percentages);
    finder->below = memory_zeroed(print->count, sizeof *finder->below);
    for (uint32_t i = 0; i < print->count; i++) {
        const struct printed_member *row = &print->rows[i];
        double minimum = finder->ours.pbs.fairshare.options->pbs_minimum_usage;
        struct printed_number *below = &finder->below[i];
        *below = (struct printed_number){ below->low + minimum, below->high + minimum };
        if (groups[i] == NO_NODE)
            continue;
        shares[groups[i]] += (double)row->shares;
        finder->below[groups[i]].low += row->usage.low > minimum ? row->usage.low : 0;
        finder->below[groups[i]].high += row->usage.high;
    }
    for (uint32_t i = 0; i < print->count; i++) {
        double level = groups[i] == NO_NODE ? 0 : shares[groups[i]];
        double above = groups[i] == NO_NODE ? 0 : finder->percentages[groups[i]];
        finder->percentages[i] = groups[i] == NO_NODE ? 100
                                 : level > 0 ? (double)print->rows[i].shares / level * above
                                             : 0;
    }
    free(shares);
    free(groups);
}

/* ---- Differences ---- */

static bool is_printed(const struct printed_number *printed, double low, double high,
                       double rounding)
{
    double slack = rounding * fabs(high);
    return low - slack <= printed->high && high + slack >= printed->low;
}

static void diff_pbs_add_difference(struct diff_pbs_finder *finder, uint32_t node,
                                    const char *value, double ours, double printed,
                                    enum value_cause cause)
{
    const char *name = diff_pbs_name_copy(finder, pbs_tree_member(&finder->ours.pbs, node).name);
    value_differences_add(
        finder->differences,
        &(struct value_difference){
            .user = name, .value = value, .ours = ours, .printed = printed, .cause = cause });
}

static void compare_integer(struct diff_pbs_finder *finder, uint32_t node, const char *value,
                            int64_t ours, int64_t printed)
{
    if (ours == printed)
        return;
    finder->tree_differs = true;
    diff_pbs_add_difference(finder, node, value, (double)ours, (double)printed, PBS_CAUSE_TREE);
}

static void compare_percentage(struct diff_pbs_finder *finder, uint32_t node, double ours)
{
    uint32_t place = finder->row_of[node];
    const struct printed_number *printed = &finder->print->rows[place].percentage;
    double by_print = finder->percentages[place];
    /* Percentages depend only on shares.  If the whole tree was printed, this can be verified. */
    bool follows =
        !finder->print->whole || is_printed(printed, by_print, by_print, SINGLE_ROUNDING);
    if (is_printed(printed, ours, ours, SINGLE_ROUNDING))
        return;
    diff_pbs_add_difference(finder, node, "Perc", ours, printed_middle(printed),
                            follows ? PBS_CAUSE_TREE : VALUE_CAUSE_NONE);
}

/* Returns the cause that explains the difference between the printed usage and the usage of `view`.
 * The scheduler had not yet added ended jobs (PBS_CAUSE_CYCLE), it had not yet added running jobs
 * (PBS_CAUSE_RUNNING), or a decay step is missing on one side (PBS_CAUSE_DECAY). */
static enum value_cause cause_in(const struct diff_pbs_finder *finder, const struct pbs_view *view,
                                 uint32_t node, const struct printed_number *printed)
{
    double usage = pbs_tree_member(&view->pbs, node).usage;
    double seen = fmax(usage - view->behind[node], 0);
    double least = fmax(seen - view->running[node], 0);
    if (is_printed(printed, seen, usage, ROUNDING))
        return PBS_CAUSE_CYCLE;
    if (is_printed(printed, least, usage, ROUNDING))
        return PBS_CAUSE_RUNNING;
    return is_printed(printed, least * finder->decay, usage / finder->decay, ROUNDING)
               ? PBS_CAUSE_DECAY
               : VALUE_CAUSE_NONE;
}

static enum value_cause diff_pbs_cause_of(const struct diff_pbs_finder *finder, uint32_t node,
                                          const struct printed_number *printed)
{
    enum value_cause cause = cause_in(finder, &finder->ours, node, printed);
    if (cause || !finder->ours.has_ledger)
        return cause;
    const struct tree *tree = finder->without_ledger.pbs.fairshare.tree;
    uint32_t place = tree_place(tree, diff_pbs_tree_of(finder)->nodes[node].id);
    if (place == NO_NODE || tree->nodes[place].id != diff_pbs_tree_of(finder)->nodes[node].id)
        return VALUE_CAUSE_NONE;
    double usage = pbs_tree_member(&finder->without_ledger.pbs, place).usage;
    return is_printed(printed, usage, usage, ROUNDING) ||
                   cause_in(finder, &finder->without_ledger, place, printed)
               ? PBS_CAUSE_LEDGER
               : VALUE_CAUSE_NONE;
}

/* Returns true if the printed usage of a group follows from its printed members, which differ from
 * fairmill's. */
static bool follows_from_members(const struct diff_pbs_finder *finder, uint32_t node,
                                 const struct printed_number *printed)
{
    uint32_t place = finder->row_of[node];
    return finder->tree_differs && finder->print->whole && place != NO_NODE &&
           !diff_pbs_tree_of(finder)->nodes[node].is_user &&
           is_printed(printed, finder->below[place].low, finder->below[place].high, ROUNDING);
}

/* Returns the sum of the initial usage of a group's members.  The scheduler adds the usage of jobs
 * to an entity and to its groups.  It adds an entity's initial usage to its groups only when it
 * reads its usage file again. */
static double bases_below(const struct diff_pbs_finder *finder, uint32_t node)
{
    const struct fairshare *fairshare = &finder->ours.pbs.fairshare;
    const struct node *group = &fairshare->tree->nodes[node];
    double all = pbs_tree_member(&finder->ours.pbs, node).usage;
    double used = decay_table_usage(fairshare->options->decay, &group->usage);
    return group->is_user ? 0 : fmax(all - used - fairshare->options->pbs_minimum_usage, 0);
}

static void compare_usage(struct diff_pbs_finder *finder, uint32_t node,
                          const struct printed_number *printed)
{
    double ours = pbs_tree_member(&finder->ours.pbs, node).usage;
    if (is_printed(printed, ours - bases_below(finder, node), ours, ROUNDING))
        return;
    enum value_cause cause = diff_pbs_cause_of(finder, node, printed);
    if (!cause && follows_from_members(finder, node, printed))
        cause = PBS_CAUSE_TREE;
    diff_pbs_add_difference(finder, node, "Usage", ours, printed_middle(printed), cause);
}

/* Computes bounds of TreeUsage from the usage and the parts on a printed path. */
static struct printed_number tree_usage_by_path(const struct printed_member *row)
{
    struct printed_number tree_usage = { 0, 1 };
    const struct printed_number *root = &row->path[0].usage;
    for (size_t i = 1; i < row->path_count; i++) {
        const struct printed_step *step = &row->path[i], *above = &row->path[i - 1];
        double low = fmin(step->usage.low / root->high, 1);
        double high = root->low > 0 ? fmin(step->usage.high / root->low, 1) : 1;
        double least = above->part.high > 0 ? fmin(step->part.low / above->part.high, 1) : 0;
        double most = above->part.low > 0 ? fmin(step->part.high / above->part.low, 1) : 1;
        struct printed_number from_above = tree_usage;
        tree_usage = (struct printed_number){ low, high };
        if (i == 1)
            continue;
        tree_usage.low =
            fmin(low + (from_above.low - low) * least, low + (from_above.low - low) * most);
        tree_usage.high =
            fmax(high + (from_above.high - high) * least, high + (from_above.high - high) * most);
    }
    return tree_usage;
}

static void compare_tree_usage(struct diff_pbs_finder *finder, uint32_t node,
                               const struct printed_member *row)
{
    double ours = finder->ours.pbs.fairshare.values[node].pbs_tree_usage;
    if (!node || !printed_is_there(&row->tree_usage) ||
        is_printed(&row->tree_usage, ours, ours, SINGLE_ROUNDING))
        return;
    struct printed_number by_path = tree_usage_by_path(row);
    bool follows = is_printed(&row->tree_usage, by_path.low, by_path.high, SINGLE_ROUNDING);
    diff_pbs_add_difference(finder, node, "fairshare_tree_usage", ours,
                            printed_middle(&row->tree_usage),
                            follows ? PBS_CAUSE_USAGE : VALUE_CAUSE_NONE);
}

/* Compares the groups on the path to an entity that have no row of their own.  Compares each group
 * only once. */
static void compare_path(struct diff_pbs_finder *finder, const struct printed_member *row,
                         bool *compared)
{
    for (size_t i = 0; i < row->path_count; i++) {
        const struct printed_step *step = &row->path[i];
        uint32_t number = names_find(finder->entities, step->name, strlen(step->name));
        uint32_t node = number == INDEX_NONE ? NO_NODE : finder->node_of[number];
        if (node == NO_NODE || finder->row_of[node] != NO_NODE || compared[node])
            continue;
        compared[node] = true;
        compare_usage(finder, node, &step->usage);
    }
}

static void compare_member(struct diff_pbs_finder *finder, uint32_t node,
                           const struct printed_member *row)
{
    struct pbs_member member = pbs_tree_member(&finder->ours.pbs, node);
    finder->differences->compared++;
    compare_integer(finder, node, "Grp", member.group, row->group);
    compare_integer(finder, node, "cgrp", member.number, row->number);
    compare_integer(finder, node, "Shares", member.shares, row->shares);
    compare_percentage(finder, node, member.percentage);
}

static const struct printed_member *diff_pbs_row_of(const struct diff_pbs_finder *finder,
                                                    uint32_t node)
{
    uint32_t place = finder->row_of[node];
    const char *name = pbs_tree_member(&finder->ours.pbs, node).name;
    return place != NO_NODE && may_be_shown(finder, node, name) ? &finder->print->rows[place]
                                                                : NULL;
}

/* Compares the tree first, because sums depend on it. */
static void compare_trees(struct diff_pbs_finder *finder)
{
    const uint32_t count = diff_pbs_tree_of(finder)->count;
    bool *compared = memory_zeroed(count, sizeof *compared);
    for (uint32_t i = 0; i < count; i++)
        if (diff_pbs_row_of(finder, i))
            compare_member(finder, i, diff_pbs_row_of(finder, i));
    for (uint32_t i = 0; i < count; i++) {
        const struct printed_member *row = diff_pbs_row_of(finder, i);
        if (!row)
            continue;
        compare_path(finder, row, compared);
        compare_usage(finder, i, &row->usage);
        compare_tree_usage(finder, i, row);
    }
    free(compared);
}

/* ---- The comparison ---- */

/* OpenPBS decays usage in steps, and fairmill continuously.  So the usages may differ by a factor
 * of fairshare_decay_factor.  With decay = steps and a usage file, OpenPBS and fairmill decay usage
 * at the same times.  In that case, only a step that is due may be missing from the output, until
 * the scheduler's next cycle. */
static int read_decay(struct diff_pbs_finder *finder, const struct source *source,
                      struct error *err)
{
    struct pbs_rules rules;
    const struct settings *settings = finder->asked->settings;
    const struct computation *computation = &finder->ours.computation;
    uint64_t begun = computation->starts.time, at = (uint64_t)finder->asked->printed_at;
    if (settings->decay == DECAY_STEPS && begun) {
        uint64_t cycle = finder->asked->period, before = at > cycle ? at - cycle : 0;
        double left = decay_table_left(computation->decay, before > begun ? before : begun);
        finder->decay = left > 0 ? left : 1;
        return 0;
    }
    if (!settings->half_life_of_source) {
        value_differences_note(finder->differences,
                               "[usage] half_life is set, so OpenPBS's decay may be different");
        return 0;
    }
    if (pbs_rules_read(&rules, source, finder->asked->printed_at, err))
        return -1;
    if (!number_real(rules.values[PBS_DECAY_FACTOR], &finder->decay) || !(finder->decay > 0))
        finder->decay = 1;
    pbs_rules_free(&rules);
    return 0;
}

static int take_views(struct diff_pbs_finder *finder, struct error *err)
{
    const struct diff_values_case *asked = finder->asked;
    if (!asked->source) {
        pbs_view_publish(&finder->ours, finder->published);
        value_differences_note(finder->differences,
                               "without the accounting database, these causes cannot be "
                               "distinguished:\n  cycle, running, decay, ledger");
        return 0;
    }
    struct source source = source_of(asked->settings, asked->source, finder->published->name);
    source.time = &asked->printed_at;
    if (pbs_view_compute(&finder->ours, &source, asked->period, true, err) ||
        read_decay(finder, &source, err))
        return -1;
    finder->differences->as_of = asked->printed_at;
    return finder->ours.has_ledger
               ? pbs_view_compute(&finder->without_ledger, &source, asked->period, false, err)
               : 0;
}

static void compare_units(struct diff_pbs_finder *finder)
{
    const char *ours = finder->published->usage_unit;
    const char *printed = finder->print->unit;
    finder->differences->unit = ours;
    if (printed && strcmp(printed, ours) != 0)
        finder->differences->other_unit = diff_pbs_name_copy(finder, printed);
}

int diff_pbs_find(const struct diff_values_case *asked, const struct pbsfs_print *print,
                  const struct published_cluster *published, struct value_differences *differences,
                  struct error *err)
{
    struct diff_pbs_finder finder = { .asked = asked,
                                      .print = print,
                                      .published = published,
                                      .differences = differences,
                                      .decay = 1 };
    *differences = (struct value_differences){ .texts = arena_create(),
                                               .kind = VALUES_OF_ENTITIES,
                                               .cluster = published->name,
                                               .as_of = published->as_of,
                                               .printed_at = asked->printed_at,
                                               .cycle = asked->period };
    int result = take_views(&finder, err);
    if (!result) {
        compare_units(&finder);
        index_nodes(&finder);
        match_rows(&finder);
        diff_pbs_note_only_ours(&finder);
        sum_print(&finder);
        finder.tree_differs = differences->only_printed || differences->only_ours;
        compare_trees(&finder);
    }
    names_destroy(finder.entities);
    free(finder.node_of);
    free(finder.row_of);
    free(finder.percentages);
    free(finder.below);
    pbs_view_free(&finder.ours);
    pbs_view_free(&finder.without_ledger);
    return result;
}
