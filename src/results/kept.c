/* SPDX-License-Identifier: MIT */
#include "results/kept.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "results/rows.h"
#include "sql.h"
#include "util/memory.h"

void kept_add(struct kept_rows *kept, const uint64_t *words, size_t count)
{
    kept->rows++;
    kept->hash += XXH3_64bits(words, count * sizeof *words);
}

void kept_remove(struct kept_rows *kept, const uint64_t *words, size_t count)
{
    kept->rows--;
    kept->hash -= XXH3_64bits(words, count * sizeof *words);
}

/* Databases do not keep the sign of a zero alike. */
uint64_t kept_real(double number)
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
