/* SPDX-License-Identifier: MIT */
#include "run/backfill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "compute/computation.h"
#include "compute/replay.h"
#include "core/usage/calendar.h"
#include "core/usage/factor_past.h"
#include "core/usage/ledger.h"
#include "core/usage/usage.h"
#include "results/factor_rows.h"
#include "results/history_rows.h"
#include "results/ledger_rows.h"
#include "results/publish.h"
#include "results/rows.h"
#include "results/schema.h"
#include "results/share_rows.h"
#include "run/retry.h"
#include "run/run.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/log.h"
#include "util/text.h"

#define DAY_S 86400
/* A run that has the lock is waited for. */
#define LOCK_PAUSE_US 200000

/* A cluster whose points are made. */
struct filling {
    const struct settings *settings;
    const char *cluster;
    struct db *source, *results;
    bool anew; /* what is there of the instants is damaged */
    struct ledger *ledger;
    struct factor_past *factors;
    struct share_notes *shares;
    struct backfill_result *result;
};

/* ---- Which instants ---- */

/* The first instant from `from` on that is one of every so many seconds, or days. */
static int64_t first_instant(int64_t from, uint64_t every_s)
{
    if (every_s % DAY_S)
        return (from + (int64_t)every_s - 1) / (int64_t)every_s * (int64_t)every_s;
    uint64_t day = calendar_day((uint64_t)from);
    if ((int64_t)day < from)
        day = calendar_next_day((uint64_t)from);
    /* A day begins within 14 hours of midnight of UTC. */
    while ((day + DAY_S / 2) / DAY_S % (every_s / DAY_S))
        day = calendar_next_day(day);
    return (int64_t)day;
}

/* Whether a point is within the span of an instant; `at` goes on. */
static bool has_point(const struct instants *points, size_t *at, int64_t instant, uint64_t span_s)
{
    int64_t begin = span_s ? instant - instant % (int64_t)span_s : instant;
    int64_t end = span_s ? begin + (int64_t)span_s : instant + 1;
    while (*at < points->count && points->list[*at] < begin)
        ++*at;
    return *at < points->count && points->list[*at] < end;
}

static bool is_in(const struct instants *instants, int64_t instant)
{
    for (size_t i = 0; i < instants->count; i++)
        if (instants->list[i] == instant)
            return true;
    return false;
}

/* Where nobody says it, the first job that has ended. */
static int find_since(const struct filling *filling, const struct backfill_options *options,
                      int64_t oldest, int64_t now, int64_t *since, struct error *err)
{
    const struct source source = source_of(filling->settings, filling->source, filling->cluster);
    uint64_t first, last;
    if (options->since) {
        *since = *options->since;
    } else {
        if (db_begin(filling->source, err))
            return -1;
        int result = source.layout->read_ends(&source, 0, (uint64_t)now, &first, &last, err);
        db_rollback(filling->source);
        if (result)
            return -1;
        *since = first ? (int64_t)first : now;
    }
    if (*since < oldest)
        *since = oldest;
    return 0;
}

static int find_instants(const struct filling *filling, const struct backfill_options *options,
                         struct instants *wanted, struct error *err)
{
    const struct settings *settings = filling->settings;
    int64_t now = time(NULL), since, end = now - CLOCK_SKEW_S;
    if (options->until && *options->until < end)
        end = *options->until + 1;
    struct instants points, own;
    size_t at = 0;
    if (find_since(filling, options, now - (int64_t)settings->history_days * DAY_S, now, &since,
                   err) ||
        history_points(filling->results, filling->cluster, false, &points, err))
        return -1;
    if (history_points(filling->results, filling->cluster, true, &own, err)) {
        instants_free(&points);
        return -1;
    }
    for (int64_t instant = first_instant(since, options->every_s); instant < end;
         instant = first_instant(instant + 1, options->every_s)) {
        bool there = has_point(&points, &at, instant, settings->history_interval_s);
        struct backfill_result *result = filling->result;
        if (!there || (options->replace && is_in(&own, instant)))
            instants_add(wanted, instant);
        else
            result->there++;
        result->first = result->first ? result->first : instant;
        result->last = instant;
    }
    instants_free(&points);
    instants_free(&own);
    return 0;
}

/* ---- A point ---- */

static int lock(const struct filling *filling, struct publisher *publisher, struct error *err)
{
    int64_t deadline = deadline_of(filling->settings);
    while (publisher_lock(publisher, filling->results, filling->settings, filling->cluster, err)) {
        if (err->class != ERROR_LOCKED || clock_milliseconds() > deadline)
            return -1;
        usleep(LOCK_PAUSE_US);
    }
    return 0;
}

static int write_point(const struct filling *filling, const struct publisher *publisher,
                       const struct computation *computation, struct error *err)
{
    const struct publication publication = { .tree = computation->tree,
                                             .values = computation->values,
                                             .names = computation->accounting->names };
    int64_t as_of = computation->record.as_of;
    int wanted = history_is_point(publisher, as_of, err);
    if (wanted <= 0) /* a run was faster */
        return wanted;
    if (history_write_point(publisher, &publication, as_of, filling->anew, err))
        return -1;
    return history_write_backfill(publisher, as_of, computation->record.truncation_bound,
                                  computation->past_counts.unknown, err);
}

static void note(struct backfill_result *result, const struct computation *computation)
{
    double bound = computation->record.truncation_bound;
    uint64_t in_doubt = computation->past_counts.unknown;
    if (!result->points || isnan(bound) || bound > result->truncation_bound)
        result->truncation_bound = bound;
    if (in_doubt > result->most_in_doubt)
        result->most_in_doubt = in_doubt;
    result->points++;
}

static int take(void *context, const struct computation *computation, struct error *err)
{
    struct filling *filling = context;
    struct retry retry = { deadline_of(filling->settings), 0 };
    struct publisher publisher;
    int result;
    do {
        if (lock(filling, &publisher, err))
            return -1;
        result = db_begin(filling->results, err);
        if (!result)
            result = rows_commit(filling->results,
                                 write_point(filling, &publisher, computation, err), err);
        publisher_end(&publisher);
    } while (result && err->class == ERROR_RETRY && try_again(&retry, err));
    if (result)
        return -1;
    note(filling->result, computation);
    log_progress(filling->cluster, filling->result->points, "points of history made");
    return 0;
}

static void skip(void *context, int64_t instant, const struct error *reason)
{
    const struct filling *filling = context;
    struct backfill_result *result = filling->result;
    struct text at = { 0 };
    instant_add(&at, instant);
    log_note("%s: no point of %s: %s", filling->cluster, at.bytes, reason->message);
    if (!result->skipped++)
        snprintf(result->why, sizeof result->why, "%s: %.*s", at.bytes, 220, reason->message);
    text_free(&at);
}

/* ---- A cluster ---- */

static int open_both(struct filling *filling, struct error *err)
{
    const struct settings *settings = filling->settings;
    if (!filling->results &&
        open_results(&filling->results, settings, starting_deadline_of(settings), err))
        return -1;
    if (!filling->source && run_open_source(&filling->source, settings, err))
        return -1;
    return run_check_apart(settings, filling->source, filling->results, err);
}

static void close_both(struct filling *filling)
{
    db_close(filling->source);
    db_close(filling->results);
    filling->source = filling->results = NULL;
}

static void forget_notes(struct filling *filling)
{
    ledger_destroy(filling->ledger);
    factor_past_destroy(filling->factors);
    share_notes_free(filling->shares);
    filling->ledger = NULL;
    filling->factors = NULL;
    filling->shares = NULL;
}

/* What runs noted, and people entered. */
static int read_notes(struct filling *filling, struct error *err)
{
    forget_notes(filling);
    filling->factors = factor_past_create();
    if (ledger_read(filling->results, filling->cluster, &filling->ledger, err) ||
        factor_rows_read(filling->results, filling->cluster, filling->factors, err) ||
        share_notes_read(filling->results, filling->cluster, &filling->shares, err))
        return results_explain(filling->settings, err);
    return 0;
}

static int replay_all(struct filling *filling, const struct instants *instants, struct error *err)
{
    struct replay replay = {
        .source = source_of(filling->settings, filling->source, filling->cluster),
        .ledger = filling->ledger,
        .factors = filling->factors,
        .shares = filling->shares,
        .instants = instants->list,
        .count = instants->count,
        .take = take,
        .skip = skip,
        .context = filling,
    };
    struct retry retry = { deadline_of(filling->settings), 0 };
    for (size_t done = 0; done < instants->count;) {
        size_t before = done;
        int result = replay_some(&replay, &done, err);
        filling->result->readings++;
        if (done > before)
            retry = (struct retry){ deadline_of(filling->settings), 0 };
        if (!result)
            continue;
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&retry, err))
            return -1;
        if (gone) {
            close_both(filling);
            if (open_both(filling, err))
                return -1;
            replay.source.db = filling->source;
        }
    }
    return 0;
}

/* Make them; `filling' has both databases. */
static int fill(struct filling *filling, const struct instants *instants, struct error *err)
{
    int result = instants->count ? read_notes(filling, err) : 0;
    if (!result)
        result = replay_all(filling, instants, err);
    forget_notes(filling);
    log_progress_done();
    return result;
}

static int fill_cluster(struct filling *filling, const struct backfill_options *options,
                        struct error *err)
{
    struct instants wanted = { 0 };
    int result = open_both(filling, err);
    if (!result)
        result = find_instants(filling, options, &wanted, err);
    if (!result && options->dry_run)
        filling->result->points = wanted.count;
    else if (!result)
        result = fill(filling, &wanted, err);
    instants_free(&wanted);
    return result;
}

int backfill(const struct settings *settings, const struct backfill_options *options,
             void (*tell)(void *context, const char *cluster, const struct backfill_result *result),
             void *context, struct error *err)
{
    struct filling filling = { .settings = settings };
    struct cluster_names clusters = { 0 };
    if (!settings->history_days)
        return fail(err, ERROR_USAGE, "[retention] history_days is 0, so that no history is kept");
    int result = open_both(&filling, err);
    if (!result)
        result = clusters_wanted(settings, filling.source, &options->clusters, options->complain,
                                 &clusters, err);
    for (size_t i = 0; !result && i < clusters.count; i++) {
        struct backfill_result made = { .truncation_bound = NAN };
        struct error reason;
        filling.cluster = clusters.names[i];
        filling.result = &made;
        int failed = fill_cluster(&filling, options, &reason);
        if (failed) {
            fail_in(&reason, "cluster '%s'", filling.cluster);
            options->complain(&reason);
        }
        if (!failed || made.points)
            tell(context, filling.cluster, &made);
        if (failed)
            close_both(&filling);
    }
    cluster_names_free(&clusters);
    close_both(&filling);
    return result;
}

/* Names of points that were removed in time are still there. */
static void drop_old(const struct settings *settings, struct instants *instants)
{
    int64_t oldest = time(NULL) - (int64_t)settings->history_days * DAY_S;
    size_t kept = 0;
    for (size_t i = 0; i < instants->count; i++)
        if (instants->list[i] >= oldest)
            instants->list[kept++] = instants->list[i];
    instants->count = kept;
}

int backfill_repair(const struct settings *settings, const char *cluster, struct error *err)
{
    struct backfill_result made = { 0 };
    struct filling filling = {
        .settings = settings, .cluster = cluster, .anew = true, .result = &made
    };
    struct instants damaged = { 0 };
    int result = open_both(&filling, err);
    if (!result)
        result = history_damaged(filling.results, cluster, &damaged, err);
    if (!result)
        drop_old(settings, &damaged);
    if (!result)
        result = fill(&filling, &damaged, err);
    instants_free(&damaged);
    close_both(&filling);
    return result;
}
