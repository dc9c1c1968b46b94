/* SPDX-License-Identifier: MIT */
#include "command/explain/explain_days.h"

#include <math.h>
#include <stdlib.h>

#include "core/tree/tree.h"
#include "core/usage/calendar.h"
#include "core/usage/clock.h"
#include "core/usage/ledger.h"
#include "db/db.h"
#include "report/explained.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "sql.h"
#include "util/memory.h"

/* Behind so many half-lives a day weighs less than a thousandth of what it did. */
#define HALF_LIVES 10

/* The days by time, and who is meant. */
struct gathering {
    const struct published_cluster *cluster;
    bool *inside;                /* by node */
    struct ledger_state *ledger; /* of the published instant */
    uint64_t reset;              /* the last one of the cluster; 0: none */
    struct heavy_day *days;
    size_t count;
};

static void find_inside(struct gathering *gathering, uint32_t one)
{
    const struct tree *tree = gathering->cluster->tree;
    gathering->inside = memory_zeroed(tree->count, sizeof *gathering->inside);
    for (uint32_t i = 0; i < tree->count; i++)
        gathering->inside[i] = i == one || (i && gathering->inside[tree->nodes[i].parent]);
}

/* What is left of a use that was spread evenly over a day up to the published instant: nothing of
 * what was before a reset, and the mean of the rest, by Simpson's rule, which is exact to many more
 * digits than are shown where a half-life has hours. */
static double left_of(const struct published_cluster *cluster, uint64_t first, uint64_t reset)
{
    uint64_t from = first, to = calendar_next_day(first), now = (uint64_t)cluster->as_of;
    if (to > now)
        to = now;
    if (from < reset)
        from = reset;
    if (from > to)
        return 0;
    if (to == first)
        return clock_left(cluster->clock, to);
    return (double)(to - from) / (double)(to - first) *
           (clock_left(cluster->clock, from) +
            4 * clock_left(cluster->clock, from + (to - from) / 2) +
            clock_left(cluster->clock, to)) /
           6;
}

static uint64_t reset_of(const struct gathering *gathering, uint64_t association)
{
    uint64_t own = ledger_reset_before(gathering->ledger, association, UINT64_MAX);
    return own > gathering->reset ? own : gathering->reset;
}

/* Rows are by day. */
static void take_day(struct gathering *gathering, const struct db_value *row)
{
    const struct tree *tree = gathering->cluster->tree;
    uint32_t place = tree_place(tree, (uint64_t)row[1].integer);
    int64_t first = row[0].integer;
    if (place == NO_NODE || tree->nodes[place].id != row[1].integer || !gathering->inside[place])
        return;
    double left =
        left_of(gathering->cluster, (uint64_t)first, reset_of(gathering, tree->nodes[place].id));
    if (!(left > 0))
        return;
    if (!gathering->count || gathering->days[gathering->count - 1].first != first) {
        gathering->days = memory_grown(gathering->days, gathering->count, sizeof *gathering->days);
        gathering->days[gathering->count++] = (struct heavy_day){ .first = first };
    }
    struct heavy_day *day = &gathering->days[gathering->count - 1];
    double used = db_value_real(&row[2]);
    day->used += used;
    day->left += used * left;
}

/* From the last reset of all, of the settings or of the ledger. */
static int find_resets(struct gathering *gathering, struct db *results, struct error *err)
{
    const struct published_cluster *cluster = gathering->cluster;
    const struct reset_period period = published_reset_period(cluster);
    uint64_t now = (uint64_t)cluster->as_of;
    struct ledger *ledger;
    if (ledger_read(results, cluster->name, &ledger, err))
        return -1;
    gathering->ledger = ledger_at(ledger, now);
    ledger_destroy(ledger);
    gathering->reset = calendar_last_reset(&period, now);
    if (gathering->ledger->cluster_reset > gathering->reset)
        gathering->reset = gathering->ledger->cluster_reset;
    return 0;
}

static int by_weight(const void *a, const void *b)
{
    const struct heavy_day *one = a, *other = b;
    if (one->left < other->left || one->left > other->left)
        return one->left > other->left ? -1 : 1;
    return (one->first < other->first) - (one->first > other->first);
}

static int read_days(struct gathering *gathering, struct db *results, struct error *err)
{
    const struct published_cluster *cluster = gathering->cluster;
    uint64_t now = (uint64_t)cluster->as_of, span = HALF_LIVES * cluster->half_life;
    const struct db_value *row,
        arguments[] = { db_text(cluster->name),
                        db_integer(span && span < now ? (int64_t)(now - span) : 0),
                        db_integer((int64_t)now) };
    struct db_rows *rows = db_query(results, sql_query_usage_day_span, arguments, 3, "iir", err);
    while (db_fetch(rows, &row, err) > 0)
        take_day(gathering, row);
    return db_finish(rows);
}

int weights_of_days(struct weights *weights, const struct published *published,
                    const struct published_cluster *cluster, const struct explained *explained,
                    struct error *err)
{
    struct gathering gathering = { .cluster = cluster };
    uint32_t one = explained->explanation->one;
    find_inside(&gathering, one);
    int result =
        find_resets(&gathering, published->db, err) || read_days(&gathering, published->db, err)
            ? -1
            : 0;
    double usage = cluster->values[one].usage_raw;
    for (size_t i = 0; i < gathering.count; i++) {
        struct heavy_day *day = &gathering.days[i];
        day->part = usage > 0 ? day->left / usage : NAN;
    }
    if (gathering.count)
        qsort(gathering.days, gathering.count, sizeof *gathering.days, by_weight);
    weights->days_only = true;
    weights->all_days = gathering.count;
    for (size_t i = 0; i < gathering.count && i < HEAVIEST_AT_MOST; i++)
        weights->days[weights->day_count++] = gathering.days[i];
    free(gathering.days);
    free(gathering.inside);
    ledger_state_destroy(gathering.ledger);
    return result;
}
