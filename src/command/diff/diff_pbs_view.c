/* SPDX-License-Identifier: MIT */
#include "command/diff/diff_pbs_view.h"

#include <stdlib.h>

#include "compute/charge.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/tree/tree.h"
#include "core/usage/ledger.h"
#include "results/published.h"
#include "settings/settings.h"
#include "util/memory.h"

/* Relative rounding error of doubles. */
#define ROUNDING 1e-12

/* An accumulator that sums, for each node, the usage that the scheduler might not have seen. */
struct unseen {
    struct charge_accumulator accumulator;
    struct computation *computation;
    uint64_t period;
    /* Indexed by node: usage of ended jobs in the last period before their end, and usage of
     * running jobs.  The arrays are NULL until the first charge. */
    struct wide *behind;
    struct wide *running;
};

static int take_unseen(struct charge_accumulator *base, const struct charge *charge,
                       struct error *err)
{
    struct unseen *unseen = (struct unseen *)base;
    const struct computation *computation = unseen->computation;
    const struct charge_term *term = &charge->counted;
    uint32_t node = tree_place(computation->tree, charge->interval.association);
    bool ended = charge->ended && charge->ended <= decay_table_now(computation->decay);
    if (charge->negative || node == NO_NODE)
        return 0;
    uint64_t from = term->start;
    if (ended && charge->ended > unseen->period && charge->ended - unseen->period > from)
        from = charge->ended - unseen->period;
    if (!unseen->behind) {
        unseen->behind = memory_zeroed(computation->tree->count, sizeof *unseen->behind);
        unseen->running = memory_zeroed(computation->tree->count, sizeof *unseen->running);
    }
    struct wide *sum = ended ? &unseen->behind[node] : &unseen->running[node];
    uint128 weight = decay_table_weight(computation->decay, from, term->end);
    return wide_add_product(sum, term->units, weight, false)
               ? 0
               : usage_beyond_range(charge->interval.association, err);
}

/* Returns the unseen usage of each node, including its descendants.  `sums` is NULL if there is no
 * unseen usage.  If all usage of an entity is unseen, pbsfs does not include the entity's minimum
 * usage in its groups either. */
static double *rolled_up(const struct pbs_view *view, const struct wide *sums)
{
    const struct tree *tree = view->pbs.fairshare.tree;
    const struct decay_table *decay = view->pbs.fairshare.options->decay;
    double *usage = memory_zeroed(tree->count, sizeof *usage);
    for (uint32_t i = tree->count; sums && i-- > 0;) {
        double part = decay_table_usage(decay, &sums[i]);
        double own = decay_table_usage(decay, &tree->nodes[i].usage);
        bool all = tree->nodes[i].is_user && part > 0 && part >= own * (1 - ROUNDING);
        usage[i] += all ? decay_table_usage(decay, &view->pbs.usage[i]) : part;
        if (i)
            usage[tree->nodes[i].parent] += usage[i];
    }
    return usage;
}

static void diff_pbs_view_take_tree(struct pbs_view *view, const struct fairshare *fairshare,
                                    const struct names *names)
{
    view->pbs = (struct pbs_tree){ .fairshare = *fairshare, .names = names, .root_is_zero = true };
    pbs_tree_count(&view->pbs);
}

int pbs_view_compute(struct pbs_view *view, const struct source *source, uint64_t period,
                     bool with_ledger, struct error *err)
{
    struct recorded_state recorded;
    struct computation *computation = &view->computation;
    struct unseen unseen = { .accumulator = { take_unseen },
                             .computation = computation,
                             .period = period };
    *computation = computation_of(source);
    computation->watcher = &unseen.accumulator;
    if (recorded_state_read(&recorded, source->settings, source->cluster, source->time, err))
        return -1;
    view->has_ledger = with_ledger && recorded.ledger && recorded.ledger->count;
    if (!with_ledger) {
        ledger_destroy(recorded.ledger);
        recorded.ledger = NULL;
    }
    int result = compute_cluster(computation, &recorded, err);
    recorded_state_free(&recorded);
    if (!result) {
        view->computed = true;
        diff_pbs_view_take_tree(view,
                                &(struct fairshare){ .tree = computation->tree,
                                                     .options = &computation->options,
                                                     .values = computation->values },
                                computation->accounting->names);
        view->behind = rolled_up(view, unseen.behind);
        view->running = rolled_up(view, unseen.running);
    }
    free(unseen.behind);
    free(unseen.running);
    return result;
}

void pbs_view_publish(struct pbs_view *view, const struct published_cluster *cluster)
{
    diff_pbs_view_take_tree(view,
                            &(struct fairshare){ .tree = cluster->tree,
                                                 .options = &cluster->options,
                                                 .values = cluster->values },
                            cluster->names);
    view->behind = rolled_up(view, NULL);
    view->running = rolled_up(view, NULL);
}

void pbs_view_free(struct pbs_view *view)
{
    pbs_tree_free(&view->pbs);
    free(view->behind);
    free(view->running);
    if (view->computed)
        computation_free(&view->computation);
}
