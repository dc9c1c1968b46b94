/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_rules.h"

#include <math.h>
#include <stdlib.h>

#include "command/diff/diff_finder.h"
#include "core/fairshare/fairshare.h"
#include "core/fairshare/release.h"
#include "core/tree/tree.h"
#include "report/sshare_print.h"
#include "results/published.h"
#include "util/memory.h"

/* Returns true if the usage of deleted users changes the rank of the association.  Such usage
 * changes the level_fs of the association or of an ancestor; a different order of tied associations
 * changes no level_fs. */
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
            stage_change(finder->last.fairshare[node], stage.fairshare[node]);
    }
    stage_free(&finder->last);
    finder->last = stage;
}

/* Returns the release whose rules the output follows.  In some releases accounts have factors, in
 * others only users do. */
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
        release_follows(release, RULE_ACCOUNTS_LEFT_OUT) == !accounts)
        return release;
    for (release = releases; !accounts && !release_follows(release, RULE_ACCOUNTS_LEFT_OUT);)
        release++;
    return release;
}

void finder_apply_conformance(struct finder *finder, const struct tree *tree)
{
    struct values *values = memory_zeroed(tree->count, sizeof *values);
    const struct release *release = printed_release(finder, finder->options.release);
    if (finder->options.conformance == CONFORMANCE_DOCUMENTS)
        finder->options.release = NULL;
    finder->options.conformance = finder->reduced.settings.conformance = CONFORMANCE_SLURMCTLD;
    fairshare_compute(tree, &finder->options, values);
    explain_by_conformance(finder, finder_stage_of(finder, tree, values));
    finder->options.release = finder->reduced.settings.slurm_release = release;
    fairshare_compute(tree, &finder->options, values);
    finder_explain(finder, CAUSE_RELEASE, finder_stage_of(finder, tree, values));
    free(values);
}

/* Returns the number of printed factors that match the values. */
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

/* Orders tied accounts of the tree in the way that the setting `ties` does not select.  Byte order
 * follows from the names; collation order is read from the accounting database. */
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
    if (finder_compute(finder, &other, err))
        return -1;
    for (uint32_t i = 0; i < tree->count; i++) {
        uint32_t place = place_in_tree(other.tree, &tree->nodes[i]);
        if (place != NO_NODE)
            tree->nodes[i].order = other.tree->nodes[place].order;
    }
    computation_free(&other);
    return 0;
}

int finder_apply_order(struct finder *finder, struct tree *tree, struct error *err)
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
    bool may_be_other = agreeing < tree->user_count;
    int result = may_be_other ? reorder(finder, tree, err) : 0;
    if (!result && may_be_other)
        fairshare_compute(tree, &finder->options, values);
    if (!result && count_agreeing(finder, values) > agreeing) {
        finder_explain(finder, CAUSE_ORDER, finder_stage_of(finder, tree, values));
    } else {
        finder->reduced.settings.ties = ties;
        for (uint32_t i = 0; i < tree->count; i++)
            tree->nodes[i].order = orders[i];
    }
    free(orders);
    free(values);
    return result;
}
