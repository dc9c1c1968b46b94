/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/day_store.h"
#include "results/days.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_days.h"
#include "results/stored_state.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/memory.h"

/*
 * Writes the daily usage; see day_rows_write() in publication.h.
 *
 * A row of fairmill_usage_day is the sum over all jobs of a day.  A run that reads all jobs
 * computes each row from scratch.  An incremental run reads few jobs.  Here a job is called open if
 * it is not in the checkpoint.  The incremental run changes each stored row in three steps.  First,
 * it adds the usage of jobs that have entered the checkpoint since the previous run.  Second, it
 * subtracts the usage of open jobs that the previous run had added; runs store that usage in
 * fairmill_usage_open for this purpose.  Third, it adds the current usage of open jobs.
 *
 * Rows are verified against their hashes before they are changed, and unchanged days are verified
 * in turn.  If a row does not match, an incremental run fails with ERROR_DAMAGED, and the caller
 * reads all jobs.  Days become final when their jobs are purged.  Final days are never changed, and
 * a mismatch is only reported.
 */

struct day_writer {
    struct day_store store;
    struct usage_span span;
    size_t first;   /* index of the first day that may change */
    bool *has_open; /* for each day: fairmill_usage_open has rows or a hash of the day */
    /* fairmill_usage_open has rows with times that are not the start of a day */
    bool has_other_days;
};

/*
 * Reads the span.  If the span is damaged, an incremental run fails, and a full run starts with an
 * empty span.  Job rows may have been purged in the meantime, so the full run then recomputes only
 * days after the earliest end time of a job.
 */
static int read_span(struct day_writer *writer, struct error *err)
{
    bool known, intact;
    if (usage_span_read(writer->store.db, writer->store.name, &writer->span, &known, &intact, err))
        return -1;
    writer->store.nothing_known = !known;
    if (intact)
        return 0;
    if (!writer->store.days->anew)
        return fail(err, ERROR_DAMAGED, "the row of %s does not match its stored hash",
                    usage_span_table);
    if (known) {
        writer->store.days->repairs.rows++;
        writer->span = (struct usage_span){ 0 };
    }
    return 0;
}

/*
 * Finds the first day that may change.  If the oldest jobs of an earlier run are missing, they were
 * purged.  The days up to the earliest end time of the remaining jobs cannot be summed again, so
 * they are not changed.
 */
static void find_first(struct day_writer *writer)
{
    const struct days *days = writer->store.days;
    struct usage_span *span = &writer->span;
    uint64_t today = calendar_day(days->now), final_to = span->final_to;
    if (days->oldest_end > span->oldest_end) {
        uint64_t left =
            days->oldest_end == UINT64_MAX ? today : calendar_next_day(days->oldest_end);
        left = left < today ? left : today;
        final_to = left > final_to ? left : final_to;
    }
    if (days->border)
        final_to = days->border;
    /*
     * Without any ended job, the job table may be in the middle of a restore from a dump.  In that
     * case, keep the span, so that no day becomes final by mistake.
     */
    if (days->oldest_end != UINT64_MAX || span->oldest_end == UINT64_MAX)
        *span = (struct usage_span){ span->as_of, days->oldest_end, final_to };
    writer->first = 0;
    while (writer->first < days->count && days->starts[writer->first] < final_to)
        writer->first++;
    /*
     * The day that begins at the border need not be a whole day.  It becomes final, because later
     * runs sum only whole days.
     */
    if (days->border && days->count)
        span->final_to = days->starts[1];
}

/*
 * Skips the days before the first day with usage, in the job rows or in fairmill_usage_day.  The
 * oldest stored day may have begun in a different time zone, so its start may be between the starts
 * of two days.
 */
static int skip_empty(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->store.days;
    size_t used = days->earliest;
    int64_t oldest;
    int found = rows_read_integer(writer->store.db, sql_query_usage_day_oldest,
                                  &writer->store.cluster, 1, &oldest, err);
    if (found < 0)
        return -1;
    while (found && used > 0 && (used == days->count || days->starts[used] > (uint64_t)oldest))
        used--;
    if (used > writer->first)
        writer->first = used;
    return 0;
}

/*
 * Finds the days with rows or hashes in fairmill_usage_open.  If a row does not begin at the start
 * of a day, an incremental run fails, because the time zone cannot have changed.  A run that reads
 * all jobs removes such rows.
 */
static int find_open(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->store.days;
    const struct db_value *row;
    bool strange = false;
    struct db_rows *rows =
        db_query(writer->store.db, sql_query_usage_open_days, &writer->store.cluster, 1, "i", err);
    while (db_fetch(rows, &row, err) > 0) {
        uint64_t start = rows_bits_of(&row[0]);
        size_t day = days_find(days, start);
        if (day < days->count)
            writer->has_open[day] = true;
        else
            writer->has_other_days = true;
        strange |= day == days->count && day && start > days->starts[0];
    }
    for (size_t i = 0; i < writer->store.open.count; i++) {
        size_t day = days_find(days, (uint64_t)writer->store.open.parts[i].part);
        if (day < days->count)
            writer->has_open[day] = true;
    }
    if (db_finish(rows))
        return -1;
    return strange && !days->anew
               ? fail(err, ERROR_DAMAGED, "rows of %s do not begin at the start of a day",
                      day_open_table.name)
               : 0;
}

/*
 * Removes rows of fairmill_usage_open for days that this run does not change.  Removes all rows if
 * the next run cannot continue from them, or if some rows do not begin at the start of a day.
 */
static int remove_open(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->store.days;
    bool has_day = writer->first < days->count;
    int64_t last = INT64_MAX;
    if (days->anew && (writer->has_other_days || !days->unsealed_is_kept))
        memset(writer->has_open, 0, days->count * sizeof *writer->has_open);
    else if (has_day)
        last = day_part(&writer->store, writer->first) - 1;
    return day_store_remove(&writer->store, &day_open_table, sql_query_usage_open_between,
                            INT64_MIN, last, err);
}

/*
 * Removes rows that do not begin at the start of a day.  Such rows exist if the time zone has
 * changed, or if the clock was set back.
 */
static int remove_other_days(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->store.days;
    for (size_t i = writer->first; days->anew && i < days->count; i++) {
        int64_t last = i + 1 < days->count ? day_part(&writer->store, i + 1) - 1 : INT64_MAX;
        if (day_store_remove(&writer->store, &day_usage_table, sql_query_usage_day_between,
                             day_part(&writer->store, i) + 1, last, err))
            return -1;
    }
    return 0;
}

/*
 * Removes the hashes of days that no longer have rows, for example because another program deleted
 * them.
 */
static int forget_removed(struct day_writer *writer, const struct day_table *table,
                          const struct hash_segments *parts, struct error *err)
{
    const struct days *days = writer->store.days;
    for (size_t i = 0; i < parts->count; i++) {
        int64_t day = parts->parts[i].part;
        bool ours = days_find(days, (uint64_t)day) < days->count;
        bool earlier = !days->count || day < (int64_t)days->starts[writer->first];
        if (!ours && (table == &day_open_table || !earlier) &&
            day_store_forget(&writer->store, table, day, err))
            return -1;
    }
    return 0;
}

static int day_rows_add_all(struct day_writer *writer, struct day_sums *into, struct day_list list,
                            bool negative, struct error *err)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct day_sum *each = day_list_at(&list, i);
        if (!day_sums_add_row(into, each->day, each, negative)) {
            day_beyond_range(each->id, err);
            return day_store_give_up(&writer->store);
        }
    }
    return 0;
}

/* Returns true if the rows of a day are verified although they do not change. */
static bool is_checked(const struct days *days, uint64_t start)
{
    return days->check_all || start >= days->check_all_from ||
           (start >= days->check_from && start < days->check_to);
}

/*
 * Writes a day of fairmill_usage_day.  `wanted` are all sums of the day if the run read all jobs,
 * else the sums to add to the stored sums.
 */
static int day_rows_write_usage(struct day_writer *writer, uint32_t day, struct day_sums *wanted,
                                struct error *err)
{
    const struct kept_tres *kept = writer->store.days->kept;
    bool anew = writer->store.days->anew, changes = false;
    struct day_list list = day_sums_sorted(wanted);
    struct row_hash known = hash_segments_find(&writer->store.usage, day_part(&writer->store, day));
    struct row_hash new = day_list_kept(&list, kept);
    for (size_t i = 0; i < list.count; i++)
        changes |= !day_sum_is_zero(day_list_at(&list, i), kept->count);
    if (anew ? row_hash_same(&known, &new) : !changes) {
        struct stored_day same = { .intact = true };
        if (is_checked(writer->store.days, writer->store.days->starts[day]) &&
            day_store_read(&writer->store, &day_usage_table, day, &same, err))
            return -1;
        if (same.intact)
            return 0;
    }
    struct stored_day stored = { .sums = day_sums_create(kept->count) };
    int result = day_store_read(&writer->store, &day_usage_table, day, &stored, err);
    if (!result && !anew)
        result = day_rows_add_all(writer, wanted, day_sums_sorted(stored.sums), false, err);
    if (!result) {
        list = day_sums_sorted(wanted);
        day_store_note_repair(&writer->store, &day_usage_table, &stored, list);
        result = day_store_write(&writer->store, &day_usage_table, day, &stored, list, err) ||
                         day_store_keep(&writer->store, &day_usage_table, day, &list, err)
                     ? -1
                     : 0;
    }
    day_sums_destroy(stored.sums);
    return result;
}

/*
 * Adds the current usage of open jobs to `wanted`, and subtracts the usage that the previous run
 * had added for open jobs.  Stores the current usage in fairmill_usage_open.
 */
static int write_open(struct day_writer *writer, uint32_t day, struct day_sums *wanted,
                      struct error *err)
{
    struct days *days = writer->store.days;
    struct stored_day old = { .sums = day_sums_create(days->kept->count),
                              .intact = true,
                              .readable = true };
    struct day_sums *open = day_sums_create(days->kept->count);
    int result = 0;
    if (writer->has_open[day])
        result = day_store_read(&writer->store, &day_open_table, day, &old, err);
    if (!result && days_take(days, days->open, day, open, err))
        result = day_store_give_up(&writer->store);
    struct day_list new = day_sums_sorted(open);
    if (!result)
        result = day_rows_add_all(writer, wanted, new, false, err);
    if (!result && !days->anew)
        result = day_rows_add_all(writer, wanted, day_sums_sorted(old.sums), true, err);
    /*
     * The day in which the time zone changed is final from now on, because it is not a whole day in
     * the new time zone.  No later run subtracts its open usage.
     */
    if (days->starts[day] < writer->span.final_to)
        new = (struct day_list){ 0 };
    if (!result && days->unsealed_is_kept) {
        day_store_note_repair(&writer->store, &day_open_table, &old, new);
        result = day_store_write(&writer->store, &day_open_table, day, &old, new, err) ||
                         day_store_keep(&writer->store, &day_open_table, day, &new, err)
                     ? -1
                     : 0;
    }
    day_sums_destroy(old.sums);
    day_sums_destroy(open);
    return result;
}

static int write_day(struct day_writer *writer, uint32_t day, struct error *err)
{
    struct days *days = writer->store.days;
    struct day_sums *wanted = day_sums_create(days->kept->count);
    int result = days_take(days, days->checkpointed, day, wanted, err)
                     ? day_store_give_up(&writer->store)
                     : 0;
    if (!result)
        result = write_open(writer, day, wanted, err);
    if (!result)
        result = day_rows_write_usage(writer, day, wanted, err);
    day_sums_destroy(wanted);
    return result;
}

/* Verifies a final day.  Reports a mismatch once, then stores the hash of the rows as they are. */
static int check_final(struct day_writer *writer, uint64_t start, struct error *err)
{
    struct stored_day stored = { .start = (int64_t)start };
    struct hash_segment part = { stored.start, { 0 } };
    struct row_hash known = hash_segments_find(&writer->store.usage, part.part);
    if (!is_checked(writer->store.days, start))
        return 0;
    int result = day_store_read_rows(&writer->store, &day_usage_table, &stored, &part.stored, err);
    if (result && err->class != ERROR_DATA)
        return -1;
    if (!result && row_hash_same(&known, &part.stored))
        return 0;
    if (!writer->store.nothing_known && !writer->store.days->repairs.lost++)
        writer->store.days->repairs.first_lost = start;
    return stored_write(writer->store.db, writer->store.name, day_usage_table.name, &part, err);
}

/*
 * Verifies the days that this run does not sum.  The jobs of these days were purged, or the run
 * does not read them because of the usage window or a reset.
 */
static int check_all_final(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->store.days;
    for (size_t i = 0; i < writer->store.usage.count; i++) {
        uint64_t start = (uint64_t)writer->store.usage.parts[i].part;
        if (start < days->starts[0] && check_final(writer, start, err))
            return -1;
    }
    for (size_t day = 0; day < writer->first; day++)
        if (check_final(writer, days->starts[day], err))
            return -1;
    return 0;
}

/*
 * Chooses the days to verify from the time that has passed since the last run.  Does nothing if a
 * checkpoint is used, because the caller has then chosen the days.
 */
static void choose_days(struct days *days, uint64_t last)
{
    uint64_t low = days->starts[0], reach = days->now - low, round_s = days->round_s;
    if (!days->in_turn || days->now < low || days->now < last)
        return;
    if (days->now - last >= round_s) {
        days->check_all = true;
        return;
    }
    uint64_t from = low + (uint64_t)((uint128)reach * (last % round_s) / round_s);
    days->check_from = from;
    days->check_to = low + (uint64_t)((uint128)reach * (days->now % round_s) / round_s);
    if (days->check_to < from) {
        days->check_from = low;
        days->check_all_from = from;
    }
}

static int day_rows_write_days(struct day_writer *writer, const struct publisher *publisher,
                               struct error *err)
{
    struct days *days = writer->store.days;
    choose_days(days, writer->span.as_of);
    find_first(writer);
    const uint64_t first = days->starts[writer->first];
    if (check_all_final(writer, err))
        return -1;
    if ((days->anew && skip_empty(writer, err)) || find_open(writer, err) ||
        remove_open(writer, err) || remove_other_days(writer, err))
        return -1;
    day_spool_rewind(days->checkpointed);
    day_spool_rewind(days->open);
    for (size_t day = writer->first; day < days->count; day++)
        if (write_day(writer, (uint32_t)day, err))
            return -1;
    if (days->anew && (forget_removed(writer, &day_open_table, &writer->store.open, err) ||
                       forget_removed(writer, &day_usage_table, &writer->store.usage, err)))
        return -1;
    const struct usage_span span = { days->now, writer->span.oldest_end, writer->span.final_to };
    return usage_span_write(writer->store.db, writer->store.name, &span, err) ||
                   wait_rows_write(publisher, days, first, err)
               ? -1
               : 0;
}

int day_rows_write(const struct publisher *publisher, struct days *days, struct error *err)
{
    struct day_writer writer = { .store = { .db = publisher->db,
                                            .name = publisher->cluster,
                                            .cluster = db_text(publisher->cluster),
                                            .days = days } };
    days->repairs = (struct day_repairs){ 0 };
    if (read_span(&writer, err))
        return -1;
    if (days->may_look_back && days->now < writer.span.as_of)
        return 0;
    days->behind = !days->anew && writer.span.as_of != days->goes_on_from;
    if (days->behind && days->may_wait)
        return 0;
    if (days->behind)
        return fail(err, ERROR_DAMAGED,
                    "the usage of days and the checkpoint are from different runs");
    writer.has_open = memory_zeroed(days->count, sizeof *writer.has_open);
    int result = stored_read(writer.store.db, publisher->cluster, day_usage_table.name,
                             &writer.store.usage, err) ||
                         stored_read(writer.store.db, publisher->cluster, day_open_table.name,
                                     &writer.store.open, err) ||
                         day_rows_write_days(&writer, publisher, err)
                     ? -1
                     : 0;
    hash_segments_free(&writer.store.usage);
    hash_segments_free(&writer.store.open);
    free(writer.has_open);
    return result;
}
