/* SPDX-License-Identifier: MIT */
#include "run/backfill_tres.h"

#include "results/day_fill.h"
#include "run/locked_write.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/clock.h"
#include "util/error.h"

/* The days to fill, and the amounts that were read for them. */
struct tres_filling {
    struct day_fill fill;
    struct day_spool *spool;
    uint64_t from, until; /* the time that the sums of the source cover */
    size_t tres;          /* index of the TRES that is read */
    bool hourly;          /* read hourly sums */
    bool other_zone;      /* a daily sum does not begin with a stored day */
};

/* Returns the part of a sum before `time`, rounded down.  The sum is spread evenly over its time.
 */
static uint64_t part_before(const struct sum_row *row, uint64_t time)
{
    uint64_t end = time < row->to ? time : row->to;
    return end <= row->from
               ? 0
               : (uint64_t)((uint128)row->tres_seconds * (end - row->from) / (row->to - row->from));
}

static int tres_filling_add(struct tres_filling *filling, const struct sum_row *row,
                            struct error *err)
{
    const struct days *days = &filling->fill.days;
    for (size_t i = days_search(days, row->from); i < days->count; i++) {
        uint64_t start = days->starts[i], end = filling->fill.ends[i];
        if (start >= row->to)
            break;
        uint64_t amount = part_before(row, end) - part_before(row, start);
        if (amount && start >= filling->from && end <= filling->until &&
            day_spool_add_tres(filling->spool, (uint32_t)i, row->association, filling->tres, amount,
                               err))
            return -1;
    }
    return 0;
}

static int tres_filling_take(void *context, const struct sum_row *row, struct error *err)
{
    struct tres_filling *filling = context;
    const struct days *days = &filling->fill.days;
    struct sum_row sum = *row;
    if (filling->other_zone || sum.to <= sum.from ||
        sum.tres_seconds / (sum.to - sum.from) >= DAY_TRES_COUNT_LIMIT)
        return 0;
    if (!filling->hourly) {
        size_t day = days_search(days, sum.from);
        if (days->starts[day] < sum.from && sum.from < filling->fill.ends[day]) {
            filling->other_zone = true;
            return 0;
        }
        if (days->starts[day] == sum.from)
            sum.to = filling->fill.ends[day];
    }
    return tres_filling_add(filling, &sum, err);
}

/* Reads the sums of each TRES.  A TRES that the source no longer has is skipped. */
static int read_all(struct tres_filling *filling, const struct source *source, struct error *err)
{
    const struct day_fill *fill = &filling->fill;
    struct sum_range range = { .from = fill->days.starts[0],
                               .until = fill->ends[fill->days.count - 1],
                               .hourly = filling->hourly };
    if (range.hourly && range.from >= 3600)
        range.from -= 3600; /* an hour may begin before its day, if zones differ by half an hour */
    for (size_t t = 0; t < fill->kept.count && !filling->other_zone; t++) {
        range.tres = fill->kept.tres[t].name;
        filling->tres = t;
        if (source->layout->past->read_sums(source, &range, tres_filling_take, filling, err) &&
            err->class != ERROR_USAGE)
            return -1;
    }
    return 0;
}

static int read_days(struct tres_filling *filling, const struct source *source, struct error *err)
{
    size_t tres = filling->fill.kept.count;
    if (source->layout->past->rollup_reach(source, (uint64_t)clock_now(), false, &filling->from,
                                           &filling->until, err))
        return -1;
    if (!filling->until)
        return 0;
    if (read_all(filling, source, err))
        return -1;
    if (!filling->other_zone)
        return 0;
    day_spool_destroy(filling->spool);
    filling->spool = day_spool_create(tres);
    filling->other_zone = false;
    filling->hourly = true;
    return read_all(filling, source, err);
}

/* The write of one day, for locked_write(). */
struct day_to_write {
    struct day_fill *fill;
    size_t day;
    struct day_list amounts;
    bool written;
};

static int write_filled_day(void *context, const struct publisher *publisher, struct error *err)
{
    struct day_to_write *write = context;
    return day_fill_write(publisher, write->fill, write->day, &write->amounts, &write->written,
                          err);
}

static int fill_day(struct tres_filling *filling, size_t day, struct locked_writer *writer,
                    const struct tres_fill_request *request, struct tres_fill_result *result,
                    struct error *err)
{
    struct day_sums *amounts = day_sums_create(filling->fill.kept.count);
    int failed = day_spool_take(filling->spool, (uint32_t)day, 0, amounts, err);
    struct day_to_write write = { &filling->fill, day, day_sums_sorted(amounts), request->dry_run };
    if (!failed && write.amounts.count) {
        if (!request->dry_run)
            failed = locked_write(writer, write_filled_day, &write, err);
        result->filled += !failed && write.written;
    }
    day_sums_destroy(amounts);
    return failed ? -1 : 0;
}

int tres_fill(struct locked_writer *writer, struct db *db, const struct tres_fill_request *request,
              struct tres_fill_result *result, struct error *err)
{
    const struct source source = source_of(writer->settings, db, writer->cluster);
    int64_t since = request->since ? *request->since : 0;
    int64_t until = request->until ? *request->until : INT64_MAX;
    struct tres_filling filling = { 0 };
    *result = (struct tres_fill_result){ 0 };
    if (!source.layout->past)
        return 0;
    int failed = day_fill_find(writer->results, writer->cluster, since, until, &filling.fill, err);
    result->missing = filling.fill.days.count;
    filling.spool = day_spool_create(filling.fill.kept.count);
    if (!failed && result->missing) {
        failed = db_begin(db, err) || read_days(&filling, &source, err);
        db_rollback(db);
    }
    for (size_t day = 0; !failed && day < result->missing; day++)
        failed = fill_day(&filling, day, writer, request, result, err);
    day_spool_destroy(filling.spool);
    day_fill_free(&filling.fill);
    return failed ? -1 : 0;
}
