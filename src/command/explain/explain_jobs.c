/* SPDX-License-Identifier: MIT */
#include "command/explain/explain_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compute/charge.h"
#include "compute/compute.h"
#include "compute/recorded_state.h"
#include "core/insight/top_jobs.h"
#include "core/priority/formula_jobs.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "core/usage/ledger.h"
#include "db/db.h"
#include "report/explained.h"
#include "report/permissions.h"
#include "results/ledger_rows.h"
#include "results/published.h"
#include "run/run.h"
#include "source/source.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

/* The data collected while jobs are charged. */
struct gathering {
    struct charge_accumulator accumulator;
    uint32_t id; /* id of the explained association */
    struct computation computation;
    bool *below; /* indexed by node: its jobs are included; allocated at the first job */
    struct top_jobs top_jobs;
    struct daily_usage days;
    struct decay_table *plain;
    struct suspensions suspensions; /* suspensions of one job at a time, without decay */
    double ledger;                  /* sum of the amounts in the ledger, in TRES-seconds */
    bool too_large;
    struct text job_ids[TOP_JOBS_KEPT]; /* ids of the jobs in top_jobs */
};

static void explain_jobs_find_below(struct gathering *gathering)
{
    const struct tree *tree = gathering->computation.tree;
    gathering->below = memory_zeroed(tree->count, sizeof *gathering->below);
    tree_mark_below(tree, tree_place(tree, gathering->id), gathering->below);
}

static int take_charge(struct charge_accumulator *accumulator, const struct charge *charge,
                       struct error *err)
{
    struct gathering *gathering = (struct gathering *)accumulator;
    const struct job_row *row = charge->row;
    const struct charge_term *term = &charge->counted;
    const struct suspension *suspension = row->suspension;
    (void)err;
    if (!gathering->below)
        explain_jobs_find_below(gathering);
    uint32_t place = tree_place(gathering->computation.tree, charge->interval.association);
    if (place == NO_NODE || !gathering->below[place])
        return 0;
    bool fits;
    const struct decay_table *decay = gathering->computation.decay;
    if (suspension) {
        uint128 seconds =
            suspensions_weight(&gathering->suspensions, gathering->plain, suspension->key, term,
                               suspension->start, suspension->end);
        struct charge_term part = *term;
        part.start = gathering->suspensions.counted_from;
        part.end = gathering->suspensions.counted_to;
        fits = top_jobs_suspend(&gathering->top_jobs, row->id_job, row->job.time_start, term,
                                seconds) &&
               daily_usage_add(&gathering->days, gathering->plain, decay, &part, true);
    } else {
        struct top_job record = { .id_job = row->id_job,
                                  .association = charge->interval.own,
                                  .start = row->job.time_start,
                                  .end = charge->ended };
        fits = top_jobs_add(&gathering->top_jobs, gathering->plain, term, charge->number, record) &&
               daily_usage_add(&gathering->days, gathering->plain, decay, term, false);
    }
    gathering->too_large |= !fits;
    return 0;
}

/* Sums the credits, debits and sets of the association and its descendants. */
static double ledger_amount(struct gathering *gathering)
{
    const struct computation *computation = &gathering->computation;
    const struct ledger_state *ledger = computation->ledger;
    struct wide sum = { { 0 } }, positive = sum;
    if (!gathering->below)
        explain_jobs_find_below(gathering);
    for (size_t i = 0; i < ledger->adjustment_count; i++) {
        uint32_t place = tree_place(computation->tree, ledger->adjustments[i].association);
        uint128 units;
        bool negative;
        uint128 weight =
            ledger_weight(ledger, &ledger->adjustments[i], computation->decay, &units, &negative);
        if (place != NO_NODE && gathering->below[place])
            gathering->too_large |= !wide_add_product(&sum, units, weight, negative);
    }
    if (!wide_is_negative(&sum))
        return decay_table_usage(computation->decay, &sum);
    wide_subtract(&positive, &sum);
    return -decay_table_usage(computation->decay, &positive);
}

/* A record of a removed association has no user name.  Only users who may see all users may see
 * it. */
static bool may_be_told(const struct explained *explained, const char *account, const char *user)
{
    if (!*user)
        return !permissions_only_login(explained->permissions);
    return permissions_show(explained->permissions, explained->cluster, account, user) &&
           permissions_show_job(explained->permissions, explained->cluster, account, user);
}

static void keep_jobs(struct weights *weights, const struct gathering *gathering,
                      const struct explained *explained)
{
    const struct top_jobs *top = &gathering->top_jobs;
    const struct computation *computation = &gathering->computation;
    for (size_t i = 0; i < top->count; i++) {
        const struct top_job *job = &top->kept[i];
        uint32_t place = tree_place(computation->tree, job->association);
        const char *user =
            names_text(computation->accounting->names, computation->tree->nodes[place].user);
        const char *account =
            names_text(computation->accounting->names, computation->tree->nodes[place].account);
        const struct text *id = &gathering->job_ids[i];
        struct text text = { 0 };
        text_add_as_utf8(&text, user, strlen(user));
        if (may_be_told(explained, account, text.bytes))
            weights->jobs[weights->job_count++] = (struct job_contributor){
                .id_job = (uint64_t)formula_job_number(id->bytes),
                .job_id = arena_copy(weights->texts, id->bytes, id->length),
                .user = arena_copy(weights->texts, text.bytes, text.length),
                .start = (int64_t)job->start,
                .end = (int64_t)job->end,
                .used = decay_table_usage(gathering->plain, &job->used),
                .left = decay_table_usage(computation->decay, &job->left),
                .part = wide_quotient(&job->left, &top->left),
            };
        text_free(&text);
    }
}

static void keep_days(struct weights *weights, struct gathering *gathering)
{
    struct daily_usage *days = &gathering->days;
    daily_usage_rank(days);
    weights->all_days = days->count;
    for (size_t i = 0; i < days->count && i < CONTRIBUTORS_AT_MOST; i++) {
        const struct usage_day *day = &days->days[i];
        weights->days[weights->day_count++] =
            (struct day_contributor){ (int64_t)day->first,
                                      decay_table_usage(gathering->plain, &day->used),
                                      decay_table_usage(gathering->computation.decay, &day->left),
                                      wide_quotient(&day->left, &gathering->top_jobs.left) };
    }
}

/* Imported jobs have text ids, which are found by the key of the job execution. */
static int name_jobs(struct gathering *gathering, const struct source *source, struct error *err)
{
    const struct top_jobs *top = &gathering->top_jobs;
    int result = 0;
    for (size_t i = 0; !result && i < top->count; i++) {
        struct text id = { 0 }, *utf8 = &gathering->job_ids[i];
        if (source->layout->imported)
            result = source->layout->imported->name_job(source, top->kept[i].id_job, &id, err);
        else
            text_format(&id, "%" PRIu64, top->kept[i].id_job);
        text_add(utf8, "");
        text_add_as_utf8(utf8, id.length ? id.bytes : "", id.length);
        text_free(&id);
    }
    return result;
}

/* Charges the jobs again for the published time. */
static int explain_jobs_gather(struct gathering *gathering, const struct settings *settings,
                               const struct explained *explained, struct error *err)
{
    struct db *db;
    if (run_open_source(&db, settings, err))
        return -1;
    struct source source = source_of(settings, db, explained->cluster);
    source.time = &explained->as_of;
    gathering->computation = computation_of(&source);
    gathering->computation.watcher = &gathering->accumulator;
    gathering->computation.selected = gathering->id;
    struct recorded_state recorded = { 0 };
    int result = recorded_state_read(&recorded, settings, explained->cluster, NULL, err);
    if (!result)
        result = compute_read(&gathering->computation, &recorded, NULL, err);
    recorded_state_free(&recorded);
    gathering->too_large |= !top_jobs_end(&gathering->top_jobs);
    if (!result) {
        gathering->ledger = ledger_amount(gathering);
        result = name_jobs(gathering, &source, err);
    }
    db_close(db);
    if (!result && gathering->too_large)
        return fail(err, ERROR_DATA, "a job's usage exceeds the range of fairmill's integers");
    return result;
}

int weights_read(struct weights *weights, const struct settings *settings,
                 const struct explained *explained, struct error *err)
{
    /* The plain decay table starts at 0 and has no half-life, so all usage is included without
     * decay. */
    struct gathering gathering = {
        .accumulator = { .take = take_charge },
        .id = explained->input->tree->nodes[explained->explanation->one].id,
        .plain = decay_table_create(0, (uint64_t)explained->as_of, 0),
    };
    int result = explain_jobs_gather(&gathering, settings, explained, err);
    if (!result) {
        weights->texts = arena_create();
        weights->all_records = gathering.top_jobs.seen;
        weights->left = decay_table_usage(gathering.computation.decay, &gathering.top_jobs.left);
        weights->ledger = gathering.ledger;
        keep_jobs(weights, &gathering, explained);
        keep_days(weights, &gathering);
    }
    computation_free(&gathering.computation);
    top_jobs_free(&gathering.top_jobs);
    daily_usage_free(&gathering.days);
    decay_table_destroy(gathering.plain);
    free(gathering.below);
    for (size_t i = 0; i < TOP_JOBS_KEPT; i++)
        text_free(&gathering.job_ids[i]);
    return result;
}

/* After this number of half-lives, less than a thousandth of a day's usage remains. */
#define HALF_LIVES 10

/* The days in ascending order, and the associations whose usage is included. */
struct day_gathering {
    const struct published_cluster *cluster;
    bool *inside;                /* indexed by node: its usage is included */
    struct ledger_state *ledger; /* state of the ledger at the published time */
    uint64_t reset;              /* last reset of the cluster; 0 if there was none */
    struct day_contributor *days;
    size_t count;
};

static void find_inside(struct day_gathering *gathering, uint32_t one)
{
    const struct tree *tree = gathering->cluster->tree;
    gathering->inside = memory_zeroed(tree->count, sizeof *gathering->inside);
    for (uint32_t i = 0; i < tree->count; i++)
        gathering->inside[i] = i == one || (i && gathering->inside[tree->nodes[i].parent]);
}

/* Returns the remaining fraction of a day's usage at the published time, if it was used evenly over
 * the day.  Usage before a reset does not remain.  For usage after the reset, Simpson's rule gives
 * the mean remaining fraction.  The error of this rule is far below the printed digits if the
 * half-life is some hours or more. */
static double explain_jobs_left_of(const struct published_cluster *cluster, uint64_t first,
                                   uint64_t reset)
{
    uint64_t from = first, to = calendar_next_day(first), now = (uint64_t)cluster->as_of;
    if (to > now)
        to = now;
    if (from < reset)
        from = reset;
    if (from > to)
        return 0;
    if (to == first)
        return decay_table_left(cluster->decay, to);
    return (double)(to - from) / (double)(to - first) *
           (decay_table_left(cluster->decay, from) +
            4 * decay_table_left(cluster->decay, from + (to - from) / 2) +
            decay_table_left(cluster->decay, to)) /
           6;
}

static uint64_t explain_jobs_reset_of(const struct day_gathering *gathering, uint64_t association)
{
    uint64_t own = ledger_reset_before(gathering->ledger, association, UINT64_MAX);
    return own > gathering->reset ? own : gathering->reset;
}

/* Adds a row of daily usage.  Rows are ordered by day. */
static void explain_jobs_take_day(struct day_gathering *gathering, const struct db_value *row)
{
    const struct tree *tree = gathering->cluster->tree;
    uint32_t place = tree_place(tree, (uint64_t)row[1].integer);
    int64_t first = row[0].integer;
    if (place == NO_NODE || tree->nodes[place].id != row[1].integer || !gathering->inside[place])
        return;
    double left = explain_jobs_left_of(gathering->cluster, (uint64_t)first,
                                       explain_jobs_reset_of(gathering, tree->nodes[place].id));
    if (!(left > 0))
        return;
    if (!gathering->count || gathering->days[gathering->count - 1].first != first)
        *memory_append(&gathering->days, &gathering->count) =
            (struct day_contributor){ .first = first };
    struct day_contributor *day = &gathering->days[gathering->count - 1];
    double used = db_value_real(&row[2]);
    day->used += used;
    day->left += used * left;
}

/* Sets gathering->reset to the last reset of the whole cluster, by the settings or by the ledger.
 * Sets gathering->ledger to the state of the ledger at the published time. */
static int find_resets(struct day_gathering *gathering, struct db *results, struct error *err)
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

static int explain_jobs_by_weight(const void *a, const void *b)
{
    const struct day_contributor *one = a, *other = b;
    if (one->left < other->left || one->left > other->left)
        return one->left > other->left ? -1 : 1;
    return (one->first < other->first) - (one->first > other->first);
}

static int explain_jobs_read_days(struct day_gathering *gathering, struct db *results,
                                  struct error *err)
{
    const struct published_cluster *cluster = gathering->cluster;
    uint64_t now = (uint64_t)cluster->as_of, span = HALF_LIVES * cluster->half_life;
    const struct db_value *row,
        arguments[] = { db_text(cluster->name),
                        db_integer(span && span < now ? (int64_t)(now - span) : 0),
                        db_integer((int64_t)now) };
    struct db_rows *rows = db_query(results, sql_query_usage_day_span, arguments, 3, "iir", err);
    while (db_fetch(rows, &row, err) > 0)
        explain_jobs_take_day(gathering, row);
    return db_finish(rows);
}

int weights_of_days(struct weights *weights, const struct published *published,
                    const struct published_cluster *cluster, const struct explained *explained,
                    struct error *err)
{
    struct day_gathering gathering = { .cluster = cluster };
    uint32_t one = explained->explanation->one;
    find_inside(&gathering, one);
    int result = find_resets(&gathering, published->db, err) ||
                         explain_jobs_read_days(&gathering, published->db, err)
                     ? -1
                     : 0;
    double usage = cluster->values[one].usage_raw;
    for (size_t i = 0; i < gathering.count; i++) {
        struct day_contributor *day = &gathering.days[i];
        day->part = usage > 0 ? day->left / usage : NAN;
    }
    if (gathering.count)
        qsort(gathering.days, gathering.count, sizeof *gathering.days, explain_jobs_by_weight);
    weights->days_only = true;
    weights->all_days = gathering.count;
    for (size_t i = 0; i < gathering.count && i < CONTRIBUTORS_AT_MOST; i++)
        weights->days[weights->day_count++] = gathering.days[i];
    free(gathering.days);
    free(gathering.inside);
    ledger_state_destroy(gathering.ledger);
    return result;
}

void weights_free(struct weights *weights)
{
    if (weights->texts)
        arena_destroy(weights->texts);
}
