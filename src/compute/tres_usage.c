/* SPDX-License-Identifier: MIT */
#include "compute/tres_usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/finding.h"
#include "core/tree/tree.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

#define DAY_S UINT64_C(86400)
/* Days before today whose usage is kept for QOS, and the days of them that make the average. */
#define QOS_DAYS 8
#define RATE_DAYS 7

/* Returns true if a list `id=minutes,...` names the TRES. */
static bool limit_names(const char *list, uint64_t id)
{
    uint64_t count;
    return tres_count(list, strlen(list), id, &count) == TRES_FOUND;
}

bool tres_usage_needs_all(const struct settings *settings, const struct accounting *accounting)
{
    bool needs = false;
    for (size_t i = 0; i < accounting->qos_count; i++)
        needs |=
            accounting->qos[i].no_decay && accounting->qos[i].limits && *accounting->qos[i].limits;
    return needs && strcasecmp(settings->tres, "none") != 0;
}

/* Lists the QOS that have a limit of a kept TRES. */
static void add_limited_qos(struct tres_usage *usage, const struct accounting *accounting)
{
    for (size_t i = 0; i < accounting->qos_count; i++) {
        const struct qos_row *qos = &accounting->qos[i];
        bool is_limited = false;
        for (size_t k = 0; k < usage->kept.count && qos->limits; k++)
            is_limited |= limit_names(qos->limits, usage->kept.tres[k].id);
        if (!is_limited || qos->id > UINT32_MAX)
            continue;
        *memory_append(&usage->qos, &usage->qos_count) =
            (struct limited_qos){ qos->id, qos->no_decay };
    }
}

struct tres_usage *tres_usage_create(const struct settings *settings,
                                     const struct accounting *accounting,
                                     const struct decay_table *decay, uint64_t reset,
                                     struct tres_numbers *numbers, struct findings *findings)
{
    struct tres_usage *usage = memory_zeroed(1, sizeof *usage);
    struct text lacking = { 0 };
    kept_tres_choose(&usage->kept, settings->tres, accounting->tres, accounting->tres_count,
                     numbers, &lacking);
    if (lacking.length)
        findings_add(findings, FINDING_TRES_NOT_KEPT, 0, "%s", lacking.bytes);
    text_free(&lacking);
    if (!usage->kept.count) {
        free(usage);
        return NULL;
    }
    usage->numbers = numbers;
    usage->decay = decay;
    usage->reset = reset;
    usage->qos_sums = usage_sums_create(usage->kept.count);
    add_limited_qos(usage, accounting);
    return usage;
}

void tres_usage_place(struct tres_usage *usage, const struct tree *tree)
{
    if (!usage)
        return;
    usage->sums = memory_zeroed(tree->count * usage->kept.count, sizeof *usage->sums);
}

void tres_usage_destroy(struct tres_usage *usage)
{
    if (!usage)
        return;
    usage_sums_destroy(usage->qos_sums);
    free(usage->qos);
    free(usage->sums);
    free(usage);
}

void tres_usage_add_basis(const struct tres_usage *usage, struct text *basis)
{
    if (!usage)
        return;
    text_add(basis, "tres ");
    for (size_t k = 0; k < usage->kept.count; k++)
        text_format(basis, "%s%u:%" PRIu64, k ? "," : "", usage->kept.tres[k].number,
                    usage->kept.tres[k].id);
    text_add(basis, "\n");
    for (size_t i = 0; i < usage->qos_count; i++)
        text_format(basis, "%s%" PRIu64 "%s%s", i ? "," : "limited_qos ", usage->qos[i].id,
                    usage->qos[i].no_decay ? "n" : "", i + 1 < usage->qos_count ? "" : "\n");
}

/*
 * Returns the units of one unit of a TRES: UNITS_PER_TRES times the factors.  If a job has no
 * tres_alloc, its rate is the whole charge, and there are no factors.
 */
static uint128 tres_rate_of(const struct charge *charge)
{
    return charge->row->job.tres_alloc ? charge->interval.rate->rate : UNITS_PER_TRES;
}

bool tres_products(const struct tres_usage *usage, const struct charge *charge, uint64_t weight,
                   int128 *products)
{
    const uint128 rate = tres_rate_of(charge);
    uint128 units;
    bool any = false;
    for (size_t k = 0; k < usage->kept.count; k++) {
        bool good = charge->tres[k] && rate < RATE_TOO_LARGE &&
                    !__builtin_mul_overflow(rate, (uint128)charge->tres[k], &units) &&
                    units < TRES_UNITS_LIMIT;
        products[k] = good ? (int128)(units * weight) : 0;
        any |= good && units;
    }
    return any && weight;
}

bool tres_add(size_t count, int128 *sums, const int128 *products, bool negative)
{
    bool overflows = false;
    for (size_t k = 0; k < count; k++)
        overflows |= negative ? __builtin_sub_overflow(sums[k], products[k], &sums[k])
                              : __builtin_add_overflow(sums[k], products[k], &sums[k]);
    return !overflows;
}

uint64_t qos_days_expired(const struct tres_usage *usage, uint64_t *from)
{
    uint64_t today = decay_table_now(usage->decay) / DAY_S;
    *from = QOS_SUM_ID << 1;
    return qos_day_id(0, today > QOS_DAYS ? today - QOS_DAYS : 0);
}

static const struct limited_qos *limited_qos_of(const struct tres_usage *usage, uint64_t qos)
{
    for (size_t i = 0; i < usage->qos_count; i++)
        if (usage->qos[i].id == qos)
            return &usage->qos[i];
    return NULL;
}

static int qos_beyond_range(uint64_t qos, struct error *err)
{
    return fail(err, ERROR_DATA, "the usage of QOS %" PRIu64 " is beyond the range of integers",
                qos);
}

/* Adds the charge with `weight` to the sums of an id. */
static int add_to_qos(const struct qos_accumulator *accumulator, const struct charge *charge,
                      uint64_t id, uint64_t weight, struct error *err)
{
    struct tres_usage *usage = accumulator->usage;
    int128 products[KEPT_TRES_LIMIT];
    if (!weight || !tres_products(usage, charge, weight, products))
        return 0;
    struct usage_sums *sums = charge->checkpointed ? accumulator->checkpointed : usage->qos_sums;
    return tres_add(usage->kept.count, usage_sums_place(sums, id).tres, products, charge->negative)
               ? 0
               : qos_beyond_range(charge->row->qos, err);
}

/* Adds the part of the charge on each of the last days to the sums of that day. */
static int add_to_days(const struct qos_accumulator *accumulator, const struct charge *charge,
                       uint64_t start, uint64_t end, struct error *err)
{
    uint64_t today = decay_table_now(accumulator->usage->decay) / DAY_S;
    uint64_t first = today > QOS_DAYS ? today - QOS_DAYS : 0;
    if (start < first * DAY_S)
        start = first * DAY_S;
    for (; start < end; start = (start / DAY_S + 1) * DAY_S) {
        uint64_t day = start / DAY_S, stop = end < (day + 1) * DAY_S ? end : (day + 1) * DAY_S;
        if (add_to_qos(accumulator, charge, qos_day_id(charge->row->qos, day), stop - start, err))
            return -1;
    }
    return 0;
}

int qos_accumulator_take(struct charge_accumulator *base, const struct charge *charge,
                         struct error *err)
{
    const struct qos_accumulator *accumulator = (const struct qos_accumulator *)base;
    const struct tres_usage *usage = accumulator->usage;
    const struct limited_qos *qos = limited_qos_of(usage, charge->row->qos);
    const struct charge_term *used = &charge->used;
    if (!qos || !charge->tres || charge->left_out)
        return 0;
    uint64_t start = used->start < usage->reset ? usage->reset : used->start, end = used->end;
    uint64_t weight = start >= end    ? 0
                      : qos->no_decay ? end - start
                                      : decay_table_narrow_weight(usage->decay, start, end);
    return add_to_qos(accumulator, charge, qos_sum_id(qos->id), weight, err) ||
                   add_to_days(accumulator, charge, start, end, err)
               ? -1
               : 0;
}

/*
 * Returns the units per second of a rollup, or 0 if they cannot be right.  A rollup spreads its
 * usage evenly over its time.
 */
static uint128 rollup_units(const struct rollup *rollup, uint128 rate)
{
    uint128 units;
    if (rate >= RATE_TOO_LARGE || __builtin_mul_overflow(rate, (uint128)rollup->alloc_secs, &units))
        return 0;
    units /= rollup->end - rollup->start;
    return units < TRES_UNITS_LIMIT ? units : 0;
}

static bool add_units(int128 *sum, uint128 units, uint64_t weight)
{
    return !__builtin_add_overflow(*sum, (int128)(units * weight), sum);
}

/* Adds a rollup of the TRES with index `k` to its QOS, if the QOS has a limit. */
static bool add_rollup_to_qos(const struct tres_usage *usage, struct usage_sums *sums,
                              uint64_t id_qos, size_t k, const struct charge_term *term)
{
    const struct limited_qos *qos = limited_qos_of(usage, id_qos);
    uint64_t start = term->start < usage->reset ? usage->reset : term->start, end = term->end;
    if (!qos || start >= end)
        return true;
    uint64_t weight =
        qos->no_decay ? end - start : decay_table_narrow_weight(usage->decay, start, end);
    return add_units(&usage_sums_place(sums, qos_sum_id(qos->id)).tres[k], term->units, weight);
}

bool tres_usage_add_rollup(struct tres_usage *usage, int128 *sums, struct usage_sums *checkpointed,
                           const struct rollup_row *row, const struct slice *interval,
                           uint64_t start)
{
    size_t k = kept_tres_find(&usage->kept, row->tres);
    struct charge_term term = {
        .units = rollup_units(&row->rollup, interval->rate->rate),
        .start = start > row->rollup.start ? start : row->rollup.start,
        .end = interval->end < row->rollup.end ? interval->end : row->rollup.end,
    };
    if (term.start < interval->start)
        term.start = interval->start;
    if (k == usage->kept.count || term.start >= term.end)
        return true;
    term.narrow = decay_table_narrow_weight(usage->decay, term.start, term.end);
    return add_units(&sums[k], term.units, term.narrow) &&
           add_rollup_to_qos(usage, checkpointed ? checkpointed : usage->qos_sums, row->qos, k,
                             &term);
}

uint32_t tres_usage_roll_up(const struct tres_usage *usage, const struct tree *tree)
{
    size_t count = tres_usage_count(usage);
    for (size_t i = 0; i < count * tree->count; i++)
        if (usage->sums[i] < 0)
            usage->sums[i] = 0;
    for (uint32_t i = tree->count; count && i-- > 1;) {
        uint32_t parent = tree->nodes[i].parent;
        if (!tres_add(count, &usage->sums[parent * count], &usage->sums[i * count], false))
            return parent;
    }
    return NO_NODE;
}

double tres_usage_of_node(const struct tres_usage *usage, uint32_t node, size_t tres)
{
    return decay_table_narrow_usage(usage->decay, usage->sums[node * usage->kept.count + tres]);
}

/* Returns undecayed usage in TRES-seconds. */
static double undecayed_usage(int128 sum)
{
    return sum > 0 ? (double)sum / (double)UNITS_PER_TRES : 0;
}

/* Returns the sum of a TRES under an id of `qos_sums`. */
static int128 qos_sum_of(const struct tres_usage *usage, uint64_t id, size_t tres)
{
    const struct usage_sum *row = usage_sums_find(usage->qos_sums, id);
    return row ? usage_sums_tres(usage->qos_sums, (size_t)(row - usage->qos_sums->rows))[tres] : 0;
}

double tres_usage_of_qos(const struct tres_usage *usage, uint64_t qos, size_t tres)
{
    const struct limited_qos *limited = limited_qos_of(usage, qos);
    int128 sum = qos_sum_of(usage, qos_sum_id(qos), tres);
    if (!limited)
        return 0;
    return limited->no_decay ? undecayed_usage(sum) : decay_table_narrow_usage(usage->decay, sum);
}

double tres_rate_of_qos(const struct tres_usage *usage, uint64_t qos, size_t tres)
{
    uint64_t today = decay_table_now(usage->decay) / DAY_S,
             reset = (usage->reset + DAY_S - 1) / DAY_S;
    uint64_t from = today > RATE_DAYS ? today - RATE_DAYS : 0;
    int128 sum = 0;
    /* Usage before the reset is not in the sums. */
    from = reset > from ? reset : from;
    for (uint64_t day = from; day < today; day++)
        sum += qos_sum_of(usage, qos_day_id(qos, day), tres);
    return from < today ? undecayed_usage(sum) / (double)((today - from) * DAY_S) : NAN;
}
