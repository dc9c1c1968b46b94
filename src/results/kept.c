/* SPDX-License-Identifier: MIT */
#include "results/kept.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "results/rows.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"

void kept_add(struct kept_rows *kept, const uint64_t *words, size_t count)
{
    kept->rows++;
    kept->hash += hash_words(words, count);
}

/* Databases do not keep the sign of a zero alike. */
static uint64_t kept_real(double number)
{
    uint64_t bits;
    number += 0.0;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

uint64_t kept_text(const char *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

static uint64_t word_of(const struct db_value *value)
{
    switch (value->type) {
    case DB_INTEGER:
        return (uint64_t)value->integer;
    case DB_UNSIGNED:
        return value->unsigned_integer;
    case DB_REAL:
        return kept_real(value->real);
    case DB_TEXT:
        return kept_text(value->text.bytes, value->text.length);
    case DB_NULL:
        break;
    }
    return UINT64_C(0x7ff8dead00000000); /* as good as any */
}

#define COLUMNS_AT_MOST 40

void kept_add_values(struct kept_rows *kept, const struct db_value *values, size_t count)
{
    uint64_t words[COLUMNS_AT_MOST];
    for (size_t i = 0; i < count; i++)
        words[i] = word_of(&values[i]);
    kept_add(kept, words, count);
}

void kept_add_fields(struct kept_rows *kept, const struct row_field *fields, size_t count)
{
    uint64_t words[COLUMNS_AT_MOST];
    for (size_t i = 0; i < count; i++)
        words[i] = word_of(&fields[i].value);
    kept_add(kept, words, count);
}

bool kept_same(const struct kept_rows *one, const struct kept_rows *other)
{
    return one->rows == other->rows && one->hash == other->hash;
}

int kept_read(struct db *db, const char *cluster, const char *table, struct kept_parts *parts,
              struct error *err)
{
    const struct db_value *row;
    struct db_value arguments[] = { db_text(cluster), db_text(table) };
    *parts = (struct kept_parts){ 0 };
    struct db_rows *rows = db_query(db, sql_query_kept_read, arguments, 2, "iii", err);
    while (db_fetch(rows, &row, err) > 0) {
        parts->parts = memory_grown(parts->parts, parts->count, sizeof *parts->parts);
        parts->parts[parts->count++] = (struct kept_part){
            row[0].integer,
            { rows_bits_of(&row[1]), rows_bits_of(&row[2]) },
        };
    }
    if (!db_finish(rows))
        return 0;
    kept_parts_free(parts);
    return -1;
}

void kept_parts_free(struct kept_parts *parts)
{
    free(parts->parts);
    *parts = (struct kept_parts){ 0 };
}

static int by_part(const void *a, const void *b)
{
    const struct kept_part *one = a, *other = b;
    return (one->part > other->part) - (one->part < other->part);
}

static struct kept_part *find(const struct kept_parts *parts, int64_t part)
{
    const struct kept_part wanted = { .part = part };
    return parts->count ? bsearch(&wanted, parts->parts, parts->count, sizeof wanted, by_part)
                        : NULL;
}

struct kept_rows kept_of(const struct kept_parts *parts, int64_t part)
{
    const struct kept_part *found = find(parts, part);
    return found ? found->kept : (struct kept_rows){ 0 };
}

int kept_read_all(struct db *db, const char *cluster, const char *table, struct kept_rows *stored,
                  struct error *err)
{
    struct kept_parts parts;
    int result = kept_read(db, cluster, table, &parts, err);
    *stored = kept_of(&parts, 0);
    kept_parts_free(&parts);
    return result;
}

void kept_forget(struct kept_parts *parts, int64_t part)
{
    struct kept_part *found = find(parts, part);
    if (found)
        found->kept = (struct kept_rows){ 0 };
}

int kept_write(struct db *db, const char *cluster, const char *table, const struct kept_part *part,
               struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', db_text(cluster) },
        { "table_name", 't', db_text(table) },
        { "part", 'i', db_integer(part->part) },
        { "row_count", 'i', rows_bits(part->kept.rows) },
        { "hash", 'i', rows_bits(part->kept.hash) },
    };
    struct db_value key[] = { row[0].value, row[1].value, row[2].value };
    if (!part->kept.rows)
        return db_execute(db, sql_query_kept_remove, key, COUNT(key), NULL, err);
    return rows_write_one(db, "fairmill_kept", COUNT(key), row, COUNT(row), err);
}

struct stray {
    char *table;
    int64_t part;
};

/* A DELETE of a range would lock the row behind it, too, in MySQL: another cluster's.  So each row
 * is removed by its whole key. */
int kept_remove_strays(struct db *db, const char *cluster, struct error *err)
{
    const struct db_value name = db_text(cluster), *row;
    struct stray *strays = NULL;
    size_t count = 0;
    struct db_rows *rows = db_query(db, sql_query_kept_strays, &name, 1, "ti", err);
    while (db_fetch(rows, &row, err) > 0) {
        strays = memory_grown(strays, count, sizeof *strays);
        strays[count++] = (struct stray){ db_value_text(&row[0]), row[1].integer };
    }
    int result = db_finish(rows);
    for (size_t i = 0; i < count; i++) {
        const struct kept_part gone = { .part = strays[i].part };
        if (!result)
            result = kept_write(db, cluster, strays[i].table, &gone, err);
        free(strays[i].table);
    }
    free(strays);
    return result;
}

/* ---- What cannot be made anew ---- */

const struct kept_table kept_history = { "fairmill_history", sql_query_history_kept, "iinnnt",
                                         false };
const struct kept_table kept_points = { "fairmill_history_point", sql_query_history_point_kept,
                                        "iit", false };
const struct kept_table kept_backfill = { "fairmill_backfill", sql_query_backfill_kept, "ini",
                                          false };
const struct kept_table kept_names = { "fairmill_association", sql_query_association_kept, "iiittt",
                                       false };
const struct kept_table kept_changes = { "fairmill_share_change", sql_query_share_change_kept,
                                         "iiiiittttiii", false };
const struct kept_table kept_factors = { "fairmill_qos_change", sql_query_qos_change_kept,
                                         "iitiitn", false };
const struct kept_table kept_fairness = { "fairmill_fairness", sql_query_fairness_kept, "itinnnnn",
                                          false };
const struct kept_table kept_share_past = { "fairmill_share_past", sql_query_share_past_kept,
                                            "iiiiittti", true };
const struct kept_table kept_share_state = { "fairmill_share_state", sql_query_share_state_kept,
                                             "iii", true };
const struct kept_table *const kept_records[] = { &kept_history,  &kept_points,     &kept_backfill,
                                                  &kept_names,    &kept_changes,    &kept_factors,
                                                  &kept_fairness, &kept_share_past, NULL };

/* The rows of a part, which is put in where it is new.  Most rows follow one of the same part. */
static struct kept_rows *rows_of(struct kept_parts *parts, int64_t part)
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
        parts->parts[low] = (struct kept_part){ .part = part };
    }
    return &parts->parts[low].kept;
}

/* What is there, of one instant only or (NULL) of all. */
static int kept_find(struct db *db, const char *cluster, const struct kept_table *table,
                     const int64_t *only, struct kept_parts *found, struct error *err)
{
    const struct db_value *row;
    struct db_value arguments[] = { db_text(cluster), db_integer(only ? *only : INT64_MIN),
                                    db_integer(only ? *only : INT64_MAX) };
    *found = (struct kept_parts){ 0 };
    struct db_rows *rows =
        db_query(db, table->read, arguments, COUNT(arguments), table->types, err);
    while (db_fetch(rows, &row, err) > 0)
        kept_add_values(rows_of(found, row[0].integer), row + 1, strlen(table->types) - 1);
    if (!db_finish(rows))
        return 0;
    kept_parts_free(found);
    return -1;
}

int kept_write_found(struct db *db, const char *cluster, const struct kept_table *table,
                     int64_t part, struct error *err)
{
    struct kept_parts found;
    if (kept_find(db, cluster, table, &part, &found, err))
        return -1;
    const struct kept_part written = { part, kept_of(&found, part) };
    kept_parts_free(&found);
    return kept_write(db, cluster, table->name, &written, err);
}

/* Keep what is there of all parts before one. */
static int kept_write_before(struct db *db, const char *cluster, const struct kept_table *table,
                             int64_t end, struct error *err)
{
    struct kept_parts found;
    int result = kept_find(db, cluster, table, NULL, &found, err);
    for (size_t i = 0; !result && i < found.count && found.parts[i].part < end; i++)
        result = kept_write(db, cluster, table->name, &found.parts[i], err);
    kept_parts_free(&found);
    return result;
}

int kept_write_all(struct db *db, const char *cluster, const struct kept_table *table,
                   struct error *err)
{
    return kept_write_before(db, cluster, table, INT64_MAX, err);
}

int kept_write_older(struct db *db, const char *cluster, const struct kept_table *table,
                     int64_t part, struct error *err)
{
    const struct db_value of_table[] = { db_text(cluster), db_text(table->name) };
    int64_t oldest = INT64_MAX;
    if (rows_read_integer(db, sql_query_kept_oldest, of_table, COUNT(of_table), &oldest, err) < 0)
        return -1;
    return part < oldest ? kept_write_before(db, cluster, table, oldest, err) : 0;
}

static void kept_add_loss(struct kept_losses *losses, const struct kept_loss *loss)
{
    losses->list = memory_grown(losses->list, losses->count, sizeof *losses->list);
    losses->list[losses->count++] = *loss;
}

int kept_compare(struct db *db, const char *cluster, const struct kept_table *table,
                 struct kept_losses *losses, struct error *err)
{
    struct kept_parts known, found;
    if (kept_read(db, cluster, table->name, &known, err))
        return -1;
    if (kept_find(db, cluster, table, NULL, &found, err)) {
        kept_parts_free(&known);
        return -1;
    }
    for (size_t i = 0; i < known.count; i++) {
        const struct kept_part *part = &known.parts[i];
        struct kept_rows there = kept_of(&found, part->part);
        if (!kept_same(&part->kept, &there))
            kept_add_loss(losses, &(struct kept_loss){ table, part->part, part->kept, there });
    }
    /* Of what is older than anything that is known an older release kept no hash. */
    for (size_t i = 0; i < found.count; i++) {
        const struct kept_part *part = &found.parts[i];
        bool is_hashed = table->is_one_part || (known.count && part->part > known.parts[0].part);
        if (is_hashed && !find(&known, part->part))
            kept_add_loss(losses, &(struct kept_loss){ table, part->part, .found = part->kept });
    }
    kept_parts_free(&known);
    kept_parts_free(&found);
    return 0;
}

int kept_find_loss(struct db *db, const char *cluster, const struct kept_table *table,
                   int64_t *first, struct error *err)
{
    struct kept_losses losses = { 0 };
    int result = kept_compare(db, cluster, table, &losses, err);
    for (size_t i = 0; i < losses.count; i++)
        if (!i || losses.list[i].part < *first)
            *first = losses.list[i].part;
    free(losses.list);
    return result;
}
