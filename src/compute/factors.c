/* SPDX-License-Identifier: MIT */
#include "compute/factors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compute/computation.h"
#include "compute/seal_plan.h"
#include "core/finding.h"
#include "core/usage/factor_past.h"
#include "settings/settings.h"
#include "util/memory.h"

/* Where what is known of the factors of a QOS is not all. */
static void note_doubts(struct computation *computation, const struct factor_points *points)
{
    const struct factor_point *first = points->points;
    int64_t start = (int64_t)clock_start(computation->clock);
    if (first->told == FACTOR_CHANGED && first->at > start)
        findings_add(computation->findings, FINDING_FACTOR_UNKNOWN, first->id,
                     "QOS '%s', before %" PRId64 ": %.15g is taken", first->name, first->at,
                     first->factor);
    for (size_t i = 1; i < points->count; i++) {
        const struct factor_point *point = &points->points[i];
        if (point->told == FACTOR_SEEN && point->at > start)
            findings_add(computation->findings, FINDING_FACTOR_UNDATED, point->id,
                         "QOS '%s', from %.15g to %.15g between %" PRId64 " and %" PRId64,
                         point->name, point[-1].factor, point->factor, point->seen_before,
                         point->at);
    }
}

static void set_factors(struct computation *computation, const struct factor_points *points)
{
    struct tariffs *tariffs = computation->accounting->tariffs;
    const struct factor_point *first = points->points;
    struct factor_span *spans = memory_zeroed(points->count, sizeof *spans);
    for (size_t i = 0; i < points->count; i++)
        spans[i] = (struct factor_span){ (uint64_t)points->points[i].at, points->points[i].factor };
    if (first->told != FACTOR_ADDED)
        spans[0].from = 0;
    tariffs_add_qos(tariffs, first->id, first->name, strlen(first->name), first->factor);
    tariffs_set_factors(tariffs, first->id, spans, points->count);
    free(spans);
}

/* Whether all of txn_table is read, as far as it is still there, or only what notes lack. */
static bool reads_all_changes(const struct computation *computation, const struct seal_plan *plan)
{
    if (!plan)
        return false;
    const struct kept_seal *kept = plan->kept;
    return plan->asked_full || kept->damaged || *kept->doubt || !kept->seal.kept ||
           clock_now(computation->clock) >=
               kept->seal.full_as_of + computation->source.settings->full_every_s;
}

int factors_read(struct computation *computation, struct factor_past *past,
                 const struct seal_plan *plan, struct error *err)
{
    const struct source *source = &computation->source;
    if (!source->layout->read_factors)
        return 0;
    if (!past)
        past = computation->own_factors = factor_past_create();
    if (past->distrusted != FACTOR_UNSEEN)
        findings_add(computation->findings, FINDING_RECORDS_CHANGED, (uint64_t)past->distrusted,
                     "fairmill_qos_change: what runs noted of usage factors is not believed");
    factor_past_forget_source(past);
    if (source->layout->read_factors(
            source, past, reads_all_changes(computation, plan) ? 0 : factor_past_since(past),
            computation->findings, err))
        return -1;
    factors_apply(computation, past);
    return 0;
}

void factors_apply(struct computation *computation, struct factor_past *past)
{
    const struct accounting *accounting = computation->accounting;
    /* The source has them as of then; an instant that has not come yet, nobody has seen. */
    int64_t now = (int64_t)clock_now(computation->clock), started = computation->record.started_at;
    factor_past_make(past, accounting->qos, accounting->qos_count, now < started ? now : started);
    computation->factors = past;
    for (size_t at = 0; at < past->point_count;) {
        const struct factor_points points = factor_past_next(past, &at);
        set_factors(computation, &points);
        note_doubts(computation, &points);
    }
}
