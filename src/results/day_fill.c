/* SPDX-License-Identifier: MIT */
#include "results/day_fill.h"

#include <stdlib.h>

#include "results/day_store.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_days.h"
#include "results/tres_names.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/memory.h"

/* The longest day, in seconds. */
#define LONGEST_DAY_S 90000

/*
 * Returns the end of a stored day.  A day that does not begin at midnight began in another time
 * zone, or when the time zone changed.
 */
static uint64_t stored_day_end(uint64_t start, uint64_t next_stored)
{
    uint64_t midnight = calendar_next_day(start);
    if (calendar_day(start) == start)
        return next_stored < midnight ? next_stored : midnight;
    return next_stored - start <= LONGEST_DAY_S ? next_stored : start + 86400;
}

/*
 * Sets `*end` to the time before which no run computes a day: the days are final, or runs no longer
 * read their jobs.  A run also computes the day before a reset.
 */
static int find_end(struct db *db, const char *cluster, const struct usage_span *span,
                    uint64_t *end, struct error *err)
{
    const struct db_value name = db_text(cluster);
    int64_t cutoff = 0;
    *end = span->final_to;
    if (rows_read_integer(db, sql_query_usage_cutoff, &name, 1, &cutoff, err) < 0)
        return -1;
    uint64_t today = cutoff > 0 ? calendar_day((uint64_t)cutoff) : 0;
    uint64_t unread_to = today ? calendar_day(today - 1) : 0;
    if (unread_to > *end)
        *end = unread_to;
    return 0;
}

/* The starts of the stored days that have amounts, in ascending order. */
struct start_list {
    int64_t *starts;
    size_t count, next;
};

static int read_with_tres(struct db *db, const char *cluster, int64_t since, int64_t until,
                          struct start_list *list, struct error *err)
{
    const struct db_value arguments[] = { db_text(cluster), db_integer(since), db_integer(until) };
    const struct db_value *row;
    struct db_rows *rows = db_query(db, sql_query_usage_day_with_tres, arguments, 3, "i", err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&list->starts, &list->count) = row[0].integer;
    return db_finish(rows);
}

static void day_fill_add_days(struct day_fill *fill, const struct stored_days *stored,
                              int64_t since, uint64_t end, struct start_list *with_tres)
{
    struct days *days = &fill->days;
    const struct hash_segment *parts = stored->days.parts;
    days->starts = memory_zeroed(stored->days.count, sizeof *days->starts);
    fill->ends = memory_zeroed(stored->days.count, sizeof *fill->ends);
    for (size_t i = 0; i < stored->days.count && (uint64_t)parts[i].part < end; i++) {
        while (with_tres->next < with_tres->count &&
               with_tres->starts[with_tres->next] < parts[i].part)
            with_tres->next++;
        bool has_tres = with_tres->next < with_tres->count &&
                        with_tres->starts[with_tres->next] == parts[i].part;
        if (has_tres || parts[i].part < since)
            continue;
        uint64_t start = (uint64_t)parts[i].part;
        uint64_t next = i + 1 < stored->days.count ? (uint64_t)parts[i + 1].part : UINT64_MAX;
        fill->ends[days->count] = stored_day_end(start, next);
        days->starts[days->count++] = start;
    }
}

int day_fill_find(struct db *db, const char *cluster, int64_t since, int64_t until,
                  struct day_fill *fill, struct error *err)
{
    struct stored_days stored;
    struct start_list with_tres = { 0 };
    uint64_t end = 0;
    *fill = (struct day_fill){
        .days = { .kept = &fill->kept, .used_numbers = KEPT_TRES_LIMIT, .anew = true }
    };
    if (tres_names_read(db, cluster, &fill->numbers, err))
        return -1;
    for (unsigned i = 0; i < KEPT_TRES_LIMIT; i++)
        if (fill->numbers.names[i])
            fill->kept.tres[fill->kept.count++] =
                (struct kept_tres_one){ 0, i + 1, fill->numbers.names[i] };
    int result = stored_days_read(db, cluster, &stored, err) ||
                         find_end(db, cluster, &stored.span, &end, err) ||
                         read_with_tres(db, cluster, since, until, &with_tres, err)
                     ? -1
                     : 0;
    if (!result && fill->kept.count)
        day_fill_add_days(fill, &stored, since,
                          until < INT64_MAX && (uint64_t)until < end ? (uint64_t)until + 1 : end,
                          &with_tres);
    free(with_tres.starts);
    stored_days_free(&stored);
    return result;
}

void day_fill_free(struct day_fill *fill)
{
    tres_numbers_free(&fill->numbers);
    free(fill->days.starts);
    free(fill->ends);
}

static bool has_amounts(const struct day_list *list)
{
    uint64_t any = 0;
    for (size_t i = 0; i < list->count; i++)
        for (size_t t = 0; t < list->tres; t++)
            any |= day_list_at(list, i)->tres[t];
    return any;
}

static int add_all(struct day_sums *into, uint32_t day, const struct day_list *list,
                   struct error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (!day_sums_add_row(into, day, day_list_at(list, i), false))
            return day_beyond_range(day_list_at(list, i)->id, err);
    return 0;
}

static int merge_and_write(struct day_store *store, const struct stored_day *stored,
                           const struct day_list *amounts, struct error *err)
{
    struct day_list list = day_sums_sorted(stored->sums);
    struct day_sums *all = day_sums_create(list.tres);
    int result = add_all(all, stored->day, &list, err) || add_all(all, stored->day, amounts, err);
    list = day_sums_sorted(all);
    if (!result)
        result = day_store_write(store, &day_usage_table, stored->day, stored, list, err) ||
                 day_store_keep(store, &day_usage_table, stored->day, &list, err);
    day_sums_destroy(all);
    return result ? -1 : 0;
}

int day_fill_write(const struct publisher *publisher, struct day_fill *fill, size_t day,
                   const struct day_list *amounts, bool *written, struct error *err)
{
    struct day_store store = { .db = publisher->db,
                               .name = publisher->cluster,
                               .cluster = db_text(publisher->cluster),
                               .days = &fill->days };
    struct stored_day stored = { .sums = day_sums_create(fill->kept.count) };
    int result = stored_read(store.db, store.name, day_usage_table.name, &store.usage, err);
    if (!result)
        result = day_store_read(&store, &day_usage_table, (uint32_t)day, &stored, err);
    const struct day_list list = day_sums_sorted(stored.sums);
    *written = !result && stored.intact && !stored.has_other_tres && !has_amounts(&list);
    if (*written)
        result = merge_and_write(&store, &stored, amounts, err);
    hash_segments_free(&store.usage);
    day_sums_destroy(stored.sums);
    return result;
}
