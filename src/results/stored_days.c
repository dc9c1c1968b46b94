/* SPDX-License-Identifier: MIT */
#include "results/stored_days.h"

#include "results/rows.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/error.h"

const char usage_span_table[] = "fairmill_usage_span";

static struct row_hash day_store_rows_of(const struct usage_span *span)
{
    const uint64_t words[] = { span->as_of, span->oldest_end, span->final_to };
    struct row_hash stored = { 0 };
    if (span->as_of)
        row_hash_add(&stored, words, COUNT(words));
    return stored;
}

static int day_store_read_row(struct db *db, const char *cluster, struct usage_span *span,
                              struct error *err)
{
    const struct db_value *row, name = db_text(cluster);
    *span = (struct usage_span){ .oldest_end = UINT64_MAX };
    struct db_rows *rows = db_query(db, sql_query_usage_span_read, &name, 1, "iii", err);
    if (db_fetch(rows, &row, err) > 0)
        *span = (struct usage_span){ rows_bits_of(&row[0]), rows_bits_of(&row[1]),
                                     rows_bits_of(&row[2]) };
    return db_finish(rows);
}

int usage_span_read(struct db *db, const char *cluster, struct usage_span *span, bool *known,
                    bool *intact, struct error *err)
{
    struct row_hash stored;
    int result = day_store_read_row(db, cluster, span, err);
    if (result && err->class != ERROR_DATA)
        return -1;
    if (stored_read_all(db, cluster, usage_span_table, &stored, err))
        return -1;
    struct row_hash found = day_store_rows_of(span);
    *known = stored.rows != 0;
    *intact = !result && row_hash_same(&stored, &found);
    return 0;
}

int usage_span_write(struct db *db, const char *cluster, const struct usage_span *span,
                     struct error *err)
{
    const struct hash_segment part = { 0, day_store_rows_of(span) };
    struct row_field row[] = {
        { "cluster", 't', db_text(cluster) },
        { "as_of", 'i', rows_bits(span->as_of) },
        { "oldest_end", 'i', rows_bits(span->oldest_end) },
        { "final_to", 'i', rows_bits(span->final_to) },
    };
    if (rows_write_one(db, usage_span_table, 1, row, COUNT(row), err))
        return -1;
    return stored_write(db, cluster, usage_span_table, &part, err);
}

int stored_days_read(struct db *db, const char *cluster, struct stored_days *stored,
                     struct error *err)
{
    bool known, intact;
    *stored = (struct stored_days){ 0 };
    return usage_span_read(db, cluster, &stored->span, &known, &intact, err) ||
                   stored_read(db, cluster, "fairmill_usage_day", &stored->days, err)
               ? -1
               : 0;
}

void stored_days_free(struct stored_days *stored)
{
    hash_segments_free(&stored->days);
}

static bool is_midnight(uint64_t time)
{
    return calendar_day(time) == time;
}

bool stored_days_are_strange(const struct stored_days *stored)
{
    for (size_t i = 0; i < stored->days.count; i++)
        if (!is_midnight((uint64_t)stored->days.parts[i].part))
            return true;
    return false;
}

/* The longest day, in seconds: 25 hours, when daylight saving time ends. */
#define LONGEST_DAY_S 90000u

uint64_t stored_days_border(const struct stored_days *stored, uint64_t from, uint64_t oldest_end)
{
    uint64_t low = from, last = 0, next = UINT64_MAX;
    if (stored->span.final_to > low)
        low = stored->span.final_to;
    if (oldest_end > stored->span.oldest_end && oldest_end > low)
        low = oldest_end;
    for (size_t i = 0; i < stored->days.count; i++) {
        uint64_t start = (uint64_t)stored->days.parts[i].part;
        if (start < low && start > last)
            last = start;
        if (start >= low && start < next)
            next = start;
    }
    uint64_t first = is_midnight(low) ? low : calendar_next_day(low), end = low;
    if (last)
        end = next - last < LONGEST_DAY_S ? next : last + LONGEST_DAY_S;
    bool is_ours = !last || (is_midnight(last) &&
                             (next - last > LONGEST_DAY_S || next == calendar_next_day(last)));
    if (is_ours && next >= first)
        return 0;
    if (!last)
        return next;
    return end > low ? end : low;
}
