/* SPDX-License-Identifier: MIT */
#include "results/stored_state.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "results/rows.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"

void row_hash_add(struct row_hash *stored, const uint64_t *words, size_t count)
{
    stored->rows++;
    stored->hash += hash_words(words, count);
}

/* Adds 0.0, which turns -0.0 into 0.0, because not all databases preserve the sign of a zero. */
static uint64_t row_hash_of_real(double number)
{
    uint64_t bits;
    number += 0.0;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

uint64_t row_hash_of_text(const char *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

uint64_t row_hash_word(const struct db_value *value)
{
    switch (value->type) {
    case DB_INTEGER:
        return (uint64_t)value->integer;
    case DB_UNSIGNED:
        return value->unsigned_integer;
    case DB_REAL:
        return row_hash_of_real(value->real);
    case DB_TEXT:
        return row_hash_of_text(value->text.bytes, value->text.length);
    case DB_NULL:
        break;
    }
    return UINT64_C(0x7ff8dead00000000); /* an arbitrary constant for NULL */
}

/* fairmill_value has the most columns: 20, and two for each TRES */
#define COLUMNS_AT_MOST 64

void row_hash_add_values(struct row_hash *stored, const struct db_value *values, size_t count)
{
    uint64_t words[COLUMNS_AT_MOST];
    for (size_t i = 0; i < count; i++)
        words[i] = row_hash_word(&values[i]);
    row_hash_add(stored, words, count);
}

void row_hash_add_fields(struct row_hash *stored, const struct row_field *fields, size_t count)
{
    uint64_t words[COLUMNS_AT_MOST];
    for (size_t i = 0; i < count; i++)
        words[i] = row_hash_word(&fields[i].value);
    row_hash_add(stored, words, count);
}

bool row_hash_same(const struct row_hash *one, const struct row_hash *other)
{
    return one->rows == other->rows && one->hash == other->hash;
}

int stored_read(struct db *db, const char *cluster, const char *table, struct hash_segments *parts,
                struct error *err)
{
    const struct db_value *row;
    struct db_value arguments[] = { db_text(cluster), db_text(table) };
    *parts = (struct hash_segments){ 0 };
    struct db_rows *rows = db_query(db, sql_query_kept_read, arguments, 2, "iii", err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&parts->parts, &parts->count) = (struct hash_segment){
            row[0].integer,
            { rows_bits_of(&row[1]), rows_bits_of(&row[2]) },
        };
    if (!db_finish(rows))
        return 0;
    hash_segments_free(parts);
    return -1;
}

void hash_segments_free(struct hash_segments *parts)
{
    free(parts->parts);
    *parts = (struct hash_segments){ 0 };
}

static int row_hash_by_part(const void *a, const void *b)
{
    const struct hash_segment *one = a, *other = b;
    return (one->part > other->part) - (one->part < other->part);
}

static struct hash_segment *row_hash_find(const struct hash_segments *parts, int64_t part)
{
    const struct hash_segment wanted = { .part = part };
    return parts->count
               ? bsearch(&wanted, parts->parts, parts->count, sizeof wanted, row_hash_by_part)
               : NULL;
}

struct row_hash hash_segments_find(const struct hash_segments *parts, int64_t part)
{
    const struct hash_segment *found = row_hash_find(parts, part);
    return found ? found->stored : (struct row_hash){ 0 };
}

int stored_read_all(struct db *db, const char *cluster, const char *table, struct row_hash *stored,
                    struct error *err)
{
    struct hash_segments parts;
    int result = stored_read(db, cluster, table, &parts, err);
    *stored = hash_segments_find(&parts, 0);
    hash_segments_free(&parts);
    return result;
}

void hash_segments_forget(struct hash_segments *parts, int64_t part)
{
    struct hash_segment *found = row_hash_find(parts, part);
    if (found)
        found->stored = (struct row_hash){ 0 };
}

int stored_write(struct db *db, const char *cluster, const char *table,
                 const struct hash_segment *part, struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', db_text(cluster) },
        { "table_name", 't', db_text(table) },
        { "part", 'i', db_integer(part->part) },
        { "row_count", 'i', rows_bits(part->stored.rows) },
        { "hash", 'i', rows_bits(part->stored.hash) },
    };
    struct db_value key[] = { row[0].value, row[1].value, row[2].value };
    if (!part->stored.rows)
        return db_execute(db, sql_query_kept_remove, key, COUNT(key), NULL, err);
    return rows_write_one(db, "fairmill_kept", COUNT(key), row, COUNT(row), err);
}

struct stray {
    char *table;
    int64_t part;
};

/*
 * Removes each row by its whole key.  In MySQL, a DELETE of a range would also lock the next row,
 * which may be a row of another cluster.
 */
int stored_remove_strays(struct db *db, const char *cluster, struct error *err)
{
    const struct db_value name = db_text(cluster), *row;
    struct stray *strays = NULL;
    size_t count = 0;
    struct db_rows *rows = db_query(db, sql_query_kept_strays, &name, 1, "ti", err);
    while (db_fetch(rows, &row, err) > 0)
        *memory_append(&strays, &count) = (struct stray){ db_value_text(&row[0]), row[1].integer };
    int result = db_finish(rows);
    for (size_t i = 0; i < count; i++) {
        const struct hash_segment gone = { .part = strays[i].part };
        if (!result)
            result = stored_write(db, cluster, strays[i].table, &gone, err);
        free(strays[i].table);
    }
    free(strays);
    return result;
}

/* ---- Rows that cannot be recomputed ---- */

const struct hashed_table stored_history = { "fairmill_history", sql_query_history_kept, "iinnnt",
                                             false };
const struct hashed_table stored_points = { "fairmill_history_point", sql_query_history_point_kept,
                                            "iit", false };
const struct hashed_table stored_backfill = { "fairmill_backfill", sql_query_backfill_kept, "ini",
                                              false };
const struct hashed_table stored_names = { "fairmill_association", sql_query_association_kept,
                                           "iiittt", false };
const struct hashed_table stored_changes = { "fairmill_share_change", sql_query_share_change_kept,
                                             "iiiiittttiii", false };
const struct hashed_table stored_factors = { "fairmill_qos_change", sql_query_qos_change_kept,
                                             "iitiitn", false };
const struct hashed_table stored_fairness = { "fairmill_fairness", sql_query_fairness_kept,
                                              "itinnnnn", false };
const struct hashed_table stored_share_past = { "fairmill_share_past", sql_query_share_past_kept,
                                                "iiiiittti", true };
const struct hashed_table stored_share_state = { "fairmill_share_state", sql_query_share_state_kept,
                                                 "iii", true };
const struct hashed_table stored_tres_names = { "fairmill_tres_name", sql_query_tres_name_kept,
                                                "iit", true };
const struct hashed_table *const stored_records[] = {
    &stored_history, &stored_points,   &stored_backfill,   &stored_names,      &stored_changes,
    &stored_factors, &stored_fairness, &stored_share_past, &stored_tres_names, NULL
};

/*
 * Returns the hash of a segment, after inserting it if it is new.  Most rows have the same segment
 * as the row before.
 */
static struct row_hash *row_hash_rows_of(struct hash_segments *parts, int64_t part)
{
    size_t low = 0, high = parts->count;
    if (high && parts->parts[high - 1].part <= part)
        low = high - (parts->parts[high - 1].part == part);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (parts->parts[middle].part < part)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == parts->count || parts->parts[low].part != part) {
        parts->parts = memory_grown(parts->parts, parts->count, sizeof *parts->parts);
        memmove(&parts->parts[low + 1], &parts->parts[low],
                (parts->count++ - low) * sizeof *parts->parts);
        parts->parts[low] = (struct hash_segment){ .part = part };
    }
    return &parts->parts[low].stored;
}

/*
 * Computes the hashes of the rows that a table has now: for the time `*only`, or for all times if
 * `only` is NULL.
 */
static int stored_find(struct db *db, const char *cluster, const struct hashed_table *table,
                       const int64_t *only, struct hash_segments *found, struct error *err)
{
    const struct db_value *row;
    struct db_value arguments[] = { db_text(cluster), db_integer(only ? *only : INT64_MIN),
                                    db_integer(only ? *only : INT64_MAX) };
    *found = (struct hash_segments){ 0 };
    struct db_rows *rows =
        db_query(db, table->read, arguments, COUNT(arguments), table->types, err);
    while (db_fetch(rows, &row, err) > 0)
        row_hash_add_values(row_hash_rows_of(found, row[0].integer), row + 1,
                            strlen(table->types) - 1);
    if (!db_finish(rows))
        return 0;
    hash_segments_free(found);
    return -1;
}

int stored_write_found(struct db *db, const char *cluster, const struct hashed_table *table,
                       int64_t part, struct error *err)
{
    struct hash_segments found;
    if (stored_find(db, cluster, table, &part, &found, err))
        return -1;
    const struct hash_segment written = { part, hash_segments_find(&found, part) };
    hash_segments_free(&found);
    return stored_write(db, cluster, table->name, &written, err);
}

/* Stores the hashes of all segments before `end` as they are now. */
static int stored_write_before(struct db *db, const char *cluster, const struct hashed_table *table,
                               int64_t end, struct error *err)
{
    struct hash_segments found;
    int result = stored_find(db, cluster, table, NULL, &found, err);
    for (size_t i = 0; !result && i < found.count && found.parts[i].part < end; i++)
        result = stored_write(db, cluster, table->name, &found.parts[i], err);
    hash_segments_free(&found);
    return result;
}

int stored_write_all(struct db *db, const char *cluster, const struct hashed_table *table,
                     struct error *err)
{
    return stored_write_before(db, cluster, table, INT64_MAX, err);
}

int stored_write_older(struct db *db, const char *cluster, const struct hashed_table *table,
                       int64_t part, struct error *err)
{
    const struct db_value of_table[] = { db_text(cluster), db_text(table->name) };
    int64_t oldest = INT64_MAX;
    if (rows_read_integer(db, sql_query_kept_oldest, of_table, COUNT(of_table), &oldest, err) < 0)
        return -1;
    return part < oldest ? stored_write_before(db, cluster, table, oldest, err) : 0;
}

static void stored_add_loss(struct kept_losses *losses, const struct kept_loss *loss)
{
    *memory_append(&losses->list, &losses->count) = *loss;
}

int stored_compare(struct db *db, const char *cluster, const struct hashed_table *table,
                   struct kept_losses *losses, struct error *err)
{
    struct hash_segments known, found;
    if (stored_read(db, cluster, table->name, &known, err))
        return -1;
    if (stored_find(db, cluster, table, NULL, &found, err)) {
        hash_segments_free(&known);
        return -1;
    }
    for (size_t i = 0; i < known.count; i++) {
        const struct hash_segment *part = &known.parts[i];
        struct row_hash there = hash_segments_find(&found, part->part);
        if (!row_hash_same(&part->stored, &there))
            stored_add_loss(losses, &(struct kept_loss){ table, part->part, part->stored, there });
    }
    /* An older release stored no hashes, so rows before the first hash are not compared. */
    for (size_t i = 0; i < found.count; i++) {
        const struct hash_segment *part = &found.parts[i];
        bool is_hashed = table->is_one_part || (known.count && part->part > known.parts[0].part);
        if (is_hashed && !row_hash_find(&known, part->part))
            stored_add_loss(losses,
                            &(struct kept_loss){ table, part->part, .found = part->stored });
    }
    hash_segments_free(&known);
    hash_segments_free(&found);
    return 0;
}

int stored_find_loss(struct db *db, const char *cluster, const struct hashed_table *table,
                     int64_t *first, struct error *err)
{
    struct kept_losses losses = { 0 };
    int result = stored_compare(db, cluster, table, &losses, err);
    for (size_t i = 0; i < losses.count; i++)
        if (!i || losses.list[i].part < *first)
            *first = losses.list[i].part;
    free(losses.list);
    return result;
}
