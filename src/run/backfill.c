/* SPDX-License-Identifier: MIT */
#include "run/backfill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compute/batch.h"
#include "compute/computation.h"
#include "results/history_rows.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/settings_rows.h"
#include "run/batches.h"
#include "run/locked_write.h"
#include "run/run.h"
#include "settings/settings.h"
#include "settings/table.h"
#include "source/source.h"
#include "sql.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/log.h"
#include "util/text.h"
#include "util/times.h"

#define DAY_S 86400

/* A cluster whose points are computed. */
struct filling {
    struct locked_writer writer; /* its settings, cluster and results are those of the points */
    struct db *source;
    bool anew; /* the existing points at these times are damaged */
    struct backfill_result *result;
};

/* ---- Times ---- */

/*
 * Returns true if a point is in the history interval of `time`.  Advances `*at`, so call it with
 * ascending times.
 */
static bool backfill_has_point(const struct times *points, size_t *at, int64_t time,
                               uint64_t duration_s)
{
    int64_t begin = duration_s ? time - time % (int64_t)duration_s : time;
    int64_t end = duration_s ? begin + (int64_t)duration_s : time + 1;
    while (*at < points->count && points->list[*at] < begin)
        ++*at;
    return *at < points->count && points->list[*at] < end;
}

/*
 * Returns true if `time` is in the ascending list.  Advances `*at`, so call it with ascending
 * times.
 */
static bool backfill_is_in(const struct times *times, size_t *at, int64_t time)
{
    while (*at < times->count && times->list[*at] < time)
        ++*at;
    return *at < times->count && times->list[*at] == time;
}

/* Adds to `wanted` the requested times that do not have a point yet.  With options->replace, also
 * adds the times of points that backfill made.  Returns -1 on error. */
static int find_times(const struct filling *filling, const struct backfill_options *options,
                      struct times *wanted, struct error *err)
{
    const struct settings *settings = filling->writer.settings;
    struct backfill_result *result = filling->result;
    struct times all = { 0 }, points = { 0 }, own = { 0 };
    size_t at = 0, own_at = 0;
    if (past_times_find(&options->times, settings, filling->source, filling->writer.cluster, &all,
                        err) ||
        history_points(filling->writer.results, filling->writer.cluster, false, &points, err) ||
        history_points(filling->writer.results, filling->writer.cluster, true, &own, err)) {
        times_free(&all);
        times_free(&points);
        times_free(&own);
        return -1;
    }
    int64_t duration_s = (int64_t)settings->history_interval_s;
    for (size_t i = 0; i < all.count; i++) {
        int64_t time = all.list[i];
        /* Each interval gets one point. */
        if (i && duration_s && all.list[i - 1] / duration_s == time / duration_s)
            continue;
        bool there = backfill_has_point(&points, &at, time, settings->history_interval_s);
        if (!there || (options->replace && backfill_is_in(&own, &own_at, time)))
            times_add(wanted, time);
        else
            result->there++;
    }
    result->first = all.count ? all.list[0] : 0;
    result->last = all.count ? all.list[all.count - 1] : 0;
    times_free(&all);
    times_free(&points);
    times_free(&own);
    return 0;
}

/* ---- One point ---- */

/* The write of one point, for locked_write(). */
struct point_to_write {
    const struct filling *filling;
    const struct computation *computation;
    bool written;
};

static int backfill_write_point(void *context, const struct publisher *publisher, struct error *err)
{
    struct point_to_write *point = context;
    const struct computation *computation = point->computation;
    const struct publication publication = { .tree = computation->tree,
                                             .values = computation->values,
                                             .names = computation->accounting->names };
    int64_t as_of = computation->record.as_of;
    int wanted = history_is_point(publisher, as_of, err);
    point->written = wanted > 0;
    if (wanted <= 0) /* a run has written it meanwhile */
        return wanted;
    if (history_keep_older(publisher, as_of, err) ||
        history_write_point(publisher, &publication, as_of, point->filling->anew, err) ||
        fairness_rows_write(publisher, computation->tree, computation->values, as_of, err))
        return -1;
    return history_write_backfill(publisher, as_of, computation->record.truncation_bound,
                                  computation->past_counts.unknown, err);
}

static void backfill_note(struct backfill_result *result, const struct computation *computation)
{
    double bound = computation->record.truncation_bound;
    uint64_t in_doubt = computation->past_counts.unknown;
    if (!result->points || isnan(bound) || bound > result->truncation_bound)
        result->truncation_bound = bound;
    if (in_doubt > result->most_in_doubt)
        result->most_in_doubt = in_doubt;
    result->points++;
}

static int backfill_take(void *context, const struct computation *computation, struct error *err)
{
    struct filling *filling = context;
    struct point_to_write point = { filling, computation, false };
    if (locked_write(&filling->writer, backfill_write_point, &point, err))
        return -1;
    if (point.written)
        backfill_note(filling->result, computation);
    log_progress(filling->writer.cluster, filling->result->points, "history points computed");
    return 0;
}

static void backfill_skip(void *context, int64_t time, const struct error *reason)
{
    const struct filling *filling = context;
    struct backfill_result *result = filling->result;
    struct text at = { 0 };
    time_add(&at, time);
    log_note("%s: no history point for %s: %s", filling->writer.cluster, at.bytes, reason->message);
    if (!result->skipped++)
        snprintf(result->why, sizeof result->why, "%s: %.*s", at.bytes, 220, reason->message);
    text_free(&at);
}

/* ---- One cluster ---- */

static int backfill_open_both(struct filling *filling, struct error *err)
{
    const struct settings *settings = filling->writer.settings;
    if (locked_writer_open(&filling->writer, err))
        return -1;
    if (!filling->source && run_open_source(&filling->source, settings, err))
        return -1;
    return run_check_apart(settings, filling->source, filling->writer.results, err);
}

static void close_both(struct filling *filling)
{
    db_close(filling->source);
    db_close(filling->writer.results);
    filling->source = filling->writer.results = NULL;
}

/*
 * Fails if the published run used another time zone.  Resets are at midnight of a time zone, so
 * points with different zones would not form one curve.
 */
static int check_zone(const struct filling *filling, struct error *err)
{
    const struct db_value *row, name = db_text(filling->writer.cluster);
    struct error ignored;
    uint64_t zone = 0;
    char *digest = NULL;
    struct db_rows *rows =
        db_query(filling->writer.results, sql_query_published_run, &name, 1, "iiittt", err);
    if (db_fetch(rows, &row, err) > 0)
        digest = db_value_text(&row[3]);
    if (db_finish(rows)) {
        free(digest);
        return -1;
    }
    char *text = digest ? settings_rows_text(filling->writer.results, digest, &ignored) : NULL;
    if (text)
        zone = settings_recorded_zone(text);
    free(digest);
    free(text);
    if (!zone || zone == filling->writer.settings->zone)
        return 0;
    return fail(err, ERROR_SETTINGS,
                "the published run used a different time zone; set TZ or [usage] time_zone to that "
                "zone, or publish in this one with `fairmill run`");
}

/* Computes and writes the points.  Both databases of `filling` must be open. */
static int backfill_fill(struct filling *filling, const struct times *times, struct error *err)
{
    struct batch batch = {
        .source = source_of(filling->writer.settings, filling->source, filling->writer.cluster),
        .times = times->list,
        .count = times->count,
        .take = backfill_take,
        .skip = backfill_skip,
        .context = filling,
    };
    if (!times->count)
        return 0;
    if (batch_records_find(filling->writer.settings, filling->writer.cluster, &batch.records, err))
        return -1;
    int result = batch_run(&batch, filling->writer.settings, &filling->source,
                           &filling->result->readings, err);
    batch_records_free(&batch.records);
    log_progress_done();
    return result;
}

static int fill_tres(struct filling *filling, const struct backfill_options *options,
                     struct error *err)
{
    const struct tres_fill_request request = { options->times.since, options->times.until,
                                               options->dry_run };
    return backfill_open_both(filling, err) ? -1
                                            : tres_fill(&filling->writer, filling->source, &request,
                                                        &filling->result->tres, err);
}

static int fill_cluster(struct filling *filling, const struct backfill_options *options,
                        struct error *err)
{
    struct times wanted = { 0 };
    int result = backfill_open_both(filling, err);
    if (!result)
        result = check_zone(filling, err);
    if (!result)
        result = find_times(filling, options, &wanted, err);
    if (!result && options->dry_run)
        filling->result->points = wanted.count;
    else if (!result)
        result = backfill_fill(filling, &wanted, err);
    times_free(&wanted);
    return result ? -1 : fill_tres(filling, options, err);
}

int backfill(const struct settings *settings, const struct backfill_options *options,
             void (*tell)(void *context, const char *cluster, const struct backfill_result *result),
             void *context, struct error *err)
{
    struct filling filling = { .writer = { .settings = settings } };
    struct cluster_names clusters = { 0 };
    if (!settings->history_days)
        return fail(
            err, ERROR_USAGE,
            "[retention] history_days is 0, so no history is kept; set it to a number of days");
    int result = backfill_open_both(&filling, err);
    if (!result)
        result = clusters_wanted(settings, filling.source, &options->clusters, options->complain,
                                 &clusters, err);
    for (size_t i = 0; !result && i < clusters.count; i++) {
        struct backfill_result made = { .truncation_bound = NAN };
        struct error reason;
        filling.writer.cluster = clusters.names[i];
        filling.result = &made;
        int failed = fill_cluster(&filling, options, &reason);
        if (failed) {
            fail_in(&reason, "cluster '%s'", filling.writer.cluster);
            options->complain(&reason);
        }
        if (!failed || made.points || made.tres.filled)
            tell(context, filling.writer.cluster, &made);
        if (failed)
            close_both(&filling);
    }
    cluster_names_free(&clusters);
    close_both(&filling);
    return result;
}

/*
 * Removes times before history_days.  Their points have been deleted, but names that were first
 * used at these times are still stored.
 */
static void drop_old(const struct settings *settings, struct times *times)
{
    int64_t oldest = clock_now() - (int64_t)settings->history_days * DAY_S;
    size_t kept = 0;
    for (size_t i = 0; i < times->count; i++)
        if (times->list[i] >= oldest)
            times->list[kept++] = times->list[i];
    times->count = kept;
}

int backfill_repair(const struct settings *settings, const char *cluster, struct error *err)
{
    struct backfill_result made = { 0 };
    struct filling filling = { .writer = { settings, cluster, NULL },
                               .anew = true,
                               .result = &made };
    struct times damaged = { 0 };
    int result = backfill_open_both(&filling, err);
    if (!result)
        result = history_damaged(filling.writer.results, cluster, &damaged, err);
    if (!result)
        drop_old(settings, &damaged);
    if (!result && damaged.count)
        result = check_zone(&filling, err);
    if (!result)
        result = backfill_fill(&filling, &damaged, err);
    times_free(&damaged);
    close_both(&filling);
    return result;
}
