/* SPDX-License-Identifier: MIT */
#include "results/day_hashes.h"

#include <stdlib.h>

#include <xxhash.h>

#include "results/days.h"
#include "results/rows.h"
#include "sql.h"
#include "util/memory.h"

/* One of so many days is read although its hash agrees. */
#define DAYS_BETWEEN_CHECKS 32

struct day_hash {
    uint64_t hash; /* the sum of those of all rows: rows may come and go by themselves */
    bool known, changed;
};

struct day_hashes {
    struct db *db;
    const struct db_value *cluster;
    const struct days *days;
    struct day_hash *of_day;
    uint64_t *others; /* days with a stored hash that are none of ours */
    size_t other_count;
};

bool day_sum_has_row(const struct day_sum *sum)
{
    return sum && !wide_is_zero(&sum->sum) && !wide_is_negative(&sum->sum);
}

static uint64_t hash_of(const struct day_sum *sum)
{
    if (!day_sum_has_row(sum))
        return 0;
    const uint64_t parts[] = { sum->id, sum->sum.word[0], sum->sum.word[1], sum->sum.word[2] };
    return XXH3_64bits(parts, sizeof parts);
}

static uint64_t hash_of_all(const struct day_sum *sums, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        hash += hash_of(&sums[i]);
    return hash;
}

static void set_stored(struct day_hashes *hashes, uint64_t day, uint64_t hash)
{
    size_t place = days_find(hashes->days, day);
    if (place < hashes->days->count) {
        hashes->of_day[place] = (struct day_hash){ hash, true, false };
        return;
    }
    hashes->others = memory_grown(hashes->others, hashes->other_count, sizeof *hashes->others);
    hashes->others[hashes->other_count++] = day;
}

static int read_all(struct day_hashes *hashes, struct error *err)
{
    const struct db_value *row;
    struct db_rows *rows =
        db_query(hashes->db, sql_query_usage_hash_read, hashes->cluster, 1, "ii", err);
    while (db_fetch(rows, &row, err) > 0)
        set_stored(hashes, rows_bits_of(&row[0]), rows_bits_of(&row[1]));
    return db_finish(rows);
}

int day_hashes_read(struct db *db, const struct db_value *cluster, const struct days *days,
                    uint64_t as_of, struct day_hashes **read, struct error *err)
{
    struct day_hashes *hashes = memory_zeroed(1, sizeof *hashes);
    hashes->db = db;
    hashes->cluster = cluster;
    hashes->days = days;
    hashes->of_day = memory_zeroed(days->count, sizeof *hashes->of_day);
    /* No run has written of days that had not begun. */
    for (size_t i = 0; i < days->count; i++)
        hashes->of_day[i].known = as_of && days->starts[i] > as_of;
    if (read_all(hashes, err)) {
        day_hashes_destroy(hashes);
        return -1;
    }
    *read = hashes;
    return 0;
}

void day_hashes_destroy(struct day_hashes *hashes)
{
    if (!hashes)
        return;
    free(hashes->of_day);
    free(hashes->others);
    free(hashes);
}

static bool is_checked(const struct days *days, uint32_t day)
{
    return days->starts[day] / 86400 % DAYS_BETWEEN_CHECKS ==
           days->now / 86400 % DAYS_BETWEEN_CHECKS;
}

bool day_hashes_agree(const struct day_hashes *hashes, uint32_t day, const struct day_sum *sums,
                      size_t count)
{
    const struct day_hash *stored = &hashes->of_day[day];
    return stored->known && stored->hash == hash_of_all(sums, count) &&
           !is_checked(hashes->days, day);
}

void day_hashes_set(struct day_hashes *hashes, uint32_t day, const struct day_sum *sums,
                    size_t count)
{
    struct day_hash *stored = &hashes->of_day[day];
    uint64_t hash = hash_of_all(sums, count);
    if (stored->hash != hash || (hash && !stored->known))
        *stored = (struct day_hash){ hash, true, true };
}

void day_hashes_replace(struct day_hashes *hashes, uint32_t day, const struct day_sum *old,
                        const struct day_sum *new)
{
    struct day_hash *stored = &hashes->of_day[day];
    stored->hash += hash_of(new) - hash_of(old);
    stored->changed |= stored->known;
}

static int clear(struct day_hashes *hashes, uint64_t day, struct error *err)
{
    struct db_value arguments[] = { *hashes->cluster, rows_bits(day) };
    return db_execute(hashes->db, sql_query_usage_hash_clear, arguments, 2, NULL, err);
}

/* Days of another time zone have no rows any more, or none that are compared. */
static int clear_others(struct day_hashes *hashes, struct error *err)
{
    for (size_t i = 0; hashes->days->anew && i < hashes->other_count; i++)
        if (clear(hashes, hashes->others[i], err))
            return -1;
    return 0;
}

static void write_one(struct day_hashes *hashes, size_t day, struct row_writer *writer,
                      struct error *err)
{
    struct row_field row[] = {
        { "cluster", 't', *hashes->cluster },
        { "day", 'i', rows_bits(hashes->days->starts[day]) },
        { "hash", 'i', rows_bits(hashes->of_day[day].hash) },
    };
    rows_add(writer, row, COUNT(row), err);
}

/* A day without rows has no hash either, so that it goes with them. */
int day_hashes_write(struct day_hashes *hashes, struct error *err)
{
    struct row_writer writer = { .db = hashes->db, .table = "fairmill_usage_hash", .keys = 2 };
    if (clear_others(hashes, err))
        return -1;
    for (size_t i = 0; i < hashes->days->count; i++)
        if (hashes->of_day[i].changed && !hashes->of_day[i].hash &&
            clear(hashes, hashes->days->starts[i], err))
            return -1;
    for (size_t i = 0; i < hashes->days->count; i++)
        if (hashes->of_day[i].changed && hashes->of_day[i].hash)
            write_one(hashes, i, &writer, err);
    return rows_end(&writer, 0, err);
}
