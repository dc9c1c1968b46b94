/* SPDX-License-Identifier: MIT */
#include "results/day_store.h"

#include <stdlib.h>
#include <string.h>

#include "core/number/wide.h"
#include "core/usage/decay_table.h"
#include "results/day_columns.h"
#include "results/days.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/*
 * Takes the rows of the next id from both lists.  Sets `*one` to the row in `old` and `*other` to
 * the row in `new`, or to NULL if the list has no row of this id.  Returns false at the end of both
 * lists.
 */
static bool day_list_next_pair(struct day_list *old, struct day_list *new,
                               const struct day_sum **one, const struct day_sum **other)
{
    *one = old->next < old->count ? day_list_at(old, old->next) : NULL;
    *other = new->next < new->count ? day_list_at(new, new->next) : NULL;
    if (*one && *other && (*one)->id < (*other)->id)
        *other = NULL;
    else if (*one && *other && (*one)->id > (*other)->id)
        *one = NULL;
    old->next += *one != NULL;
    new->next += *other != NULL;
    return *one || *other;
}

/* Returns true if the two rows exist and are equal. */
static bool day_sum_is_same(const struct day_sum *one, const struct day_sum *other, size_t tres)
{
    return one && other && wide_is_equal(&one->sum, &other->sum) &&
           (!tres || !memcmp(one->tres, other->tres, tres * sizeof *one->tres));
}

/*
 * Returns true if writing all rows again takes less time than changing rows one by one, as on days
 * with running jobs.
 */
static bool day_lists_mostly_differ(struct day_list old, struct day_list new)
{
    const struct day_sum *one, *other;
    size_t same = 0, count = old.count;
    while (day_list_next_pair(&old, &new, &one, &other))
        same += day_sum_is_same(one, other, old.tres);
    return count && same < count / 4;
}

/* Converts a sum to TRES-seconds, for the column that users query. */
static double day_tres_seconds(const struct wide *sum)
{
    struct natural units = natural_of_wide(sum), unit = natural_of(UNITS_PER_TRES);
    return natural_quotient(&units, &unit);
}

/* Returns true if a row is stored: it exists, and its sum or an amount is above 0. */
static bool day_sum_has_row(const struct day_sum *sum, size_t tres)
{
    return sum && !wide_is_negative(&sum->sum) && !day_sum_is_zero(sum, tres);
}

/* Adds a row to a hash.  `amounts` are indexed by the number of the TRES, from 1. */
static void day_sum_keep(struct row_hash *stored, uint64_t id, const struct wide *sum,
                         const uint64_t amounts[KEPT_TRES_LIMIT + 1])
{
    uint64_t words[4 + 2 * KEPT_TRES_LIMIT] = { id, sum->word[0], sum->word[1], sum->word[2] };
    size_t count = 4;
    for (uint64_t number = 1; number <= KEPT_TRES_LIMIT; number++) {
        if (!amounts[number])
            continue;
        words[count++] = number;
        words[count++] = amounts[number];
    }
    row_hash_add(stored, words, count);
}

struct row_hash day_list_kept(const struct day_list *list, const struct kept_tres *kept)
{
    struct row_hash stored = { 0 };
    uint64_t amounts[KEPT_TRES_LIMIT + 1] = { 0 };
    for (size_t i = 0; i < list->count; i++) {
        const struct day_sum *row = day_list_at(list, i);
        for (size_t t = 0; t < kept->count; t++)
            amounts[kept->tres[t].number] = row->tres[t];
        if (day_sum_has_row(row, kept->count))
            day_sum_keep(&stored, row->id, &row->sum, amounts);
    }
    return stored;
}

const struct day_table day_usage_table = {
    "fairmill_usage_day",
    sql_query_usage_day_remove,
    sql_query_usage_day_clear,
    true,
};
const struct day_table day_open_table = {
    "fairmill_usage_open",
    sql_query_usage_open_remove,
    sql_query_usage_open_clear,
    false,
};

static struct db_value day_value(const struct day_store *store, size_t day)
{
    return rows_bits(store->days->starts[day]);
}

int64_t day_part(const struct day_store *store, size_t day)
{
    return (int64_t)store->days->starts[day];
}

/* Reads a sum that is stored as three words in two's complement. */
static struct wide day_store_sum_of(const struct db_value *words)
{
    uint64_t high = rows_bits_of(&words[0]);
    return (struct wide){ { rows_bits_of(&words[2]), rows_bits_of(&words[1]), high,
                            high >> 63 ? UINT64_MAX : 0 } };
}

static struct hash_segments *day_store_parts_of(struct day_store *store,
                                                const struct day_table *table)
{
    return table == &day_open_table ? &store->open : &store->usage;
}

/*
 * Fails with ERROR_DAMAGED.  After this error, an incremental run starts again and reads all jobs.
 */
static int not_as_stored(const char *table, const struct day_store *store, size_t day,
                         struct error *err)
{
    struct text name = { 0 };
    time_add_day(&name, day_part(store, day));
    fail(err, ERROR_DAMAGED, "rows of %s for %s do not match their stored hash", table, name.bytes);
    text_free(&name);
    return -1;
}

/*
 * Adds the amounts of a stored row.  `amounts` are indexed by the number of the TRES.  Returns
 * false if an amount is negative.
 */
static bool take_amounts(const struct kept_tres *kept, struct stored_day *stored, uint64_t id,
                         const uint64_t amounts[KEPT_TRES_LIMIT + 1])
{
    size_t t = 0;
    bool good = true;
    for (unsigned number = 1; number <= KEPT_TRES_LIMIT; number++) {
        bool is_kept = t < kept->count && kept->tres[t].number == number;
        if (amounts[number] && is_kept && stored->sums)
            day_sums_add_tres(stored->sums, stored->day, id, t, amounts[number]);
        stored->has_other_tres |= amounts[number] && !is_kept;
        good &= amounts[number] <= INT64_MAX;
        t += is_kept;
    }
    return good;
}

/* Takes a stored row.  `amounts` are those of the row, indexed by the number of the TRES. */
static void take_row(const struct day_store *store, const struct day_table *table,
                     struct stored_day *stored, const struct db_value *row,
                     const uint64_t amounts[KEPT_TRES_LIMIT + 1], struct row_hash *found)
{
    uint64_t id = rows_bits_of(&row[DAY_ID]);
    struct wide sum = day_store_sum_of(&row[DAY_SUM]);
    bool good = !wide_is_negative(&sum) &&
                (!stored->sums || day_sums_add(stored->sums, stored->day, id, &sum));
    good &= take_amounts(store->days->kept, stored, id, amounts);
    stored->readable &= good;
    day_sum_keep(found, id, &sum, amounts);
    if (good && table->has_usage && db_value_real(&row[DAY_TRES_SECONDS]) != day_tres_seconds(&sum))
        found->hash++;
}

/*
 * Reads the rows with the columns of `columns`.  Sets stored->has_other_tres if a row has amounts
 * in other columns.
 */
static int read_with(const struct day_store *store, const struct day_table *table,
                     const struct day_columns *columns, struct stored_day *stored,
                     struct row_hash *found, struct error *err)
{
    const struct db_value *row, of_day[] = { store->cluster, db_integer(stored->start) };
    uint64_t amounts[KEPT_TRES_LIMIT + 1] = { 0 };
    struct day_query query = day_columns_query(table->name, table->has_usage, columns);
    struct db_rows *rows =
        db_query(store->db, query.sql.bytes, of_day, COUNT(of_day), query.types, err);
    stored->readable = true;
    while (db_fetch(rows, &row, err) > 0) {
        for (size_t i = 0; i < columns->count; i++)
            amounts[columns->numbers[i]] = rows_bits_of(&row[query.first + i]);
        if (query.has_others && row[query.first + columns->count].type != DB_NULL)
            stored->has_other_tres = true;
        take_row(store, table, stored, row, amounts, found);
    }
    text_free(&query.sql);
    return db_finish(rows);
}

int day_store_read_rows(struct day_store *store, const struct day_table *table,
                        struct stored_day *stored, struct row_hash *found, struct error *err)
{
    struct day_columns columns = { .highest = store->days->used_numbers };
    const struct kept_tres *kept = store->days->kept;
    for (size_t t = 0; t < kept->count; t++)
        columns.numbers[columns.count++] = kept->tres[t].number;
    int result = read_with(store, table, &columns, stored, found, err);
    if (result || !stored->has_other_tres)
        return result;
    *found = (struct row_hash){ 0 };
    if (stored->sums)
        day_sums_clear(stored->sums);
    return read_with(store, table, &day_columns_all, stored, found, err);
}

int day_store_read(struct day_store *store, const struct day_table *table, uint32_t day,
                   struct stored_day *stored, struct error *err)
{
    struct row_hash known =
        hash_segments_find(day_store_parts_of(store, table), day_part(store, day));
    struct row_hash found = { 0 };
    stored->start = day_part(store, day);
    stored->day = day;
    if (day_store_read_rows(store, table, stored, &found, err)) {
        if (err->class != ERROR_DATA)
            return -1;
        stored->readable = false;
    }
    stored->intact = stored->readable && row_hash_same(&known, &found);
    if ((!stored->intact || stored->has_other_tres) && !store->days->anew)
        return not_as_stored(table->name, store, day, err);
    return 0;
}

int day_store_keep(struct day_store *store, const struct day_table *table, uint32_t day,
                   const struct day_list *list, struct error *err)
{
    struct hash_segment part = { day_part(store, day), day_list_kept(list, store->days->kept) };
    struct row_hash known = hash_segments_find(day_store_parts_of(store, table), part.part);
    if (row_hash_same(&known, &part.stored))
        return 0;
    return stored_write(store->db, store->name, table->name, &part, err);
}

int day_store_forget(struct day_store *store, const struct day_table *table, int64_t day,
                     struct error *err)
{
    const struct hash_segment part = { .part = day };
    hash_segments_forget(day_store_parts_of(store, table), day);
    return stored_write(store->db, store->name, table->name, &part, err);
}

int day_store_remove(struct day_store *store, const struct day_table *table, const char *find,
                     int64_t first, int64_t last, struct error *err)
{
    for (;; first++) {
        struct db_value span[] = { store->cluster, db_integer(first), db_integer(last) };
        int found = rows_read_integer(store->db, find, span, COUNT(span), &first, err);
        if (found <= 0)
            return found;
        struct db_value whole[] = { store->cluster, db_integer(first) };
        if (db_execute(store->db, table->clear, whole, COUNT(whole), NULL, err) ||
            day_store_forget(store, table, first, err))
            return -1;
        if (first == last)
            return 0;
    }
}

int day_store_give_up(struct day_store *store)
{
    store->days->failed = true;
    return -1;
}

/* A row's fields.  The first DAY_COLUMNS columns of fairmill_usage_day are not of a TRES. */
#define DAY_COLUMNS 7
struct day_fields {
    struct row_field fields[DAY_COLUMNS + KEPT_TRES_LIMIT];
    size_t count;
};

/*
 * Adds the amounts.  With `all`, also adds the columns of TRES that are not kept, so that `verify`
 * compares them.
 */
static void add_amounts(struct day_fields *row, const struct kept_tres *kept,
                        const struct day_sum *sum, bool all)
{
    size_t t = 0;
    for (unsigned number = 1; number <= KEPT_TRES_LIMIT; number++) {
        bool is_kept = t < kept->count && kept->tres[t].number == number;
        uint64_t amount = is_kept ? sum->tres[t++] : 0;
        if (is_kept || all)
            row->fields[row->count++] =
                (struct row_field){ day_columns_names[number], 'i',
                                    amount ? rows_bits(amount) : db_null() };
    }
}

static bool is_storable(const struct day_sum *sum, size_t tres)
{
    bool in_range = day_sum_is_in_range(&sum->sum);
    for (size_t t = 0; t < tres; t++)
        in_range &= sum->tres[t] <= INT64_MAX;
    return in_range;
}

/* `all` is as for add_amounts(). */
static int write_sum(struct day_store *store, struct row_writer *rows, bool has_usage, bool all,
                     const struct day_sum *sum, struct error *err)
{
    const struct kept_tres *kept = store->days->kept;
    if (!is_storable(sum, kept->count)) {
        day_beyond_range(sum->id, err);
        return day_store_give_up(store);
    }
    struct day_fields row = {
        { { "cluster", 't', store->cluster },
          { "day", 'i', day_value(store, sum->day) },
          { "id_assoc", 'i', rows_bits(sum->id) },
          { "sum_2", 'i', rows_bits(sum->sum.word[2]) },
          { "sum_1", 'i', rows_bits(sum->sum.word[1]) },
          { "sum_0", 'i', rows_bits(sum->sum.word[0]) },
          { "tres_seconds", 'r', db_real(has_usage ? day_tres_seconds(&sum->sum) : 0) } },
        DAY_COLUMNS - !has_usage,
    };
    add_amounts(&row, kept, sum, all);
    return rows_add(rows, row.fields, row.count, err);
}

int day_store_write(struct day_store *store, const struct day_table *table, uint32_t day,
                    const struct stored_day *stored, struct day_list new, struct error *err)
{
    struct db_value key[] = { store->cluster, day_value(store, day) };
    struct day_list old = day_sums_sorted(stored->sums);
    size_t tres = store->days->kept->count;
    bool all = stored->has_other_tres || !stored->intact;
    if (!stored->readable || stored->has_other_tres || day_lists_mostly_differ(old, new)) {
        if (db_execute(store->db, table->clear, key, 2, NULL, err))
            return -1;
        old.count = 0;
    }
    uint64_t *removed = memory_zeroed(old.count, sizeof *removed);
    size_t removed_count = 0;
    const struct day_sum *one, *other;
    struct row_writer rows = { .db = store->db, .table = table->name, .keys = old.count ? 3 : 0 };
    int result = 0;
    while (!result && day_list_next_pair(&old, &new, &one, &other)) {
        /* Write equal sums again if a row was changed, because its TRES-seconds may be wrong. */
        if (day_sum_is_same(one, other, tres) && stored->intact)
            continue;
        if (day_sum_has_row(other, tres))
            result = write_sum(store, &rows, table->has_usage, all, other, err);
        else if (one)
            removed[removed_count++] = one->id;
    }
    result = rows_end(&rows, result, err);
    if (!result)
        result = rows_execute_for(store->db, table->remove, key, 2,
                                  (struct row_ids){ removed, removed_count }, err);
    free(removed);
    return result;
}

void day_store_note_repair(struct day_store *store, const struct day_table *table,
                           const struct stored_day *stored, struct day_list new)
{
    struct day_repairs *repairs = &store->days->repairs;
    struct day_list old = day_sums_sorted(stored->sums);
    size_t tres = store->days->kept->count;
    const struct day_sum *one, *other;
    if (stored->intact || store->nothing_known)
        return;
    repairs->days++;
    while (day_list_next_pair(&old, &new, &one, &other)) {
        struct wide zero = { { 0 } }, more = other ? other->sum : zero;
        if (day_sum_is_same(one, other, tres) || (!one && !day_sum_has_row(other, tres)) ||
            !wide_subtract(&more, one ? &one->sum : &zero))
            continue;
        repairs->rows++;
        if (wide_is_negative(&more) && wide_subtract(&zero, &more))
            more = zero;
        double drift = day_tres_seconds(&more);
        if (table->has_usage && drift > repairs->drift)
            repairs->drift = drift;
    }
}
