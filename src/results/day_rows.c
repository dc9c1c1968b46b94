/* SPDX-License-Identifier: MIT */
#include "results/publication.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/usage/calendar.h"
#include "core/usage/clock.h"
#include "results/day_spool.h"
#include "results/days.h"
#include "results/kept.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/text.h"

/* A table with sums by day and association. */
struct day_table {
    const char *name;
    const char *read, *types;   /* the rows of a day */
    const char *remove, *clear; /* some of them, all of them */
    bool has_usage;             /* as a number of TRES-seconds */
};
static const struct day_table usage_table = {
    "fairmill_usage_day",       sql_query_usage_day_read,  "iiiir",
    sql_query_usage_day_remove, sql_query_usage_day_clear, true,
};
static const struct day_table open_table = {
    "fairmill_usage_open",       sql_query_usage_open_read,  "iiii",
    sql_query_usage_open_remove, sql_query_usage_open_clear, false,
};
static const char span_table[] = "fairmill_usage_span";

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
    const struct publisher *publisher;
    struct db *db;
    struct db_value cluster;
    struct days *days;
    struct span span;
    bool nothing_known;            /* no run has said yet what it stored */
    struct kept_parts usage, open; /* what was stored of each day in the two tables */
    size_t first;                  /* the first day that may change */
    bool *has_open;                /* by day: fairmill_usage_open has rows of it, or had */
    bool has_other_days;           /* and rows of days that are none of ours */
};

static struct db_value day_value(const struct day_writer *writer, size_t day)
{
    return rows_bits(writer->days->starts[day]);
}

static int64_t day_part(const struct day_writer *writer, size_t day)
{
    return (int64_t)writer->days->starts[day];
}

/* Three words in two's complement. */
static struct wide sum_of(const struct db_value *words)
{
    uint64_t high = rows_bits_of(&words[0]);
    return (struct wide){ { rows_bits_of(&words[2]), rows_bits_of(&words[1]), high,
                            high >> 63 ? UINT64_MAX : 0 } };
}

static double tres_seconds(const struct wide *sum)
{
    struct natural units = natural_of_wide(sum), unit = natural_of(UNITS_PER_TRES);
    return natural_quotient(&units, &unit);
}

/* Whether a sum has a row in the tables: it is above 0.  NULL has none. */
static bool has_row(const struct day_sum *sum)
{
    return sum && !wide_is_zero(&sum->sum) && !wide_is_negative(&sum->sum);
}

static void keep_sum(struct kept_rows *kept, uint64_t id, const struct wide *sum)
{
    const uint64_t words[] = { id, sum->word[0], sum->word[1], sum->word[2] };
    kept_add(kept, words, COUNT(words));
}

static struct kept_rows rows_to_keep(const struct day_list *list)
{
    struct kept_rows kept = { 0 };
    for (size_t i = 0; i < list->count; i++)
        if (has_row(&list->rows[i]))
            keep_sum(&kept, list->rows[i].id, &list->rows[i].sum);
    return kept;
}

/* What is stored is not what was stored: a run that goes on from it goes back and makes all of it
 * anew. */
static int not_as_stored(const char *table, const struct day_writer *writer, size_t day,
                         struct error *err)
{
    struct text name = { 0 };
    instant_add_day(&name, day_part(writer, day));
    fail(err, ERROR_DAMAGED, "rows of %s of %s are not as they were stored", table, name.bytes);
    text_free(&name);
    return -1;
}

static struct kept_rows rows_of_span(const struct span *span)
{
    const uint64_t words[] = { span->as_of, span->oldest_end, span->final_to };
    struct kept_rows kept = { 0 };
    if (span->as_of)
        kept_add(&kept, words, COUNT(words));
    return kept;
}

static int read_span_row(struct day_writer *writer, struct error *err)
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

/* Of a span that is not as it was stored nothing is believed.  Its days may have lost their jobs
 * since, so that those that can be told from the oldest job on are made anew, and no other. */
static int read_span(struct day_writer *writer, struct error *err)
{
    struct kept_parts parts;
    int result = read_span_row(writer, err);
    if (result && err->class != ERROR_DATA)
        return -1;
    if (kept_read(writer->db, writer->publisher->cluster, span_table, &parts, err))
        return -1;
    struct kept_rows known = kept_of(&parts, 0), found = rows_of_span(&writer->span);
    bool intact = !result && kept_same(&known, &found);
    writer->nothing_known = !known.rows;
    kept_parts_free(&parts);
    if (intact)
        return 0;
    if (!writer->days->anew)
        return fail(err, ERROR_DAMAGED, "the row of %s is not as it was stored", span_table);
    if (!writer->nothing_known) {
        writer->days->repairs.rows++;
        writer->span = (struct span){ 0 };
    }
    return 0;
}

static int write_span(struct day_writer *writer, struct error *err)
{
    const struct span span = { writer->days->now, writer->days->oldest_end, writer->span.final_to };
    const struct kept_part part = { 0, rows_of_span(&span) };
    struct row_field row[] = {
        { "cluster", 't', writer->cluster },
        { "as_of", 'i', rows_bits(span.as_of) },
        { "oldest_end", 'i', rows_bits(span.oldest_end) },
        { "final_to", 'i', rows_bits(span.final_to) },
    };
    if (rows_write_one(writer->db, span_table, 1, row, COUNT(row), err))
        return -1;
    return kept_write(writer->db, writer->publisher->cluster, span_table, &part, err);
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

/* Rows of a time zone that is ours no more are removed by a run that makes all anew; a run that
 * goes on finds none. */
static int find_open(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    const struct db_value *row;
    bool strange = false;
    struct db_rows *rows =
        db_query(writer->db, sql_query_usage_open_days, &writer->cluster, 1, "i", err);
    while (db_fetch(rows, &row, err) > 0) {
        uint64_t start = rows_bits_of(&row[0]);
        size_t day = days_find(days, start);
        if (day < days->count)
            writer->has_open[day] = true;
        else
            writer->has_other_days = true;
        strange |= day == days->count && day && start > days->starts[0];
    }
    for (size_t i = 0; i < writer->open.count; i++) {
        size_t day = days_find(days, (uint64_t)writer->open.parts[i].part);
        if (day < days->count)
            writer->has_open[day] = true;
    }
    if (db_finish(rows))
        return -1;
    return strange && !days->anew
               ? fail(err, ERROR_DAMAGED, "rows of %s are of no day of ours", open_table.name)
               : 0;
}

static struct kept_parts *parts_of(struct day_writer *writer, const struct day_table *table)
{
    return table == &open_table ? &writer->open : &writer->usage;
}

/* What is stored of a day in one of the tables. */
struct stored {
    int64_t start;         /* of the day */
    uint32_t day;          /* its place */
    struct day_sums *sums; /* NULL: it is only looked at */
    bool intact;           /* it is as it was stored */
    bool readable;         /* else it may lack rows that are there */
};

static int read_rows(struct day_writer *writer, const struct day_table *table,
                     struct stored *stored, struct kept_rows *found, struct error *err)
{
    const struct db_value *row;
    struct db_value of_day[] = { writer->cluster, db_integer(stored->start) };
    struct db_rows *rows =
        db_query(writer->db, table->read, of_day, COUNT(of_day), table->types, err);
    stored->readable = true;
    while (db_fetch(rows, &row, err) > 0) {
        uint64_t id = rows_bits_of(&row[0]);
        struct wide sum = sum_of(&row[1]);
        bool good = !wide_is_negative(&sum) &&
                    (!stored->sums || day_sums_add(stored->sums, stored->day, id, &sum));
        stored->readable &= good;
        keep_sum(found, id, &sum);
        if (good && table->has_usage && db_value_real(&row[4]) != tres_seconds(&sum))
            found->hash++;
    }
    return db_finish(rows);
}

/* Read it, where it is not as it was stored too; then a run that goes on from it may not. */
static int read_stored(struct day_writer *writer, const struct day_table *table, uint32_t day,
                       struct stored *stored, struct error *err)
{
    struct kept_rows known = kept_of(parts_of(writer, table), day_part(writer, day));
    struct kept_rows found = { 0 };
    stored->start = day_part(writer, day);
    stored->day = day;
    if (read_rows(writer, table, stored, &found, err)) {
        if (err->class != ERROR_DATA)
            return -1;
        stored->readable = false;
    }
    stored->intact = stored->readable && kept_same(&known, &found);
    if (!stored->intact && !writer->days->anew)
        return not_as_stored(table->name, writer, day, err);
    return 0;
}

/* What is stored of a day from now on. */
static int keep_day(struct day_writer *writer, const struct day_table *table, uint32_t day,
                    const struct day_list *list, struct error *err)
{
    struct kept_part part = { day_part(writer, day), rows_to_keep(list) };
    struct kept_rows known = kept_of(parts_of(writer, table), part.part);
    if (kept_same(&known, &part.kept))
        return 0;
    return kept_write(writer->db, writer->publisher->cluster, table->name, &part, err);
}

static int forget_day(struct day_writer *writer, const struct day_table *table, int64_t day,
                      struct error *err)
{
    const struct kept_part part = { .part = day };
    kept_forget(parts_of(writer, table), day);
    return kept_write(writer->db, writer->publisher->cluster, table->name, &part, err);
}

/* Remove all rows of each day that a query finds from `first` to `last`, the oldest day first.  A
 * DELETE of several days at once would lock the row behind them, which may be another cluster's. */
static int remove_days(struct day_writer *writer, const struct day_table *table, const char *find,
                       int64_t first, int64_t last, struct error *err)
{
    for (;; first++) {
        struct db_value span[] = { writer->cluster, db_integer(first), db_integer(last) };
        int found = rows_read_integer(writer->db, find, span, COUNT(span), &first, err);
        if (found <= 0)
            return found;
        struct db_value whole[] = { writer->cluster, db_integer(first) };
        if (db_execute(writer->db, table->clear, whole, COUNT(whole), NULL, err) ||
            forget_day(writer, table, first, err))
            return -1;
        if (first == last)
            return 0;
    }
}

/* Remove rows of fairmill_usage_open: those of days that stay as they are, or all of them where the
 * next run will not go on from them, or where some are of days that are none of ours. */
static int remove_open(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    bool has_day = writer->first < days->count;
    int64_t last = INT64_MAX;
    if (days->anew && (writer->has_other_days || !days->unsealed_is_kept))
        memset(writer->has_open, 0, days->count * sizeof *writer->has_open);
    else if (has_day)
        last = day_part(writer, writer->first) - 1;
    return remove_days(writer, &open_table, sql_query_usage_open_between, INT64_MIN, last, err);
}

/* Remove rows of days that are none of ours: the time zone has changed, or the clock went back. */
static int remove_other_days(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    for (size_t i = writer->first; days->anew && i < days->count; i++) {
        int64_t last = i + 1 < days->count ? day_part(writer, i + 1) - 1 : INT64_MAX;
        if (remove_days(writer, &usage_table, sql_query_usage_day_between, day_part(writer, i) + 1,
                        last, err))
            return -1;
    }
    return 0;
}

/* Forget what was stored of days that have no rows now, though nobody of us removed them. */
static int forget_removed(struct day_writer *writer, const struct day_table *table,
                          const struct kept_parts *parts, struct error *err)
{
    const struct days *days = writer->days;
    for (size_t i = 0; i < parts->count; i++) {
        int64_t day = parts->parts[i].part;
        bool ours = days_find(days, (uint64_t)day) < days->count;
        bool earlier = !days->count || day < (int64_t)days->starts[writer->first];
        if (!ours && (table == &open_table || !earlier) && forget_day(writer, table, day, err))
            return -1;
    }
    return 0;
}

/* The sums cannot be kept; fairshare does not wait for them. */
static int give_up(struct day_writer *writer)
{
    writer->days->failed = true;
    return -1;
}

static int add_all(struct day_writer *writer, struct day_sums *into, struct day_list list,
                   bool negative, struct error *err)
{
    for (size_t i = 0; i < list.count; i++) {
        const struct day_sum *each = &list.rows[i];
        struct wide sum = each->sum, zero = { { 0 } };
        if (negative && wide_subtract(&zero, &sum))
            sum = zero;
        if (!day_sums_add(into, each->day, each->id, &sum)) {
            day_beyond_range(each->id, err);
            return give_up(writer);
        }
    }
    return 0;
}

static int write_sum(struct day_writer *writer, struct row_writer *rows, bool has_usage,
                     const struct day_sum *sum, struct error *err)
{
    if (!day_sum_is_in_range(&sum->sum)) {
        day_beyond_range(sum->id, err);
        return give_up(writer);
    }
    struct row_field row[] = {
        { "cluster", 't', writer->cluster },
        { "day", 'i', day_value(writer, sum->day) },
        { "id_assoc", 'i', rows_bits(sum->id) },
        { "sum_2", 'i', rows_bits(sum->sum.word[2]) },
        { "sum_1", 'i', rows_bits(sum->sum.word[1]) },
        { "sum_0", 'i', rows_bits(sum->sum.word[0]) },
        { "tres_seconds", 'r', db_real(has_usage ? tres_seconds(&sum->sum) : 0) },
    };
    return rows_add(rows, row, COUNT(row) - !has_usage, err);
}

/* Turn the stored sums of a day into the new ones: only rows that differ are written. */
static int write_difference(struct day_writer *writer, const struct day_table *table, uint32_t day,
                            const struct stored *stored, struct day_list new, struct error *err)
{
    struct db_value key[] = { writer->cluster, day_value(writer, day) };
    struct day_list old = list_of(stored->sums);
    if (!stored->readable || most_differ(old, new)) {
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
        /* Where a row was changed, its number for readers may be what was. */
        if (is_same(one, other) && stored->intact)
            continue;
        if (has_row(other))
            result = write_sum(writer, &rows, table->has_usage, other, err);
        else if (one)
            removed[removed_count++] = one->id;
    }
    result = rows_end(&rows, result, err);
    if (!result)
        result = rows_execute_for(writer->db, table->remove, key, 2,
                                  (struct row_ids){ removed, removed_count }, err);
    free(removed);
    return result;
}

/* What is to be said of a day that others had changed. */
static void note_repair(struct day_writer *writer, const struct day_table *table,
                        const struct stored *stored, struct day_list new)
{
    struct day_repairs *repairs = &writer->days->repairs;
    struct day_list old = list_of(stored->sums);
    const struct day_sum *one, *other;
    if (stored->intact || writer->nothing_known)
        return;
    repairs->days++;
    while (next_pair(&old, &new, &one, &other)) {
        struct wide zero = { { 0 } }, more = other ? other->sum : zero;
        if (is_same(one, other) || (!one && !has_row(other)) ||
            !wide_subtract(&more, one ? &one->sum : &zero))
            continue;
        repairs->rows++;
        if (wide_is_negative(&more) && wide_subtract(&zero, &more))
            more = zero;
        double drift = tres_seconds(&more);
        if (table->has_usage && drift > repairs->drift)
            repairs->drift = drift;
    }
}

/* Whether a day's rows are read although nothing is to be written. */
static bool is_checked(const struct days *days, uint64_t start)
{
    return days->check_all || start >= days->check_all_from ||
           (start >= days->check_from && start < days->check_to);
}

/* Make the stored sums of a day `wanted`: all of them where the run makes them anew, else what is
 * to be added to them. */
static int write_usage(struct day_writer *writer, uint32_t day, struct day_sums *wanted,
                       struct error *err)
{
    bool anew = writer->days->anew, changes = false;
    struct day_list list = list_of(wanted);
    struct kept_rows known = kept_of(&writer->usage, day_part(writer, day));
    struct kept_rows new = rows_to_keep(&list);
    for (size_t i = 0; i < list.count; i++)
        changes |= !wide_is_zero(&list.rows[i].sum);
    if (anew ? kept_same(&known, &new) : !changes) {
        struct stored same = { .intact = true };
        if (is_checked(writer->days, writer->days->starts[day]) &&
            read_stored(writer, &usage_table, day, &same, err))
            return -1;
        if (same.intact)
            return 0;
    }
    struct stored stored = { .sums = day_sums_create() };
    int result = read_stored(writer, &usage_table, day, &stored, err);
    if (!result && !anew)
        result = add_all(writer, wanted, list_of(stored.sums), false, err);
    if (!result) {
        list = list_of(wanted);
        note_repair(writer, &usage_table, &stored, list);
        result = write_difference(writer, &usage_table, day, &stored, list, err) ||
                         keep_day(writer, &usage_table, day, &list, err)
                     ? -1
                     : 0;
    }
    day_sums_destroy(stored.sums);
    return result;
}

/* Subtract what the run before had added of jobs that were not sealed, add what these are now. */
static int write_open(struct day_writer *writer, uint32_t day, struct day_sums *wanted,
                      struct error *err)
{
    struct days *days = writer->days;
    struct stored old = { .sums = day_sums_create(), .intact = true, .readable = true };
    struct day_sums *open = day_sums_create();
    int result = 0;
    if (writer->has_open[day])
        result = read_stored(writer, &open_table, day, &old, err);
    if (!result && days_take(days, days->open, day, open, err))
        result = give_up(writer);
    struct day_list new = list_of(open);
    if (!result)
        result = add_all(writer, wanted, new, false, err);
    if (!result && !days->anew)
        result = add_all(writer, wanted, list_of(old.sums), true, err);
    if (!result && days->unsealed_is_kept) {
        note_repair(writer, &open_table, &old, new);
        result = write_difference(writer, &open_table, day, &old, new, err) ||
                         keep_day(writer, &open_table, day, &new, err)
                     ? -1
                     : 0;
    }
    day_sums_destroy(old.sums);
    day_sums_destroy(open);
    return result;
}

static int write_day(struct day_writer *writer, uint32_t day, struct error *err)
{
    struct days *days = writer->days;
    struct day_sums *wanted = day_sums_create();
    int result = days_take(days, days->sealed, day, wanted, err) ? give_up(writer) : 0;
    if (!result)
        result = write_open(writer, day, wanted, err);
    if (!result)
        result = write_usage(writer, day, wanted, err);
    day_sums_destroy(wanted);
    return result;
}

/* A day whose jobs were purged cannot be made anew: it is named, and stays as it is. */
static int check_final(struct day_writer *writer, uint64_t start, struct error *err)
{
    struct stored stored = { .start = (int64_t)start };
    struct kept_part part = { stored.start, { 0 } };
    struct kept_rows known = kept_of(&writer->usage, part.part);
    if (!is_checked(writer->days, start))
        return 0;
    int result = read_rows(writer, &usage_table, &stored, &part.kept, err);
    if (result && err->class != ERROR_DATA)
        return -1;
    if (!result && kept_same(&known, &part.kept))
        return 0;
    if (!writer->nothing_known && !writer->days->repairs.lost++)
        writer->days->repairs.first_lost = start;
    return kept_write(writer->db, writer->publisher->cluster, usage_table.name, &part, err);
}

/* Days that this run does not sum: those of before the first whose jobs it reads, as behind a
 * horizon or a reset, and those whose jobs were purged. */
static int check_all_final(struct day_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    for (size_t i = 0; i < writer->usage.count; i++) {
        uint64_t start = (uint64_t)writer->usage.parts[i].part;
        if (start < days->starts[0] && check_final(writer, start, err))
            return -1;
    }
    for (size_t day = 0; day < writer->first; day++)
        if (check_final(writer, days->starts[day], err))
            return -1;
    return 0;
}

/* Without a seal no run chooses which days are to be looked at: then it follows from the time that
 * has gone by since the last. */
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

static int write_days(struct day_writer *writer, struct error *err)
{
    struct days *days = writer->days;
    choose_days(days, writer->span.as_of);
    find_first(writer);
    if (check_all_final(writer, err))
        return -1;
    if ((days->anew && skip_empty(writer, err)) || find_open(writer, err) ||
        remove_open(writer, err) || remove_other_days(writer, err))
        return -1;
    day_spool_rewind(days->sealed);
    day_spool_rewind(days->open);
    for (size_t day = writer->first; day < days->count; day++)
        if (write_day(writer, (uint32_t)day, err))
            return -1;
    if (days->anew && (forget_removed(writer, &open_table, &writer->open, err) ||
                       forget_removed(writer, &usage_table, &writer->usage, err)))
        return -1;
    return write_span(writer, err);
}

int day_rows_write(const struct publisher *publisher, struct days *days, struct error *err)
{
    struct day_writer writer = { .publisher = publisher,
                                 .db = publisher->db,
                                 .cluster = db_text(publisher->cluster),
                                 .days = days };
    days->repairs = (struct day_repairs){ 0 };
    if (read_span(&writer, err))
        return -1;
    if (days->may_look_back && days->now < writer.span.as_of)
        return 0;
    days->behind = !days->anew && writer.span.as_of != days->goes_on_from;
    if (days->behind && days->may_wait)
        return 0;
    if (days->behind)
        return fail(err, ERROR_DAMAGED, "the usage of days is not that of the seal's run");
    writer.has_open = memory_zeroed(days->count, sizeof *writer.has_open);
    int result =
        kept_read(writer.db, publisher->cluster, usage_table.name, &writer.usage, err) ||
                kept_read(writer.db, publisher->cluster, open_table.name, &writer.open, err) ||
                write_days(&writer, err)
            ? -1
            : 0;
    kept_parts_free(&writer.usage);
    kept_parts_free(&writer.open);
    free(writer.has_open);
    return result;
}
