/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "results/day_waits.h"
#include "results/days.h"
#include "results/key_spool.h"
#include "results/publication.h"
#include "results/rows.h"
#include "results/stored_state.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/*
 * Writes the counts of struct day_waits; see wait_rows_write() in publication.h.
 *
 * fairmill_wait_final has the jobs in the checkpoint.  A run that reads all jobs replaces the days
 * whose counts differ from the stored ones.  An incremental run adds the jobs that have entered the
 * checkpoint since the previous run.  fairmill_wait_open has all other jobs, and each run replaces
 * the days that differ.  Both kinds of run find such days by the row hashes, without reading rows.
 *
 * A run that reads all jobs cannot count the days whose jobs were purged or are no longer read.  It
 * leaves the sum of these days unchanged: it only moves jobs that were open at the previous run,
 * and are not open now, from fairmill_wait_open to fairmill_wait_final.
 */

struct wait_table {
    const char *name;
    const char *clear, *read; /* queries for the rows of a day */
    bool checkpointed;
};
static const struct wait_table wait_tables[] = {
    { "fairmill_wait_open", sql_query_wait_open_clear, sql_query_wait_open_read, false },
    { "fairmill_wait_final", sql_query_wait_final_clear, sql_query_wait_final_read, true },
};

struct wait_writer {
    struct db *db;
    const char *name; /* of the cluster */
    struct db_value cluster;
    struct days *days;
    const struct wait_table *table;
    struct hash_segments stored;  /* of the table's days */
    struct hash_segments counted; /* of the days on which this run counted jobs */
    uint64_t first;               /* days before this time cannot be counted again */
    struct key_counts *moved;     /* jobs to add to fairmill_wait_final on days before `first` */
};
#define DAMAGED_ROWS UINT64_MAX

static struct wait_key wait_key_of(const struct db_value *row)
{
    struct wait_key key = {
        .association = rows_bits_of(&row[0]),
        .partition = "",
        .qos = "",
        .bucket_s = db_value_integer(&row[3], 0),
    };
    if (row[1].type == DB_TEXT) {
        key.partition = row[1].text.bytes;
        key.partition_length = row[1].text.length;
    }
    if (row[2].type == DB_TEXT) {
        key.qos = row[2].text.bytes;
        key.qos_length = row[2].text.length;
    }
    return key;
}

/* Sets `*found` to the hash of the stored rows of a day.  Returns -1 on error. */
static int wait_rows_read_hash(const struct wait_writer *writer, uint64_t start,
                               struct row_hash *found, struct error *err)
{
    const struct db_value *row, of_day[] = { writer->cluster, rows_bits(start) };
    struct db_rows *rows =
        db_query(writer->db, writer->table->read, of_day, COUNT(of_day), "ittii", err);
    *found = (struct row_hash){ 0 };
    while (db_fetch(rows, &row, err) > 0) {
        const struct wait_key key = wait_key_of(row);
        wait_key_add_hash(found, &key, rows_bits_of(&row[4]));
    }
    return db_finish(rows);
}

static int wait_rows_keep(const struct wait_writer *writer, uint64_t start,
                          const struct row_hash *hash, struct error *err)
{
    const struct hash_segment part = { (int64_t)start, *hash };
    return stored_write(writer->db, writer->name, writer->table->name, &part, err);
}

static struct row_hash wait_rows_hash(const struct day_waits *waits,
                                      const struct key_counts *counts)
{
    struct row_hash hash = { 0 };
    for (size_t i = 0; i < counts->count; i++) {
        const struct wait_key key = day_waits_key(waits, counts->list[i].key);
        wait_key_add_hash(&hash, &key, counts->list[i].count);
    }
    return hash;
}

/* Adds the row of a count of the day that begins at `start`. */
static int wait_rows_add_count(const struct wait_writer *writer, struct row_writer *rows,
                               uint64_t start, const struct key_count *count, struct error *err)
{
    const struct wait_key key = day_waits_key(writer->days->waits, count->key);
    const struct row_field row[] = {
        { "cluster", 't', writer->cluster },
        { "day", 'i', rows_bits(start) },
        { "id_assoc", 'i', rows_bits(key.association) },
        { "partition_name", 't', db_bytes(key.partition, key.partition_length) },
        { "qos", 't', db_bytes(key.qos, key.qos_length) },
        { "bucket_s", 'i', db_integer(key.bucket_s) },
        { "jobs", 'i', rows_bits(count->count) },
    };
    return rows_add(rows, row, COUNT(row), err);
}

/* Writes the rows of a day.  With `keys`, as in struct row_writer, replaces existing rows. */
static int wait_rows_add_counts(const struct wait_writer *writer, uint64_t start, size_t keys,
                                const struct key_counts *counts, struct error *err)
{
    struct row_writer rows = { .db = writer->db, .table = writer->table->name, .keys = keys };
    int result = 0;
    for (size_t i = 0; !result && i < counts->count; i++)
        result = wait_rows_add_count(writer, &rows, start, &counts->list[i], err);
    return rows_end(&rows, result, err);
}

static int wait_count_compare(const void *a, const void *b)
{
    const struct key_count *one = a, *other = b;
    return (one->key > other->key) - (one->key < other->key);
}

/* Returns the count of a stored row's key, or NULL if `counts` has none.  Sets `*found` to the key,
 * and to the number of jobs of the row. */
static struct key_count *wait_rows_match(const struct wait_writer *writer, size_t day,
                                         const struct db_value *row,
                                         const struct key_counts *counts, struct key_count *found)
{
    const struct wait_key key = wait_key_of(row);
    *found = (struct key_count){ 0, rows_bits_of(&row[4]) };
    if (found->count > INT64_MAX || !day_waits_find(writer->days->waits, day, &key, &found->key)) {
        found->count = 0;
        return NULL;
    }
    return counts->count
               ? bsearch(found, counts->list, counts->count, sizeof *found, wait_count_compare)
               : NULL;
}

static int wait_rows_clear(const struct wait_writer *writer, uint64_t start, struct error *err)
{
    const struct db_value of_day[] = { writer->cluster, rows_bits(start) };
    return db_execute(writer->db, writer->table->clear, of_day, COUNT(of_day), NULL, err);
}

/*
 * Adds the jobs that the stored rows of an open day have in excess of `counts` to writer->moved,
 * but at most `gone` jobs, because the names of a running job can change.  Ignores rows that no run
 * wrote.
 */
static int wait_rows_move(struct wait_writer *writer, uint64_t start,
                          const struct key_counts *counts, uint64_t gone, struct error *err)
{
    const struct db_value *row, of_day[] = { writer->cluster, rows_bits(start) };
    const size_t day = day_waits_day(writer->days->waits, start);
    struct db_rows *rows =
        db_query(writer->db, writer->table->read, of_day, COUNT(of_day), "ittii", err);
    while (db_fetch(rows, &row, err) > 0) {
        struct key_count old;
        const struct key_count *new = wait_rows_match(writer, day, row, counts, &old);
        uint64_t still = new ? new->count : 0, fewer = old.count > still ? old.count - still : 0;
        fewer = fewer < gone ? fewer : gone;
        gone -= fewer;
        if (fewer)
            *memory_append(&writer->moved->list, &writer->moved->count) =
                (struct key_count){ old.key, fewer };
    }
    return db_finish(rows);
}

/* Replaces the rows of a day if their hash differs. */
static int wait_rows_replace(struct wait_writer *writer, uint64_t start,
                             const struct key_counts *counts, struct error *err)
{
    const struct row_hash known = hash_segments_find(&writer->stored, (int64_t)start);
    const struct row_hash new = wait_rows_hash(writer->days->waits, counts);
    if (row_hash_same(&known, &new))
        return 0;
    /* After a change of the time zone, the open jobs of a day are counted on other days. */
    bool moves = writer->days->anew && !writer->table->checkpointed && start < writer->first &&
                 calendar_day(start) == start && known.rows != DAMAGED_ROWS &&
                 known.rows > new.rows;
    return (moves && wait_rows_move(writer, start, counts, known.rows - new.rows, err)) ||
                   wait_rows_clear(writer, start, err) ||
                   wait_rows_add_counts(writer, start, 0, counts, err) ||
                   wait_rows_keep(writer, start, &new, err)
               ? -1
               : 0;
}

/* Adds the stored rows of a day to `counts` where both have the same key. */
static int wait_rows_add_stored(const struct wait_writer *writer, size_t day,
                                const struct key_counts *counts, struct error *err)
{
    const struct day_waits *waits = writer->days->waits;
    const struct db_value of_day[] = { writer->cluster, rows_bits(day_waits_start(waits, day)) };
    uint64_t ids[ROW_IDS_AT_ONCE];
    for (size_t next = 0; next < counts->count;) {
        const struct db_value *row;
        size_t count = 0;
        for (; next < counts->count && count < ROW_IDS_AT_ONCE; next++) {
            uint64_t id = day_waits_key(waits, counts->list[next].key).association;
            if (!count || ids[count - 1] != id)
                ids[count++] = id;
        }
        struct db_rows *rows = rows_query_for(writer->db, sql_query_wait_final_of, of_day,
                                              (struct row_ids){ ids, count }, "ittii", err);
        while (db_fetch(rows, &row, err) > 0) {
            struct key_count old, *new = wait_rows_match(writer, day, row, counts, &old);
            if (new)
                new->count += old.count;
        }
        if (db_finish(rows))
            return -1;
    }
    return 0;
}

/* The columns of the primary key. */
#define WAIT_KEYS 6

/* Adds counts to the stored rows of a day.  Changes `counts` to the sums. */
static int wait_rows_add(struct wait_writer *writer, size_t day, const struct key_counts *counts,
                         struct error *err)
{
    const struct day_waits *waits = writer->days->waits;
    const uint64_t start = day_waits_start(waits, day);
    const struct row_hash more = wait_rows_hash(waits, counts);
    struct row_hash hash = hash_segments_find(&writer->stored, (int64_t)start);
    hash.rows += more.rows;
    hash.hash += more.hash;
    return wait_rows_add_stored(writer, day, counts, err) ||
                   wait_rows_add_counts(writer, start, WAIT_KEYS, counts, err) ||
                   wait_rows_keep(writer, start, &hash, err)
               ? -1
               : 0;
}

static int wait_rows_write_day(struct wait_writer *writer, size_t day, struct error *err)
{
    struct days *days = writer->days;
    bool checkpointed = writer->table->checkpointed;
    uint64_t start = day_waits_start(days->waits, day);
    struct key_counts counts;
    int result = day_waits_take(days->waits, checkpointed, day, &counts, err);
    if (result)
        days->failed = true;
    if (!result && counts.count) {
        *memory_append(&writer->counted.parts, &writer->counted.count) =
            (struct hash_segment){ .part = (int64_t)start };
        if (!checkpointed || (days->anew && start >= writer->first))
            result = wait_rows_replace(writer, start, &counts, err);
        else if (!days->anew)
            result = wait_rows_add(writer, day, &counts, err);
    }
    free(counts.list);
    return result ? -1 : 0;
}

static bool wait_rows_has(const struct wait_writer *writer, int64_t part)
{
    for (size_t i = 0; i < writer->counted.count; i++)
        if (writer->counted.parts[i].part == part)
            return true;
    return false;
}

/* Removes the rows of days on which this run counted no jobs. */
static int wait_rows_remove_others(struct wait_writer *writer, struct error *err)
{
    static const struct key_counts none = { 0 };
    for (size_t i = 0; i < writer->stored.count; i++) {
        uint64_t start = (uint64_t)writer->stored.parts[i].part;
        bool is_final = writer->table->checkpointed && start < writer->first;
        if (!is_final && !wait_rows_has(writer, (int64_t)start) &&
            wait_rows_replace(writer, start, &none, err))
            return -1;
    }
    return 0;
}

/*
 * Handles a day whose rows do not match their hash.  An incremental run fails with ERROR_DAMAGED.
 * A run that reads all jobs counts the day again.  If that is impossible, the rows are kept, and
 * their hash is stored so that the mismatch is reported once.
 */
static int wait_rows_note_damage(struct wait_writer *writer, struct hash_segment *part,
                                 const struct row_hash *found, struct error *err)
{
    struct day_repairs *repairs = &writer->days->repairs;
    uint64_t start = (uint64_t)part->part;
    struct text name = { 0 };
    if (writer->table->checkpointed && start < writer->first) {
        if (!repairs->lost++)
            repairs->first_lost = start;
        part->stored = *found;
        return wait_rows_keep(writer, start, found, err);
    }
    repairs->waits++;
    part->stored = (struct row_hash){ .rows = DAMAGED_ROWS };
    if (writer->days->anew || !writer->table->checkpointed)
        return 0;
    time_add_day(&name, part->part);
    fail(err, ERROR_DAMAGED, "rows of %s for %s do not match their stored hash",
         writer->table->name, name.bytes);
    text_free(&name);
    return -1;
}

/* Verifies the rows of days in turn, or of all days. */
static int wait_rows_check(struct wait_writer *writer, struct error *err)
{
    const struct days *days = writer->days;
    for (size_t i = 0; i < writer->stored.count; i++) {
        struct hash_segment *part = &writer->stored.parts[i];
        uint64_t start = (uint64_t)part->part;
        struct row_hash found;
        if (!days->check_all && (start < days->check_from || start >= days->check_to))
            continue;
        if (wait_rows_read_hash(writer, start, &found, err) ||
            (!row_hash_same(&part->stored, &found) &&
             wait_rows_note_damage(writer, part, &found, err)))
            return -1;
    }
    return 0;
}

/* Adds the moved jobs to fairmill_wait_final. */
static int wait_rows_add_moved(struct wait_writer *writer, struct error *err)
{
    const struct key_counts *moved = writer->moved;
    int result = 0;
    if (moved->count)
        qsort(moved->list, moved->count, sizeof *moved->list, wait_count_compare);
    for (size_t from = 0, to = 0; !result && from < moved->count; from = to) {
        const size_t day = day_waits_key_day(moved->list[from].key);
        while (to < moved->count && day_waits_key_day(moved->list[to].key) == day)
            to++;
        const struct key_counts counts = { moved->list + from, to - from };
        result = wait_rows_add(writer, day, &counts, err);
    }
    return result;
}

static int wait_rows_write_table(struct wait_writer *writer, struct error *err)
{
    struct days *days = writer->days;
    int result = stored_read(writer->db, writer->name, writer->table->name, &writer->stored, err);
    if (!result)
        result = wait_rows_check(writer, err);
    for (size_t day = 0; !result && day < day_waits_count(days->waits); day++)
        result = wait_rows_write_day(writer, day, err);
    if (!result && (days->anew || !writer->table->checkpointed))
        result = wait_rows_remove_others(writer, err);
    if (!result && writer->table->checkpointed)
        result = wait_rows_add_moved(writer, err);
    hash_segments_free(&writer->stored);
    hash_segments_free(&writer->counted);
    return result ? -1 : 0;
}

int wait_rows_write(const struct publisher *publisher, struct days *days, uint64_t first,
                    struct error *err)
{
    if (!days->waits)
        return 0;
    struct key_counts moved = { 0 };
    int result = 0;
    day_waits_rewind(days->waits);
    for (size_t i = 0; !result && i < COUNT(wait_tables); i++) {
        struct wait_writer writer = {
            .db = publisher->db,
            .name = publisher->cluster,
            .cluster = db_text(publisher->cluster),
            .days = days,
            .table = &wait_tables[i],
            .first = first,
            .moved = &moved,
        };
        result = wait_rows_write_table(&writer, err);
    }
    free(moved.list);
    return result;
}
