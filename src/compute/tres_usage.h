/* SPDX-License-Identifier: MIT */
#ifndef FAIRMILL_COMPUTE_TRES_USAGE_H
#define FAIRMILL_COMPUTE_TRES_USAGE_H

#include "compute/charge.h"
#include "core/usage/checkpoint.h"
#include "core/usage/kept_tres.h"
#include "util/text.h"

struct accounting;
struct findings;
struct rollup_row;
struct settings;
struct tree;

/*
 * Decayed usage by TRES, of associations and of QOS with limits.
 *
 * A sum by TRES is exact like the billed sum (core/usage/usage.h), but has only 128 bits:
 *
 *     units = count of the TRES * UNITS_PER_TRES * usage factors
 *     sum   = total of units * narrow weight (decay_table.h)
 *
 * The sums of an association are beside its billed sum, in struct usage_sums and in `sums` below,
 * so that a charge needs one lookup.
 *
 * A QOS whose GrpTRESMins limit counts kept TRES has sums of its own in struct usage_sums, under
 * the ids of qos_sum_id() and qos_day_id().  These ids are above all ids of associations.  The
 * first is for its decayed usage, or for its undecayed usage since the last reset if the QOS has
 * the flag NoDecay.  The second is for its undecayed usage on one of the last days (UTC), from
 * which the time is computed at which the limit is reached.
 */

/* If the units of a TRES of a job reach this number, its count must be wrong and is ignored. */
#define TRES_UNITS_LIMIT ((uint128)1 << 74)

struct limited_qos {
    uint64_t id;
    bool no_decay;
};

struct tres_usage {
    struct kept_tres kept;
    struct tres_numbers *numbers;
    int128 *sums; /* kept.count sums for each node of the tree */
    struct limited_qos *qos;
    size_t qos_count;
    struct usage_sums *qos_sums;
    const struct decay_table *decay;
    uint64_t reset; /* usage before the last reset does not count */
};

/*
 * Chooses the TRES to keep, after the small tables were read.  Returns NULL if no TRES is kept.
 * `numbers` has the numbers that earlier runs assigned; it and `decay` must outlive the result.
 * `reset` is the time of the last reset, or 0.
 */
struct tres_usage *tres_usage_create(const struct settings *settings,
                                     const struct accounting *accounting,
                                     const struct decay_table *decay, uint64_t reset,
                                     struct tres_numbers *numbers, struct findings *findings);
/* Creates the sums of the nodes.  `usage` may be NULL. */
void tres_usage_place(struct tres_usage *usage, const struct tree *tree);
/*
 * Returns true if a QOS with limits has the flag NoDecay, so that usage counts however old it is.
 */
bool tres_usage_needs_all(const struct settings *settings, const struct accounting *accounting);
void tres_usage_destroy(struct tres_usage *usage);
/* Adds lines to the basis of a checkpoint (checkpoint_plan.c). */
void tres_usage_add_basis(const struct tres_usage *usage, struct text *basis);

/* The number of kept TRES; 0 if `usage` is NULL. */
static inline size_t tres_usage_count(const struct tres_usage *usage)
{
    return usage ? usage->kept.count : 0;
}

/*
 * Computes the products that a charge adds to sums by TRES, without sign.  Returns false if all are
 * 0.
 */
bool tres_products(const struct tres_usage *usage, const struct charge *charge, uint64_t weight,
                   int128 *products);
/* Adds products to sums, or subtracts them.  Returns false if a sum is out of range. */
bool tres_add(size_t count, int128 *sums, const int128 *products, bool negative);

/* Ids of the sums of QOS.  `day` is the number of days since 1970-01-01. */
#define QOS_SUM_ID (UINT64_C(1) << 60)
static inline bool is_qos_sum(uint64_t id)
{
    return id >= QOS_SUM_ID;
}
static inline uint64_t qos_sum_id(uint64_t qos)
{
    return QOS_SUM_ID | qos;
}
static inline uint64_t qos_day_id(uint64_t qos, uint64_t day)
{
    return QOS_SUM_ID << 1 | day << 32 | qos;
}
/*
 * Returns the range of the ids of days that are too old to matter: above `*from` and below the
 * result.
 */
uint64_t qos_days_expired(const struct tres_usage *usage, uint64_t *from);

/* Accumulator: adds charges to the sums of their QOS. */
struct qos_accumulator {
    struct charge_accumulator accumulator;
    struct tres_usage *usage;
    struct usage_sums *checkpointed; /* receives charges of checkpointed rows */
};
int qos_accumulator_take(struct charge_accumulator *accumulator, const struct charge *charge,
                         struct error *err);

/*
 * Adds the part of a rollup of a kept TRES that is in `interval` and not before `start` to the sums
 * by TRES of its association, and to the sums of its QOS in `checkpointed` or, if this is NULL, in
 * usage->qos_sums.  Returns false if a sum is out of range.
 */
bool tres_usage_add_rollup(struct tres_usage *usage, int128 *sums, struct usage_sums *checkpointed,
                           const struct rollup_row *row, const struct slice *interval,
                           uint64_t start);

/*
 * Adds the sums of all nodes to their ancestors.  Returns NO_NODE, or the first node whose sums are
 * out of range.  `usage` may be NULL.
 */
uint32_t tres_usage_roll_up(const struct tres_usage *usage, const struct tree *tree);

/*
 * Return TRES-seconds of the kept TRES with index `tres`: the decayed usage of a node and
 * everything below it, the usage of a QOS that counts for its limit, and its average usage per
 * second during the last seven days (UTC) before today.
 */
double tres_usage_of_node(const struct tres_usage *usage, uint32_t node, size_t tres);
double tres_usage_of_qos(const struct tres_usage *usage, uint64_t qos, size_t tres);
double tres_rate_of_qos(const struct tres_usage *usage, uint64_t qos, size_t tres);

#endif
