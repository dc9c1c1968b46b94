/* SPDX-License-Identifier: MIT */
#include "results/day_store.h"

#include <stdlib.h>

#include "results/day_list.h"
#include "results/day_spool.h"
#include "results/rows.h"
#include "sql.h"
#include "util/error.h"
#include "util/instant.h"
#include "util/memory.h"
#include "util/text.h"

const struct day_table day_usage_table = {
    "fairmill_usage_day",       sql_query_usage_day_read,  "iiiir",
    sql_query_usage_day_remove, sql_query_usage_day_clear, true,
};
const struct day_table day_open_table = {
    "fairmill_usage_open",       sql_query_usage_open_read,  "iiii",
    sql_query_usage_open_remove, sql_query_usage_open_clear, false,
};

static struct db_value day_value(const struct day_store *store, size_t day)
{
    return rows_bits(store->days->starts[day]);
}

int64_t day_part(const struct day_store *store, size_t day)
{
    return (int64_t)store->days->starts[day];
}

/* Three words in two's complement. */
static struct wide sum_of(const struct db_value *words)
{
    uint64_t high = rows_bits_of(&words[0]);
    return (struct wide){ { rows_bits_of(&words[2]), rows_bits_of(&words[1]), high,
                            high >> 63 ? UINT64_MAX : 0 } };
}

static struct kept_parts *parts_of(struct day_store *store, const struct day_table *table)
{
    return table == &day_open_table ? &store->open : &store->usage;
}

/* What is stored is not what was stored: a run that goes on from it goes back and makes all of it
 * anew. */
static int not_as_stored(const char *table, const struct day_store *store, size_t day,
                         struct error *err)
{
    struct text name = { 0 };
    instant_add_day(&name, day_part(store, day));
    fail(err, ERROR_DAMAGED, "rows of %s of %s are not as they were stored", table, name.bytes);
    text_free(&name);
    return -1;
}

int day_store_read_rows(struct day_store *store, const struct day_table *table,
                        struct stored_day *stored, struct kept_rows *found, struct error *err)
{
    const struct db_value *row;
    struct db_value of_day[] = { store->cluster, db_integer(stored->start) };
    struct db_rows *rows =
        db_query(store->db, table->read, of_day, COUNT(of_day), table->types, err);
    stored->readable = true;
    while (db_fetch(rows, &row, err) > 0) {
        uint64_t id = rows_bits_of(&row[0]);
        struct wide sum = sum_of(&row[1]);
        bool good = !wide_is_negative(&sum) &&
                    (!stored->sums || day_sums_add(stored->sums, stored->day, id, &sum));
        stored->readable &= good;
        day_sum_keep(found, id, &sum);
        if (good && table->has_usage && db_value_real(&row[4]) != day_tres_seconds(&sum))
            found->hash++;
    }
    return db_finish(rows);
}

int day_store_read(struct day_store *store, const struct day_table *table, uint32_t day,
                   struct stored_day *stored, struct error *err)
{
    struct kept_rows known = kept_of(parts_of(store, table), day_part(store, day));
    struct kept_rows found = { 0 };
    stored->start = day_part(store, day);
    stored->day = day;
    if (day_store_read_rows(store, table, stored, &found, err)) {
        if (err->class != ERROR_DATA)
            return -1;
        stored->readable = false;
    }
    stored->intact = stored->readable && kept_same(&known, &found);
    if (!stored->intact && !store->days->anew)
        return not_as_stored(table->name, store, day, err);
    return 0;
}

int day_store_keep(struct day_store *store, const struct day_table *table, uint32_t day,
                   const struct day_list *list, struct error *err)
{
    struct kept_part part = { day_part(store, day), day_list_kept(list) };
    struct kept_rows known = kept_of(parts_of(store, table), part.part);
    if (kept_same(&known, &part.kept))
        return 0;
    return kept_write(store->db, store->name, table->name, &part, err);
}

int day_store_forget(struct day_store *store, const struct day_table *table, int64_t day,
                     struct error *err)
{
    const struct kept_part part = { .part = day };
    kept_forget(parts_of(store, table), day);
    return kept_write(store->db, store->name, table->name, &part, err);
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

static int write_sum(struct day_store *store, struct row_writer *rows, bool has_usage,
                     const struct day_sum *sum, struct error *err)
{
    if (!day_sum_is_in_range(&sum->sum)) {
        day_beyond_range(sum->id, err);
        return day_store_give_up(store);
    }
    struct row_field row[] = {
        { "cluster", 't', store->cluster },
        { "day", 'i', day_value(store, sum->day) },
        { "id_assoc", 'i', rows_bits(sum->id) },
        { "sum_2", 'i', rows_bits(sum->sum.word[2]) },
        { "sum_1", 'i', rows_bits(sum->sum.word[1]) },
        { "sum_0", 'i', rows_bits(sum->sum.word[0]) },
        { "tres_seconds", 'r', db_real(has_usage ? day_tres_seconds(&sum->sum) : 0) },
    };
    return rows_add(rows, row, COUNT(row) - !has_usage, err);
}

int day_store_write(struct day_store *store, const struct day_table *table, uint32_t day,
                    const struct stored_day *stored, struct day_list new, struct error *err)
{
    struct db_value key[] = { store->cluster, day_value(store, day) };
    struct day_list old = day_list_of(stored->sums);
    if (!stored->readable || day_lists_mostly_differ(old, new)) {
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
        /* Equal sums are written again where somebody changed a row: he may have changed the
         * TRES-seconds only. */
        if (day_sum_is_same(one, other) && stored->intact)
            continue;
        if (day_sum_has_row(other))
            result = write_sum(store, &rows, table->has_usage, other, err);
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
    struct day_list old = day_list_of(stored->sums);
    const struct day_sum *one, *other;
    if (stored->intact || store->nothing_known)
        return;
    repairs->days++;
    while (day_list_next_pair(&old, &new, &one, &other)) {
        struct wide zero = { { 0 } }, more = other ? other->sum : zero;
        if (day_sum_is_same(one, other) || (!one && !day_sum_has_row(other)) ||
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
