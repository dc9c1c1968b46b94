/* SPDX-License-Identifier: MIT */
#include "compute/factors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compute/checkpoint_plan.h"
#include "compute/computation.h"
#include "core/finding.h"
#include "core/usage/factor_history.h"
#include "settings/settings.h"
#include "util/memory.h"
#include "util/times.h"

/* Adds findings if the history of a QOS's factors is incomplete. */
static void note_doubts(struct computation *computation, const struct factor_points *points)
{
    const struct factor_point *first = points->points;
    int64_t start = (int64_t)decay_table_start(computation->decay);
    if (first->told == FACTOR_CHANGED && first->at > start)
        findings_add(computation->findings, FINDING_FACTOR_UNKNOWN, first->id,
                     "QOS '%s': factor %.15g is used before %s", first->name, first->factor,
                     time_text(first->at).bytes);
    for (size_t i = 1; i < points->count; i++) {
        const struct factor_point *point = &points->points[i];
        if (factor_is_overruled(point))
            findings_add(computation->findings, FINDING_FACTOR_OVERRULED, point->id,
                         "QOS '%s': %.15g in qos_table, %.15g in txn_table since %s", point->name,
                         point->factor, point[-1].factor, time_text(point[-1].at).bytes);
        else if (point->told == FACTOR_SEEN && point->at > start)
            findings_add(computation->findings, FINDING_FACTOR_UNDATED, point->id,
                         "QOS '%s': from %.15g to %.15g, between %s and %s", point->name,
                         point[-1].factor, point->factor, time_text(point->seen_before).bytes,
                         time_text(point->at).bytes);
    }
}

static void set_factors(struct computation *computation, const struct factor_points *points)
{
    struct charge_rates *rates = computation->accounting->rates;
    const struct factor_point *first = points->points;
    struct factor_span *spans = memory_zeroed(points->count, sizeof *spans);
    size_t count = 0;
    for (size_t i = 0; i < points->count; i++)
        if (factor_points_change(points, i))
            spans[count++] =
                (struct factor_span){ (uint64_t)points->points[i].at, points->points[i].factor };
    if (first->told != FACTOR_ADDED)
        spans[0].from = 0;
    charge_rates_add_qos(rates, first->id, first->name, strlen(first->name), first->factor);
    charge_rates_set_factors(rates, first->id, spans, count);
    free(spans);
}

/*
 * Returns true if all of txn_table must be read, and not only the rows since the last recorded
 * factors.  This happens at least once in each check round, because rows may arrive late.
 */
static bool reads_all_changes(const struct computation *computation,
                              const struct checkpoint_plan *plan)
{
    if (!plan)
        return false;
    const struct stored_checkpoint *stored = plan->stored;
    const struct settings *settings = computation->source.settings;
    uint64_t now = decay_table_now(computation->decay);
    return plan->asked_full || stored->damaged || *stored->doubt || !stored->checkpoint.kept ||
           now >= stored->checkpoint.full_as_of + settings->full_every_s ||
           checkpoint_begins_round(&stored->checkpoint, settings, now);
}

static int factors_read_changes(struct computation *computation, struct factor_history *history,
                                int64_t since, struct error *err)
{
    const struct source *source = &computation->source;
    factor_history_forget_source(history);
    return source->layout->past->read_factors(source, history, since, computation->findings, err);
}

static void make_points(const struct computation *computation, struct factor_history *history)
{
    const struct accounting *accounting = computation->accounting;
    /* The source has the factors as of its snapshot, even if `now` is a later time. */
    int64_t now = (int64_t)decay_table_now(computation->decay),
            started = computation->record.started_at;
    factor_history_make(history, accounting->qos, accounting->qos_count,
                        (struct factor_times){ now < started ? now : started, now });
}

static void apply_points(struct computation *computation, struct factor_history *history)
{
    computation->factors = history;
    for (size_t at = 0; at < history->point_count;) {
        const struct factor_points points = factor_history_next(history, &at);
        set_factors(computation, &points);
        note_doubts(computation, &points);
    }
}

int factors_read(struct computation *computation, struct factor_history *history,
                 const struct checkpoint_plan *plan, struct error *err)
{
    if (!computation->source.layout->past)
        return 0;
    if (!history)
        history = computation->own_factors = factor_history_create();
    if (history->distrusted != FACTOR_UNSEEN)
        findings_add(
            computation->findings, FINDING_RECORDS_CHANGED, (uint64_t)history->distrusted,
            "rows of fairmill_qos_change are damaged; recorded usage factors are not used");
    int64_t since = reads_all_changes(computation, plan) ? 0 : factor_history_since(history);
    if (factors_read_changes(computation, history, since, err))
        return -1;
    make_points(computation, history);
    /* The row of txn_table that shows the time of a change may have arrived late, with an old
     * timestamp. */
    if (history->undated && since) {
        if (factors_read_changes(computation, history, 0, err))
            return -1;
        make_points(computation, history);
    }
    apply_points(computation, history);
    return 0;
}

void factors_apply(struct computation *computation, struct factor_history *history)
{
    make_points(computation, history);
    apply_points(computation, history);
}
