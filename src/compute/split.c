/* SPDX-License-Identifier: MIT */
#include "compute/split.h"

#include "compute/computation.h"
#include "core/usage/seal.h"

static int add(struct usage_sums *sums, const struct charge *charge, struct error *err)
{
    uint64_t association = charge->slice.association;
    const struct charge_term *counted = &charge->counted;
    if (!counted->units || wide_add_product(usage_sums_of(sums, association), counted->units,
                                            counted->weight, charge->negative))
        return 0;
    return usage_beyond_range(association, err);
}

/* The first instant from a place on by which it was `end`. */
static size_t first_from(const struct split *split, uint64_t end)
{
    size_t low = 0, high = split->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (clock_now(split->instants[middle].clock) < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where a row has ended for good; the number of instants where it has for none.  What was charged
 * behind the end of a suspended job hangs on each instant. */
static size_t first_ended(const struct split *split, const struct job_row *row)
{
    return row->job.time_end && !row->noted ? first_from(split, row->job.time_end) : split->count;
}

static int take_slice(struct charge_sink *sink, const struct charge *charge, struct error *err)
{
    const struct split *split = ((const struct split_sink *)sink)->split;
    size_t at = charge->again ? split->count : first_ended(split, charge->row);
    return at < split->count ? add(split->instants[at].ended, charge, err) : 0;
}

static int add_slices(struct split_instant *instant, struct charge *charge, struct error *err)
{
    do
        if (add(instant->working, charge, err))
            return -1;
    while (charge_next(&instant->charger, charge));
    return 0;
}

static int charge_at(struct split_instant *instant, const struct job_row *row, struct error *err)
{
    struct charge charge;
    charge_begin(&instant->charger, row, &charge);
    return add_slices(instant, &charge, err);
}

/* From which pass a resized job is charged again hangs on each instant. */
static int charge_again_at(struct split_instant *instant, const struct job_row *row,
                           struct error *err)
{
    struct charge charge;
    struct job_row again;
    return charge_again(&instant->charger, row, &again, &charge) ? add_slices(instant, &charge, err)
                                                                 : 0;
}

static int take_row(struct charge_sink *sink, const struct charge *charge, struct error *err)
{
    const struct split *split = ((const struct split_sink *)sink)->split;
    size_t end = first_ended(split, charge->row);
    for (size_t i = first_from(split, charge->row->job.time_start); i < end; i++)
        if (charge_at(&split->instants[i], charge->row, err))
            return -1;
    for (size_t i = end; charge->row->resized_to && i < split->count; i++)
        if (charge_again_at(&split->instants[i], charge->row, err))
            return -1;
    return 0;
}

void split_begin(struct split *split, struct split_instant *instants, size_t count)
{
    *split = (struct split){ { { take_slice }, split }, { { take_row }, split }, instants, count };
    for (size_t i = 0; i < count; i++) {
        instants[i].ended = usage_sums_create();
        instants[i].working = usage_sums_create();
    }
}

void split_free(struct split *split)
{
    for (size_t i = 0; i < split->count; i++) {
        usage_sums_destroy(split->instants[i].ended);
        usage_sums_destroy(split->instants[i].working);
    }
    *split = (struct split){ .count = 0 };
}

void split_begin_pass(struct split *split, const struct charger *charger)
{
    for (size_t i = 0; i < split->count; i++) {
        split->instants[i].charger = *charger;
        split->instants[i].charger.charging.clock = split->instants[i].clock;
    }
}
