/* SPDX-License-Identifier: MIT */
#include "compute/charge.h"

#include "core/usage/ledger.h"
#include "source/layout.h"

/*
 * Excludes usage before the association's last reset.  For a checkpointed row, only a reset before
 * checkpoint_reach() is used.  If a reset is later, checkpoint_plan_fold() drops the whole sum of
 * the association.
 */
static void leave_out_reset(const struct charge_context *context, struct charge *charge)
{
    struct charge_term *counted = &charge->counted;
    uint64_t reset = ledger_reset_before(
        context->ledger, charge->interval.association,
        charge->checkpointed ? checkpoint_reach(context->checkpoint) : UINT64_MAX);
    if (reset <= counted->start)
        return;
    counted->weight =
        decay_table_weights(context->charging.decay, reset, counted->end, &counted->narrow);
    counted->start = reset;
    if (!counted->weight)
        *counted = (struct charge_term){ 0 };
}

/*
 * Limits the job's charge to the time of the suspension.  Seconds of an earlier suspension are
 * excluded.
 */
static void cut_to_suspension(struct charge_context *context, const struct suspension *suspension,
                              struct charge_term *used)
{
    struct suspensions *suspensions = &context->suspensions;
    used->weight = suspensions_weight(suspensions, context->charging.decay, suspension->key, used,
                                      suspension->start, suspension->end);
    used->start = suspensions->counted_from;
    used->end = suspensions->counted_to;
    used->narrow = decay_table_narrow_weight(context->charging.decay, used->start, used->end);
}

/* Computes the charge of one interval.  `span` is the interval's part of the row's span. */
static inline void charge_span(struct charge_context *context, struct charge *charge,
                               const struct job_span *span)
{
    const struct job_row *row = charge->row;
    struct charge_term *used = &charge->used;
    enum job_outcome outcome =
        job_charge(&context->charging, &row->job, span, charge->interval.rate, used);
    if (outcome != span->outcome)
        charge->outcome = outcome;
    if (row->suspension && used->end)
        cut_to_suspension(context, row->suspension, used);
    bool counts = used->weight && !charge->left_out;
    if (counts && used->units && !charge->expired && used->start < charge->first)
        charge->first = used->start;
    charge->counted = counts ? *used : (struct charge_term){ 0 };
    if (counts && context->ledger->reset_count)
        leave_out_reset(context, charge);
}

void charge_fill_interval(struct charge_context *context, struct charge *charge)
{
    struct job_span span = charge->span;
    span.start = charge->interval.start;
    span.end = charge->interval.end;
    charge_span(context, charge, &span);
}

/* Returns the time of the newest decay cycle, for use with last_pass(). */
static uint64_t newest_pass(const struct charge_context *context, uint64_t before)
{
    return passes_newest(context->passes, decay_table_now(context->charging.decay), context->period,
                         before);
}

/* Returns the counts of the kept TRES of a row, or NULL if it has none. */
static const uint64_t *counts_of(struct charge_context *context, const struct job_row *row)
{
    const char *list = row->tres ? row->tres : row->job.tres_alloc;
    size_t length = row->tres ? row->tres_length : row->job.tres_alloc_length;
    return list && kept_tres_counts(context->kept, list, length, context->counts) ? context->counts
                                                                                  : NULL;
}

void charge_begin(struct charge_context *context, const struct job_row *row, struct charge *charge)
{
    const struct usage_owner *owner =
        context->owners ? usage_owners_find(context->owners, row->association) : NULL;
    struct job_span *span = &charge->span;
    *span = job_span(&context->charging, &row->job);
    uint64_t end = span->ended;
    if (row->noted)
        job_span_suspended(span, row->noted, newest_pass(context, row->noted), context->period);
    charge->row = row;
    charge->number = ++context->rows;
    charge->ended = end;
    charge->outcome = span->outcome;
    charge->negative = context->negative != (row->suspension != NULL);
    charge->again = false;
    charge->checkpointed = end && context->checkpoint && end < context->checkpoint->checkpointed_to;
    charge->left_out = end && end <= context->left_out;
    charge->expired = end && end <= context->cutoff;
    charge->tres = context->kept ? counts_of(context, row) : NULL;
    charge->first = UINT64_MAX;
    charge->interval =
        charge_interval_first(span->start, span->end, row->rate, row->association, owner);
    if (charge->interval.end == span->end)
        charge_span(context, charge, span);
    else
        charge_fill_interval(context, charge);
}

/*
 * The row that is charged again begins at the last decay cycle or at time_start, whichever is
 * later.  Before Slurm 24.11, time_start is the start of the job.  From 24.11 on, it is the time of
 * the previous resize if the job was resized before.
 */
bool charge_again_row(const struct job_row *row, uint64_t pass, struct job_row *again)
{
    uint64_t start = row->job.time_start, end = row->job.time_end;
    *again = *row;
    again->job.time_start = pass > start ? pass : start;
    again->job.time_submit = 0;
    again->job.time_limit = 0;
    again->job.tres_alloc = row->resized_to;
    again->job.tres_alloc_length = row->resized_to_length;
    again->tres = NULL;
    again->resized_to = NULL;
    return start && again->job.time_start < end;
}

/*
 * A resize charges the time since the last decay cycle at the old size, and the next cycle charges
 * it again at the new size.  Checkpointed sums must not depend on the time of a cycle.  So for a
 * row that is old enough to be checkpointed, the last cycle is assumed to be half a period before
 * the resize.
 */
static uint64_t pass_before(const struct charge_context *context, uint64_t resize)
{
    if (decay_table_now(context->charging.decay) - resize <= context->recent)
        return last_pass(newest_pass(context, resize), context->period, resize);
    return resize > context->period / 2 ? resize - context->period / 2 : 0;
}

bool charge_again(struct charge_context *context, const struct job_row *row, struct job_row *again,
                  struct charge *charge)
{
    uint64_t now = decay_table_now(context->charging.decay), end = row->job.time_end;
    if (!row->resized_to || !end || end > now)
        return false;
    if (!charge_again_row(row, pass_before(context, end), again))
        return false;
    context->rows--;
    charge_begin(context, again, charge);
    charge->again = true;
    return true;
}
