/* SPDX-License-Identifier: MIT */
#include "run/batches.h"

#include <time.h>

#include "compute/batch.h"
#include "core/usage/usage.h"
#include "results/history_rows.h"
#include "results/schema.h"
#include "run/retry.h"
#include "run/run.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/calendar.h"
#include "util/clock.h"
#include "util/error.h"

int batch_run(struct batch *batch, const struct settings *settings, struct db **source,
              size_t *readings, struct error *err)
{
    struct retry retry = { deadline_of(settings), 0 };
    *readings = 0;
    for (size_t done = 0; done < batch->count;) {
        size_t before = done;
        int result = batch_compute_some(batch, &done, err);
        ++*readings;
        if (done > before)
            retry = (struct retry){ deadline_of(settings), 0 };
        if (!result)
            continue;
        bool gone = err->class == ERROR_GONE;
        if (!try_again(&retry, err))
            return -1;
        if (gone) {
            db_close(*source);
            *source = NULL;
            if (run_open_source(source, settings, err))
                return -1;
            batch->source.db = *source;
        }
    }
    return 0;
}

int batch_records_find(const struct settings *settings, const char *cluster,
                       struct batch_records *records, struct error *err)
{
    struct db *results;
    *records = (struct batch_records){ 0 };
    if (results_open(&results, settings, DB_READER, err))
        return err->class == ERROR_MISSING ? 0 : -1;
    int result = db_begin(results, err) ? -1 : batch_records_read(results, cluster, records, err);
    db_rollback(results);
    db_close(results);
    return result ? results_explain(settings, err) : 0;
}

#define DAY_S 86400

/* Returns the number of days between 1970-01-01 and the local date of `time`. */
static uint64_t batches_date_of(uint64_t time)
{
    struct tm date;
    time_t at = (time_t)time;
    localtime_r(&at, &date);
    return (uint64_t)((int64_t)time + date.tm_gmtoff) / DAY_S;
}

/*
 * Returns the first multiple of `every_s` at or after `from`.  If `every_s` is a whole number of
 * days, returns a midnight, and days are counted from 1970-01-01.
 */
static int64_t first_time(int64_t from, uint64_t every_s)
{
    if (every_s % DAY_S)
        return (from + (int64_t)every_s - 1) / (int64_t)every_s * (int64_t)every_s;
    uint64_t day = calendar_day((uint64_t)from);
    if ((int64_t)day < from)
        day = calendar_next_day((uint64_t)from);
    while (batches_date_of(day) % (every_s / DAY_S))
        day = calendar_next_day(day);
    return (int64_t)day;
}

/* Sets `*first_end` to the oldest end of a job, or to `now` if no job has ended. */
static int find_first_end(const struct settings *settings, struct db *db, const char *cluster,
                          int64_t now, int64_t *first_end, struct error *err)
{
    const struct source source = source_of(settings, db, cluster);
    uint64_t first, last;
    if (db_begin(db, err))
        return -1;
    int result = source.layout->read_ends(&source, 0, (uint64_t)now, &first, &last, err);
    db_rollback(db);
    *first_end = !result && first ? (int64_t)first : now;
    return result;
}

int past_times_find(const struct past_times_request *asked, const struct settings *settings,
                    struct db *source, const char *cluster, struct times *times, struct error *err)
{
    int64_t now = clock_now(), end = now - CLOCK_SKEW_S, since;
    int64_t oldest = now - (int64_t)settings->history_days * DAY_S;
    if (asked->until && *asked->until < end)
        end = *asked->until + 1;
    if (asked->since)
        since = *asked->since;
    else if (find_first_end(settings, source, cluster, now, &since, err))
        return -1;
    if (asked->since && asked->any_age)
        oldest = since;
    for (int64_t at = first_time(since < oldest ? oldest : since, asked->every_s); at < end;
         at = first_time(at + 1, asked->every_s))
        times_add(times, at);
    return 0;
}
