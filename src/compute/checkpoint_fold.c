/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "compute/checkpoint_plan.h"
#include "compute/computation.h"
#include "compute/tres_usage.h"
#include "core/finding.h"
#include "core/usage/ledger.h"
#include "util/error.h"
#include "util/memory.h"

/* Adds the checkpointed sums to the tree's nodes, see checkpoint_plan_fold(). */

/* The state of checkpoint_plan_fold(). */
struct folding {
    struct checkpoint_plan *plan;
    struct computation *computation;
    uint64_t kept_hash; /* hash of the stored sums that were read */
    bool beyond_range;  /* a sum is out of range; the error names the association */
    bool *met; /* indexed as plan->sums->rows: true if a stored sum was added to the sum or, with
                  CHECKPOINT_VERIFY, compared with it */
};

/* Sums are in another order than nodes, so the node of a sum to come is loaded into the cache. */
#define SUMS_AHEAD 8

/* Adds a checkpointed sum to its node, unless the association's last reset discards all of it. */
static int add_to_node(const struct folding *folding, uint64_t id, const struct wide *sum,
                       const int128 *tres, struct error *err)
{
    struct computation *computation = folding->computation;
    if (ledger_reset_before(computation->ledger, id, UINT64_MAX) >=
        checkpoint_reach(&folding->plan->checkpoint))
        return 0;
    struct usage_place place = computation_place(computation, id);
    return wide_add(place.sum, sum) &&
                   tres_add(tres_usage_count(computation->tres), place.tres, tres, false)
               ? 0
               : usage_beyond_range(id, err);
}

/* Reads the stored sums by TRES.  Sets all of them to 0 if the text is damaged. */
static void read_tres(const struct folding *folding, const struct stored_sum *stored, int128 *tres)
{
    const struct tres_usage *usage = folding->computation->tres;
    if (usage && !tres_sums_read(&usage->kept, stored->tres, stored->tres_length, tres))
        memset(tres, 0, usage->kept.count * sizeof *tres);
}

/* Returns the hash of a sum of this run, as checkpoint_write() stores it. */
static uint64_t own_hash(const struct folding *folding, size_t row)
{
    const struct usage_sums *sums = folding->plan->sums;
    const struct tres_usage *usage = folding->computation->tres;
    struct text text = { 0 };
    if (usage)
        tres_sums_write(&usage->kept, usage_sums_tres(sums, row), &text);
    uint64_t hash =
        usage_sum_hash(sums->rows[row].id, &sums->rows[row].sum, text.bytes, text.length);
    text_free(&text);
    return hash;
}

/* Returns true if the sum is of a QOS on a day that no run uses any more. */
static bool is_expired(const struct folding *folding, uint64_t id)
{
    const struct checkpoint_plan *plan = folding->plan;
    return id >= plan->expired_from && id < plan->expired_to;
}

static int fold_own(struct folding *folding, struct error *err)
{
    const struct usage_sums *sums = folding->plan->sums;
    for (size_t i = 0; i < sums->count; i++) {
        if (i + SUMS_AHEAD < sums->count)
            computation_fetch(folding->computation, sums->rows[i + SUMS_AHEAD].id);
        if (add_to_node(folding, sums->rows[i].id, &sums->rows[i].sum, usage_sums_tres(sums, i),
                        err))
            return -1;
    }
    return 0;
}

static size_t row_index(const struct usage_sums *sums, const struct usage_sum *row)
{
    return (size_t)(row - sums->rows);
}

/*
 * Returns true if a reset discards the stored sum of the association.  The reset is before
 * checkpoint_reach() of the new checkpoint, but not before checkpoint_reach() of the stored
 * checkpoint.
 */
static bool was_reset(const struct folding *folding, uint64_t id)
{
    const struct checkpoint_plan *plan = folding->plan;
    return ledger_reset_before(folding->computation->ledger, id,
                               checkpoint_reach(&plan->checkpoint)) >=
           checkpoint_reach(&plan->stored->checkpoint);
}

static int fold_one(struct folding *folding, const struct stored_sum *stored, struct error *err)
{
    struct usage_sums *sums = folding->plan->sums;
    uint64_t id = stored->id;
    struct usage_sum *own = usage_sums_find(sums, id);
    int128 tres[KEPT_TRES_LIMIT];
    if (is_expired(folding, id))
        return 0;
    if (was_reset(folding, id)) {
        usage_sums_of(sums, id);
        return 0;
    }
    read_tres(folding, stored, tres);
    if (own) {
        size_t place = row_index(sums, own);
        folding->met[place] = true;
        if (!wide_add(&own->sum, &stored->sum) ||
            !tres_add(sums->tres_count, usage_sums_tres(sums, place), tres, false))
            return usage_beyond_range(id, err);
    } else {
        folding->plan->checkpoint.sums_hash +=
            usage_sum_hash(id, &stored->sum, stored->tres, stored->tres_length);
    }
    return add_to_node(folding, id, &stored->sum, tres, err);
}

/*
 * Reports a sum that is out of range only after all sums were read.  The cause may be a damaged
 * sum, and damage is known only from the hash of all sums.
 */
static int fold_stored(void *context, const struct stored_sum *stored, struct error *err)
{
    struct folding *folding = context;
    /* Stored sums are in order of ids, and most ids are consecutive. */
    computation_fetch(folding->computation, stored->id + SUMS_AHEAD);
    folding->kept_hash +=
        usage_sum_hash(stored->id, &stored->sum, stored->tres, stored->tres_length);
    if (!folding->beyond_range && fold_one(folding, stored, err))
        folding->beyond_range = true;
    return 0;
}

/* Returns true if own = kept + late for each TRES. */
static bool same_tres(const struct folding *folding, uint64_t id, const int128 *own,
                      const int128 *kept)
{
    const struct usage_sums *late = folding->plan->late;
    const struct usage_sum *row = usage_sums_find(late, id);
    const int128 *more = row ? usage_sums_tres(late, row_index(late, row)) : NULL;
    for (size_t k = 0; k < late->tres_count; k++)
        if (own[k] != kept[k] + (more ? more[k] : 0))
            return false;
    return true;
}

/*
 * Compares a new sum with the sum that an incremental run would have computed.  If the stored sum
 * is too large to be subtracted, it is damaged.
 */
static void compare_sum(struct folding *folding, uint64_t id, const struct usage_place *own,
                        const struct usage_place *kept)
{
    struct checkpoint_plan *plan = folding->plan;
    struct wide difference = *own->sum, positive = { { 0 } };
    const struct usage_sum *late = usage_sums_find(plan->late, id);
    bool known =
        wide_subtract(&difference, kept->sum) && (!late || wide_subtract(&difference, &late->sum));
    if (is_expired(folding, id) ||
        (known && wide_is_zero(&difference) && same_tres(folding, id, own->tres, kept->tres)))
        return;
    plan->drifted++;
    if (wide_is_negative(&difference))
        known &= wide_subtract(&positive, &difference);
    else
        positive = difference;
    double drift = known ? decay_table_usage(folding->computation->decay, &positive) : 0;
    if (drift > plan->drift)
        plan->drift = drift;
}

/* Sums of 0, for an id that is in only one of the two sets of sums. */
static struct wide no_usage;
static int128 no_tres[KEPT_TRES_LIMIT];
static const struct usage_place nothing = { &no_usage, no_tres };

static int compare_stored_sum(void *context, const struct stored_sum *stored, struct error *err)
{
    struct folding *folding = context;
    (void)err;
    struct usage_sums *sums = folding->plan->sums;
    struct usage_sum *row = usage_sums_find(sums, stored->id);
    struct wide sum = stored->sum;
    int128 tres[KEPT_TRES_LIMIT];
    struct usage_place own = nothing, kept = { &sum, tres };
    folding->kept_hash +=
        usage_sum_hash(stored->id, &stored->sum, stored->tres, stored->tres_length);
    if (row) {
        size_t place = row_index(sums, row);
        folding->met[place] = true;
        own = (struct usage_place){ &row->sum, usage_sums_tres(sums, place) };
    }
    read_tres(folding, stored, tres);
    compare_sum(folding, stored->id, &own, &kept);
    return 0;
}

static const char sums_changed[] = "rows of fairmill_seal_usage are not as they were stored";

static int compare_all_sums(struct folding *folding, struct db *results, struct error *err)
{
    struct checkpoint_plan *plan = folding->plan;
    struct usage_sums *sums = plan->sums;
    plan->drift = 0;
    plan->drifted = 0;
    if (checkpoint_read_sums(results, folding->computation->source.cluster, compare_stored_sum,
                             folding, err)) {
        if (err->class != ERROR_DATA)
            return -1;
        folding->kept_hash = ~plan->stored->checkpoint.sums_hash;
    }
    for (size_t i = 0; i < sums->count; i++)
        if (!folding->met[i])
            compare_sum(folding, sums->rows[i].id,
                        &(struct usage_place){ &sums->rows[i].sum, usage_sums_tres(sums, i) },
                        &nothing);
    if (folding->kept_hash != plan->stored->checkpoint.sums_hash) {
        if (!*plan->stored->doubt)
            findings_add(folding->computation->findings, FINDING_KEPT_CHANGED, 0, sums_changed);
    } else if (!plan->drifted && !plan->late->count) {
        plan->anew = false;
        plan->confirmed = true;
    }
    return 0;
}

static int fold_all_stored(struct folding *folding, struct db *results, struct error *err)
{
    struct error why;
    const char *cluster = folding->computation->source.cluster;
    bool readable = !checkpoint_read_sums(results, cluster, fold_stored, folding, &why);
    if (!readable && why.class != ERROR_DATA) {
        *err = why;
        return -1;
    }
    if (!readable || folding->kept_hash != folding->plan->stored->checkpoint.sums_hash)
        return fail(err, ERROR_DAMAGED, sums_changed);
    if (folding->beyond_range)
        *err = why;
    return folding->beyond_range ? -1 : 0;
}

static int fold(struct folding *folding, struct db *results, struct error *err)
{
    struct checkpoint_plan *plan = folding->plan;
    if (fold_own(folding, err))
        return -1;
    if (plan->mode == CHECKPOINT_VERIFY && compare_all_sums(folding, results, err))
        return -1;
    if (plan->mode == CHECKPOINT_INCREMENTAL && !plan->anew &&
        fold_all_stored(folding, results, err))
        return -1;
    /* The stored rows may include sums of 0 for associations that are missing in `sums`. */
    if (plan->confirmed)
        plan->checkpoint.sums_hash = plan->stored->checkpoint.sums_hash;
    for (size_t i = 0; !plan->confirmed && i < plan->sums->count; i++)
        plan->checkpoint.sums_hash += own_hash(folding, i);
    plan->checkpoint.open_hash = job_keys_hash(&plan->open);
    char *basis = plan->checkpoint.basis;
    plan->checkpoint.basis =
        checkpoint_basis_within(basis, folding->computation, checkpoint_reach(&plan->checkpoint));
    free(basis);
    findings_merge(folding->computation->findings, plan->findings);
    return 0;
}

int checkpoint_plan_fold(struct checkpoint_plan *plan, struct computation *computation,
                         struct db *results, struct error *err)
{
    if (plan->mode == CHECKPOINT_UNUSED)
        return 0;
    struct folding folding = { .plan = plan, .computation = computation };
    folding.met = memory_zeroed(plan->sums->count, sizeof *folding.met);
    int result = fold(&folding, results, err);
    free(folding.met);
    return result;
}
