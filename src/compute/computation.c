/* SPDX-License-Identifier: MIT */
#include "compute/computation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "compute/tres_usage.h"
#include "core/fairshare/release.h"
#include "core/finding.h"
#include "core/priority/formula_jobs.h"
#include "core/priority/queue.h"
#include "core/tree/association_times.h"
#include "core/usage/ledger.h"
#include "core/usage/usage_owners.h"
#include "settings/settings.h"
#include "source/tres_minutes.h"
#include "util/error.h"

uint64_t last_reset(const struct settings *settings, const struct ledger_state *ledger,
                    uint64_t now)
{
    uint64_t periodic = calendar_last_reset(&settings->reset_period, now);
    return ledger->cluster_reset > periodic ? ledger->cluster_reset : periodic;
}

struct usage_place computation_place(struct computation *computation, uint64_t association)
{
    struct tres_usage *tres = computation->tres;
    if (is_qos_sum(association) && tres)
        return usage_sums_place(tres->qos_sums, association);
    uint32_t place = computation->tree ? tree_place(computation->tree, association) : NO_NODE;
    if (place == NO_NODE)
        return usage_sums_place(computation->unattributed, association);
    return (struct usage_place){ &computation->tree->nodes[place].usage,
                                 tres ? tres->sums + place * tres->kept.count : NULL };
}

void computation_fetch(const struct computation *computation, uint64_t association)
{
    const struct tres_usage *tres = computation->tres;
    uint32_t place = tree_place(computation->tree, association);
    if (place == NO_NODE)
        return;
    __builtin_prefetch(&computation->tree->nodes[place].usage, 1);
    if (tres)
        __builtin_prefetch(&tres->sums[place * tres->kept.count], 1);
}

struct wide *computation_sum_of(struct computation *computation, uint64_t association)
{
    return computation_place(computation, association).sum;
}

int usage_beyond_range(uint64_t association, struct error *err)
{
    return fail(err, ERROR_DATA,
                "the usage of association %" PRIu64 " is beyond the range of fairmill's integers",
                association);
}

const struct run_record run_record_empty = {
    .kind = "full",
    .why = "",
    .associations = -1,
    .users = -1,
    .jobs_read = -1,
    .unattributed_usage = NAN,
    .truncation_bound = NAN,
    .source_newest = -1,
    .drift_max = NAN,
    .drifted = -1,
    .message = "",
};

const struct release *release_of(const struct settings *settings,
                                 const struct accounting *accounting)
{
    if (settings->slurm_release)
        return settings->slurm_release;
    return accounting->protocol ? release_of_protocol(accounting->protocol)
                                : accounting->oldest_release;
}

struct computation computation_of(const struct source *source)
{
    return (struct computation){ .source = *source, .record = run_record_empty };
}

void computation_begin(struct computation *computation, const struct ledger *ledger, uint64_t now)
{
    computation->record.as_of = (int64_t)now;
    computation->findings = findings_create();
    computation->ledger = ledger_at(ledger, now);
    computation->unattributed = usage_sums_create(0);
}

void computation_free(struct computation *computation)
{
    (computation->accounting_is_lent ? accounting_give_back
                                     : accounting_destroy)(computation->accounting);
    tree_destroy(computation->tree);
    findings_destroy(computation->findings);
    usage_sums_destroy(computation->unattributed);
    decay_table_destroy(computation->decay);
    free(computation->starts.starts);
    ledger_state_destroy(computation->ledger);
    usage_owners_destroy(computation->owners);
    factor_history_destroy(computation->own_factors);
    free(computation->values);
    free(computation->order);
    free(computation->selected_ids);
    if (computation->times)
        association_times_free(computation->times);
    free(computation->times);
    free(computation->pbs_order);
    queue_destroy(computation->queue);
    formula_jobs_destroy(computation->formula_jobs);
    tres_minutes_destroy(computation->tres_minutes);
    tres_usage_destroy(computation->tres);
    *computation = (struct computation){ .record = computation->record };
}
