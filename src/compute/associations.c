/* SPDX-License-Identifier: MIT */
#include "compute/associations.h"

#include <stdio.h>
#include <stdlib.h>

#include "compute/computation.h"
#include "core/finding.h"
#include "core/tree/association_history.h"
#include "core/tree/association_times.h"
#include "core/tree/tree.h"
#include "core/tree/usage_transfers.h"
#include "core/usage/usage_owners.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

static bool is_charged_to(const struct tree *tree, const bool *below, uint64_t id)
{
    uint32_t place = tree_place(tree, id);
    return place != NO_NODE && below[place];
}

/* Returns true if usage of `id` was charged to a marked node for some time. */
static bool was_charged_to(const struct computation *computation, const bool *below, uint64_t id)
{
    const struct usage_owner *owner = usage_owners_find(computation->owners, id);
    while (owner && !is_charged_to(computation->tree, below, owner->association))
        owner = owner->later;
    return owner != NULL;
}

static void compute_associations_add(struct computation *computation, uint64_t id)
{
    size_t count = computation->selected_count++;
    computation->selected_ids = memory_grown(computation->selected_ids, count, sizeof id);
    computation->selected_ids[count] = id;
}

/*
 * Lists the associations whose usage may be charged to the computation's selected association or
 * its descendants.  Includes removed associations.  Needs the tree and the accounting's rows.
 */
static void selected_associations_find(struct computation *computation)
{
    const struct tree *tree = computation->tree;
    const struct accounting *accounting = computation->accounting;
    bool *below = memory_zeroed(tree->count, sizeof *below);
    uint64_t id;
    tree_mark_below(tree, tree_place(tree, computation->selected), below);
    for (size_t i = 0; i < accounting->count; i++)
        if (is_charged_to(tree, below, accounting->rows[i].id))
            compute_associations_add(computation, accounting->rows[i].id);
    for (uint32_t i = 0; usage_owners_at(computation->owners, i, &id); i++)
        if (!is_charged_to(tree, below, id) && was_charged_to(computation, below, id))
            compute_associations_add(computation, id);
    free(below);
}

static void note_unknown_tres(struct computation *computation)
{
    const struct charge_rates *rates = computation->accounting->rates;
    const struct tres_weight *weight;
    struct text names = { 0 };
    for (size_t at = 0; rates && (weight = charge_rates_unused_tres(rates, &at));)
        text_format(&names, "%s'%s%s%s'", names.length ? ", " : "", weight->type,
                    *weight->name ? "/" : "", weight->name);
    if (names.length)
        findings_add(computation->findings, FINDING_TRES_UNKNOWN, 0, "%s", names.bytes);
    text_free(&names);
}

static struct associations associations_of(const struct accounting *accounting)
{
    return (struct associations){ accounting->rows, accounting->count, accounting->names,
                                  accounting->empty_name, false };
}

/* Records the sources of evidence in the run's message. */
static void note_past(struct computation *computation)
{
    const struct association_history_counts *counts = &computation->past_counts;
    snprintf(computation->message, sizeof computation->message,
             "associations at this time: %zu from earlier runs, %zu from txn_table, %zu from "
             "creation_time and mod_time; uncertain: %zu",
             counts->by_runs, counts->by_source, counts->by_times, counts->unknown);
    computation->record.message = computation->message;
}

int associations_read_times(struct computation *computation, struct association_history *unseen,
                            struct error *err)
{
    const struct source *source = &computation->source;
    struct findings *findings = findings_create();
    association_history_forget_source(unseen);
    int result =
        source->layout->past->read_changes(source, CHANGES_ALL, unseen, findings, err) ? -1 : 0;
    if (!result) {
        int64_t now = (int64_t)decay_table_now(computation->decay);
        const struct associations associations = associations_of(computation->accounting);
        computation->times = memory_zeroed(1, sizeof *computation->times);
        computation->times->names = associations.names;
        computation->times->empty_name = associations.empty_name;
        association_times_of_past(unseen, now, &associations, computation->times);
    }
    findings_destroy(findings);
    return result;
}

/*
 * Reads the changes that the source recorded.  With `conformance = slurmctld`, a run for the
 * current time also needs to know about removals.
 */
static int compute_associations_read_changes(struct computation *computation,
                                             enum changes_wanted wanted,
                                             struct association_history *history, struct error *err)
{
    const struct source *source = &computation->source;
    association_history_forget_source(history);
    return source->layout->past ? source->layout->past->read_changes(source, wanted, history,
                                                                     computation->findings, err)
                                : 0;
}

/* Finds the usage transfers of removed associations.  `history` is NULL if the time is now. */
static int compute_associations_find_transfers(struct computation *computation,
                                               const struct association_history *history,
                                               struct usage_transfers *transfers, struct error *err)
{
    struct association_history *until_now = NULL;
    int result = 0;
    if (computation->source.settings->conformance != CONFORMANCE_SLURMCTLD)
        return 0;
    if (!history) {
        history = until_now =
            association_history_create((int64_t)decay_table_now(computation->decay));
        result = compute_associations_read_changes(computation, CHANGES_OF_LIFE, until_now, err);
    }
    const struct associations associations = associations_of(computation->accounting);
    if (!result && (history->count || history->removal_count))
        *transfers = usage_transfers_find(history, &associations);
    association_history_destroy(until_now);
    return result;
}

/* Replaces the associations with their state at a past time. */
static int go_back(struct computation *computation, const struct association_history *history,
                   struct error *err)
{
    struct accounting *accounting = computation->accounting;
    struct association_history_counts *counts = &computation->past_counts;
    struct associations associations = associations_of(accounting);
    if (history->distrusted != NEVER)
        findings_add(
            computation->findings, FINDING_RECORDS_CHANGED, (uint64_t)history->distrusted,
            "rows of fairmill_share_change are damaged; recorded associations are not used");
    association_history_apply(history, &associations, computation->findings, counts);
    accounting->rows = associations.rows;
    accounting->count = associations.count;
    if (!accounting->count)
        return fail(err, ERROR_DATA, "no associations existed at this time");
    if (counts->by_runs || counts->by_source || counts->by_times || counts->unknown)
        note_past(computation);
    return 0;
}

/* Builds the tree of the associations at the computation's time. */
static int compute_associations_make_tree(struct computation *computation,
                                          const struct association_history *history,
                                          struct error *err)
{
    const struct source *source = &computation->source;
    struct accounting *accounting = computation->accounting;
    if (history && go_back(computation, history, err))
        return -1;
    /* Rows that are known for different times need not form a tree. */
    const struct association_history_counts *counts = &computation->past_counts;
    bool mixed = counts->unknown && (counts->by_runs || counts->by_source || counts->by_times);
    enum bad_rows bad_rows = mixed ? BAD_ROWS_SKIP : source->settings->on_bad_rows;
    const struct associations associations = associations_of(accounting);
    if (tree_build(&computation->tree, &associations, bad_rows, computation->findings, err))
        return -1;
    if (counts->moved && accounting->by_lineage)
        tree_order_by_lineage(computation->tree, accounting->names);
    return 0;
}

int associations_read(struct computation *computation, struct association_history *history,
                      struct error *err)
{
    const struct source *source = &computation->source;
    if (source->layout->read(source, &computation->accounting, err))
        return -1;
    return history ? compute_associations_read_changes(computation, CHANGES_ALL, history, err) : 0;
}

int associations_place(struct computation *computation, const struct association_history *history,
                       struct error *err)
{
    struct usage_transfers transfers = { 0 };
    if (compute_associations_find_transfers(computation, history, &transfers, err))
        return -1;
    int result = compute_associations_make_tree(computation, history, err);
    if (!result)
        computation->owners = usage_transfers_owners(&transfers, computation->tree);
    usage_transfers_free(&transfers);
    if (result)
        return -1;
    if (computation->selected)
        selected_associations_find(computation);
    free(computation->accounting->rows);
    computation->accounting->rows = NULL;
    note_unknown_tres(computation);
    return 0;
}
