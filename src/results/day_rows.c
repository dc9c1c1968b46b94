/* SPDX-License-Identifier: MIT */
#include "results/publication.h"

#include <stdlib.h>
#include <string.h>

#include "core/usage/calendar.h"
#include "core/usage/clock.h"
#include "results/day_hashes.h"
#include "results/day_spool.h"
#include "results/days.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"

/* A table with sums by day and association. */
struct day_table {
    const char *name;
    const char *remove, *clear; /* some rows of a day, all of them */
    bool has_usage;             /* as a number of TRES-seconds */
};
static const struct day_table usage_table = {
    "fairmill_usage_day",
    sql_query_usage_day_remove,
    sql_query_usage_day_clear,
    true,
};
static const struct day_table open_table = {
    "fairmill_usage_open",
    sql_query_usage_open_remove,
    sql_query_usage_open_clear,
    false,
};

/* Sums of one day by id, which hold until sums are added, and the first that next_pair() has not
 * returned yet. */
struct day_list {
    const struct day_sum *rows;
    size_t count, next;
};

static struct day_list list_of(struct day_sums *sums)
{
    struct day_list list = { 0 };
    list.rows = day_sums_sorted(sums, &list.count);
    return list;
}

/* The next pair of sums with the same id; either may be NULL.  False at the end. */
static bool next_pair(struct day_list *old, struct day_list *new, const struct day_sum **one,
                      const struct day_sum **other)
{
    *one = old->next < old->count ? &old->rows[old->next] : NULL;
    *other = new->next < new->count ? &new->rows[new->next] : NULL;
    if (*one && *other && (*one)->id < (*other)->id)
        *other = NULL;
    else if (*one && *other && (*one)->id > (*other)->id)
        *one = NULL;
    old->next += *one != NULL;
    new->next += *other != NULL;
    return *one || *other;
}

static bool is_same(const struct day_sum *one, const struct day_sum *other)
{
    if (!one || !other)
        return false;
    struct wide difference = one->sum;
    return wide_subtract(&difference, &other->sum) && wide_is_zero(&difference);
}

/* Whether so few rows stay as they are, as on days with jobs that run, that it is cheaper to write
 * all of them again. */
static bool most_differ(struct day_list old, struct day_list new)
{
    const struct day_sum *one, *other;
    size_t same = 0, count = old.count;
    while (next_pair(&old, &new, &one, &other))
        same += is_same(one, other);
    return count && same < count / 4;
}

/* A cluster's row of fairmill_usage_span. */
struct span {
    uint64_t as_of;      /* of the run that wrote the days; 0: none did */
    uint64_t oldest_end; /* of all job rows then; UINT64_MAX: none had ended */
    uint64_t final_to;   /* days before it are not changed any more: their jobs were purged */
};

struct day_writer {
    struct db *db;
    struct db_value cluster;
    struct days *days;
    struct span span;
    struct day_hashes *hashes;
    size_t first;        /* the first day that may change */
    bool *has_open;      /* by day: fairmill_usage_open has rows of it */
    bool has_other_days; /* and rows of days that are none of ours */
};

static struct db_value day_value(const struct day_writer *writer, size_t day)
{
    return rows_bits(writer->days->starts[day]);
}

/* Three words in two's complement. */
static struct wide sum_of(const struct db_value *words)
{
    uint64_t high = rows_bits_of(&words[0]);
    return (struct wide){ { rows_bits_of(&words[2]), rows_bits_of(&words[1]), high,
                            high >> 63 ? UINT64_MAX : 0 } };
}

static int read_span(struct day_writer *writer, struct error *err)
{
    const struct db_value *row;
    writer->span = (struct span){ .oldest_end = UINT64_MAX };
    struct db_rows *rows =
        db_query(writer->db, sql_query_usage_span_read, &writer->cluster, 1, "iii", err);
    if (db_fetch(rows, &row, err) > 0)
        writer->span =
            (struct span){ rows_bits_of(&row[0]), rows_bits_of(&row[1]), rows_bits_of(&row[2]) };
    return db_finish(rows);
}

static int write_span(struct day_writer *writer, struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', writer->cluster },
        { "as_of", 'i', rows_bits(writer->days->now) },
        { "oldest_end", 'i', rows_bits(writer->days->oldest_end) },
        { "final_to", 'i', rows_bits(writer->span.final_to) },
    };
    return rows_write_one(writer->db, "fairmill_usage_span", 1, row, COUNT(row), err);
}

/* Find the first day that may change.  Where the oldest jobs of an earlier run are not there any
 * more, they were purged; days up to the oldest that is left cannot be summed again, so they stay
 * as they are. */
static void find_first(struct day_writer *writer)
{
    const struct days *days = writer->days;
    struct span *span = &writer->span;
    if (days->oldest_end > span->oldest_end) {
        uint64_t final_to = days->oldest_end == UINT64_MAX ? calendar_day(days->now)
                                                           : calendar_next_day(days->oldest_end);
        if (final_to > calendar_day(days->now))
            final_to = calendar_day(days->now);
        if (final_to > span->final_to)
            span->final_to = final_to;
    }
    writer->first = 0;
    while (writer->first < days->count && days->starts[writer->first] < span->final_to)
        writer->first++;
}

/* Skip the days before the first one that has usage, read or stored.  The stored day may be one of
 * another time zone, between two of ours. */
static int skip_empty(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    size_t used = days->earliest;
    int64_t oldest;
    int found = rows_read_integer(writer->db, sql_query_usage_day_oldest, &writer->cluster, 1,
                                  &oldest, err);
    if (found < 0)
        return -1;
    while (found && used > 0 && (used == days->count || days->starts[used] > (uint64_t)oldest))
        used--;
    if (used > writer->first)
        writer->first = used;
    return 0;
}

static int damaged(struct error *err)
{
    return fail(err, ERROR_DATA, "a sum in fairmill_usage_day is beyond the range of our integers");
}

static int find_open(struct day_writer *writer, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows =
        db_query(writer->db, sql_query_usage_open_days, &writer->cluster, 1, "i", err);
    while (db_fetch(rows, &row, err) > 0) {
        size_t day = days_find(writer->days, rows_bits_of(&row[0]));
        if (day < writer->days->count)
            writer->has_open[day] = true;
        else
            writer->has_other_days = true;
    }
    return db_finish(rows);
}

/* Read what unsealed jobs added to a day when it was written last. */
static int read_open(struct day_writer *writer, uint32_t day, struct day_sums *open,
                     struct error *err)
{
    const struct db_value *row;
    struct db_value of_day[] = { writer->cluster, day_value(writer, day) };
    if (!writer->has_open[day])
        return 0;
    struct db_rows *rows =
        db_query(writer->db, sql_query_usage_open_read, of_day, COUNT(of_day), "iiii", err);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        struct wide sum = sum_of(&row[1]);
        if (!day_sums_add(open, day, rows_bits_of(&row[0]), &sum))
            result = damaged(err);
    }
    return db_finish(rows) || result ? -1 : 0;
}

/* Remove whole days, as long as a query finds one.  A DELETE of several days at once would lock the
 * row behind them, which may be another cluster's. */
static int remove_days(struct day_writer *writer, const char *find, const char *remove,
                       const struct db_value *arguments, size_t count, struct error *err)
{
    for (;;) {
        int64_t day = 0;
        int found = rows_read_integer(writer->db, find, arguments, count, &day, err);
        if (found <= 0)
            return found;
        struct db_value whole[] = { writer->cluster, db_integer(day) };
        if (db_execute(writer->db, remove, whole, COUNT(whole), NULL, err))
            return -1;
    }
}

/* Remove rows of fairmill_usage_open: those of days that stay as they are, or all of them where the
 * next run will not go on from them, or where some are of days that are none of ours. */
static int remove_open(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    bool has_day = writer->first < days->count;
    struct db_value before[] = { writer->cluster, db_integer(INT64_MAX) };
    if (days->anew && (writer->has_other_days || !days->unsealed_is_kept))
        memset(writer->has_open, 0, days->count * sizeof *writer->has_open);
    else if (has_day)
        before[1] = day_value(writer, writer->first);
    return remove_days(writer, sql_query_usage_open_before, sql_query_usage_open_clear, before, 2,
                       err);
}

/* Remove rows of days that are none of ours: the time zone has changed, or the clock went back. */
static int remove_other_days(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    for (size_t i = writer->first; days->anew && i < days->count; i++) {
        struct db_value between[] = { writer->cluster, day_value(writer, i),
                                      i + 1 < days->count ? day_value(writer, i + 1)
                                                          : db_integer(INT64_MAX) };
        if (remove_days(writer, sql_query_usage_day_between, sql_query_usage_day_clear, between, 3,
                        err))
            return -1;
    }
    return 0;
}

static int add_all(struct day_sums *into, const struct day_sum *sums, size_t count, bool negative,
                   struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct wide sum = sums[i].sum, zero = { { 0 } };
        if (negative && !wide_subtract(&zero, &sum))
            return damaged(err);
        if (!day_sums_add(into, sums[i].day, sums[i].id, negative ? &zero : &sum))
            return damaged(err);
    }
    return 0;
}

/* The sums of one day. */
struct one_day {
    struct day_sums *stored, *wanted; /* in fairmill_usage_day: as they are, as they are to be */
    struct day_sums *old_open, *open; /* in fairmill_usage_open, likewise */
};

/* Read the stored sums of a day, or only those of some ids.  A run that goes on from them needs
 * those that it adds to, and adds them. */
static int read_stored(struct day_writer *writer, uint32_t day, struct row_ids ids,
                       struct one_day *sums, struct error *err)
{
    struct db_value arguments[2 + ROW_IDS_AT_ONCE] = { writer->cluster, day_value(writer, day) };
    bool all = writer->days->anew;
    const struct db_value *row;
    struct text sql = { 0 };
    text_add(&sql, sql_query_usage_day_read);
    if (ids.count) {
        text_add(&sql, " AND \"id_assoc\"");
        rows_add_condition(&sql, arguments + 2, ids);
    }
    struct db_rows *rows = db_query(writer->db, sql.bytes, arguments, ids.count + 2, "iiii", err);
    text_free(&sql);
    int result = 0;
    while (!result && db_fetch(rows, &row, err) > 0) {
        uint64_t id = rows_bits_of(&row[0]);
        struct wide sum = sum_of(&row[1]);
        if ((all || day_sums_has(sums->wanted, day, id)) &&
            !day_sums_add(sums->stored, day, id, &sum))
            result = damaged(err);
    }
    if (db_finish(rows) || result)
        return -1;
    if (all)
        return 0;
    struct day_list list = list_of(sums->stored);
    return add_all(sums->wanted, list.rows, list.count, false, err);
}

/* Read what is stored of a day: all of it, or the few sums that are to change. */
static int read_day(struct day_writer *writer, uint32_t day, struct one_day *sums,
                    struct error *err)
{
    uint64_t ids[ROW_IDS_AT_ONCE];
    size_t count = 0, changing = 0;
    const struct day_list list = list_of(sums->wanted);
    if (writer->days->anew)
        return read_stored(writer, day, (struct row_ids){ 0 }, sums, err);
    for (size_t i = 0; i < list.count; i++)
        if (!wide_is_zero(&list.rows[i].sum) && changing++ < ROW_IDS_AT_ONCE)
            ids[count++] = list.rows[i].id;
    if (!changing)
        return 0;
    if (changing > ROW_IDS_AT_ONCE)
        count = 0;
    return read_stored(writer, day, (struct row_ids){ ids, count }, sums, err);
}

static int write_sum(struct day_writer *writer, struct row_writer *rows, bool has_usage,
                     const struct day_sum *sum, struct error *err)
{
    if (!day_sum_is_in_range(&sum->sum))
        return day_beyond_range(sum->id, err);
    struct natural units = natural_of_wide(&sum->sum), unit = natural_of(UNITS_PER_TRES);
    struct row_field row[] = {
        { "cluster", 't', writer->cluster },
        { "day", 'i', day_value(writer, sum->day) },
        { "id_assoc", 'i', rows_bits(sum->id) },
        { "sum_2", 'i', rows_bits(sum->sum.word[2]) },
        { "sum_1", 'i', rows_bits(sum->sum.word[1]) },
        { "sum_0", 'i', rows_bits(sum->sum.word[0]) },
        { "tres_seconds", 'r', db_real(has_usage ? natural_quotient(&units, &unit) : 0) },
    };
    return rows_add(rows, row, COUNT(row) - !has_usage, err);
}

/* Turn the stored sums of a day into the new ones: only rows that differ are written. */
static int write_difference(struct day_writer *writer, const struct day_table *table, uint32_t day,
                            struct day_list old, struct day_list new, struct error *err)
{
    struct db_value key[] = { writer->cluster, day_value(writer, day) };
    bool has_all_old = writer->days->anew || table == &open_table;
    if (has_all_old && most_differ(old, new)) {
        if (db_execute(writer->db, table->clear, key, 2, NULL, err))
            return -1;
        old.count = 0;
    }
    uint64_t *removed = memory_zeroed(old.count, sizeof *removed);
    size_t removed_count = 0;
    const struct day_sum *one, *other;
    struct row_writer rows = { .db = writer->db, .table = table->name, .keys = old.count ? 3 : 0 };
    int result = 0;
    while (!result && next_pair(&old, &new, &one, &other)) {
        if (is_same(one, other))
            continue;
        if (table == &usage_table)
            day_hashes_replace(writer->hashes, day, one, other);
        if (!day_sum_has_row(other)) {
            if (one)
                removed[removed_count++] = one->id;
            continue;
        }
        result = write_sum(writer, &rows, table->has_usage, other, err);
    }
    result = rows_end(&rows, result, err);
    if (!result)
        result = rows_execute_for(writer->db, table->remove, key, 2,
                                  (struct row_ids){ removed, removed_count }, err);
    free(removed);
    return result;
}

static int write_usage(struct day_writer *writer, uint32_t day, struct one_day *sums,
                       struct error *err)
{
    struct day_list wanted = list_of(sums->wanted);
    bool anew = writer->days->anew;
    if (anew && day_hashes_agree(writer->hashes, day, wanted.rows, wanted.count))
        return 0;
    if (read_day(writer, day, sums, err) ||
        write_difference(writer, &usage_table, day, list_of(sums->stored), list_of(sums->wanted),
                         err))
        return -1;
    if (anew)
        day_hashes_set(writer->hashes, day, wanted.rows, wanted.count);
    return 0;
}

static int write_sums(struct day_writer *writer, uint32_t day, struct one_day *sums,
                      struct error *err)
{
    struct days *days = writer->days;
    if (read_open(writer, day, sums->old_open, err) ||
        days_take(days, days->sealed, day, sums->wanted, err) ||
        days_take(days, days->open, day, sums->open, err))
        return -1;
    struct day_list open = list_of(sums->open), old_open = list_of(sums->old_open);
    if (add_all(sums->wanted, open.rows, open.count, false, err) ||
        (!days->anew && add_all(sums->wanted, old_open.rows, old_open.count, true, err)) ||
        write_usage(writer, day, sums, err))
        return -1;
    if (!days->unsealed_is_kept)
        return 0;
    return write_difference(writer, &open_table, day, old_open, open, err);
}

static int write_day(struct day_writer *writer, uint32_t day, struct error *err)
{
    struct one_day sums = { day_sums_create(), day_sums_create(), day_sums_create(),
                            day_sums_create() };
    int result = write_sums(writer, day, &sums, err);
    day_sums_destroy(sums.stored);
    day_sums_destroy(sums.wanted);
    day_sums_destroy(sums.open);
    day_sums_destroy(sums.old_open);
    return result;
}

static int write_days(struct day_writer *writer, struct error *err)
{
    struct days *days = writer->days;
    find_first(writer);
    if ((days->anew && skip_empty(writer, err)) || find_open(writer, err) ||
        remove_open(writer, err) || remove_other_days(writer, err))
        return -1;
    day_spool_rewind(days->sealed);
    day_spool_rewind(days->open);
    for (size_t day = writer->first; day < days->count; day++)
        if (write_day(writer, (uint32_t)day, err))
            return -1;
    return day_hashes_write(writer->hashes, err) ? -1 : write_span(writer, err);
}

int day_rows_write(const struct publisher *publisher, struct days *days, struct error *err)
{
    struct day_writer writer = { .db = publisher->db,
                                 .cluster = db_text(publisher->cluster),
                                 .days = days };
    if (read_span(&writer, err))
        return -1;
    if (days->may_look_back && days->now < writer.span.as_of)
        return 0;
    if (day_hashes_read(writer.db, &writer.cluster, days, writer.span.as_of, &writer.hashes, err))
        return -1;
    writer.has_open = memory_zeroed(days->count, sizeof *writer.has_open);
    int result = write_days(&writer, err);
    day_hashes_destroy(writer.hashes);
    free(writer.has_open);
    return result;
}
