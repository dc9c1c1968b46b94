/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>

#include "core/usage/seal.h"
#include "db/db.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "source/reading.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/text.h"

/* slurmdbd's jobs, and when they were suspended. */

/* A few keys a statement, or a server takes longer to read it than to answer. */
#define KEYS_A_QUERY 500

/* The part of a range that one query reads. */
struct selection {
    const char *hint;  /* behind the table's name */
    struct text where; /* a condition on the job table, named j */
    struct db_value arguments[KEYS_A_QUERY + 3];
    size_t count;
    bool has_many; /* there may be very many rows: worth a statement that no other run repeats */
};

struct job_reader {
    struct db *db;
    const struct settings *settings;
    const char *cluster;
    const struct accounting *accounting;
    unsigned columns;
    const struct table *jobs;
    job_taker take;
    suspension_taker take_suspension;
    void *context;
    /* Reads what is selected. */
    int (*read)(struct job_reader *reader, const struct selection *selection, struct error *err);
};

static struct job_reader reader_of(struct db *db, const struct settings *settings,
                                   const char *cluster, const struct accounting *accounting,
                                   void *context)
{
    return (struct job_reader){
        .db = db,
        .settings = settings,
        .cluster = cluster,
        .accounting = accounting,
        .columns = slurmdbd_job_columns(settings),
        .jobs = &slurmdbd_jobs,
        .context = context,
    };
}

/* An instant as databases hold it. */
static struct db_value instant_value(uint64_t instant)
{
    return db_integer(instant > INT64_MAX ? INT64_MAX : (int64_t)instant);
}

static int take_number(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    *(uint64_t *)context = reading_number(&row[0]);
    return 0;
}

static int take_key(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    job_keys_add(context, reading_number(&row[0]));
    return 0;
}

/* A query on the job table, which is named j. */
static void add_query(struct text *sql, const struct job_reader *reader, const char *columns,
                      const char *rest)
{
    text_format(sql, "SELECT %s FROM ", columns);
    slurmdbd_add_name(sql, reader->jobs, reader->cluster);
    text_format(sql, " j %s", rest);
}

/* Run one with few rows. */
static int query_jobs(const struct job_reader *reader, const char *columns, const char *rest,
                      const struct db_value *arguments, size_t count, const char *types,
                      row_taker take, void *context, struct error *err)
{
    struct text sql = { 0 };
    add_query(&sql, reader, columns, rest);
    int result = slurmdbd_read(reader->db, reader->jobs, reader->cluster, sql.bytes, arguments,
                               count, types, take, context, err);
    text_free(&sql);
    return result;
}

/* The key from which on nearly all rows are newer than an instant, 0 where there is none.  Rows get
 * their keys about when they become eligible; of some that did then the middle one is taken, as a
 * job may have waited for months.  Whatever comes out is good, only speed hangs on it. */
#define ROWS_TO_LOOK_AT 64
#define EARLIER_S 43200
static int find_recent_key(const struct job_reader *reader, uint64_t instant, uint64_t *key,
                           struct error *err)
{
    struct job_keys keys = { 0 };
    struct text rest = { 0 };
    struct db_value since = instant_value(instant > EARLIER_S ? instant - EARLIER_S : 0);
    text_format(&rest, "WHERE \"time_eligible\" >= ? ORDER BY \"time_eligible\" LIMIT %d",
                ROWS_TO_LOOK_AT);
    int result =
        query_jobs(reader, "\"job_db_inx\"", rest.bytes, &since, 1, "i", take_key, &keys, err);
    job_keys_sort(&keys);
    *key = keys.count ? keys.keys[keys.count / 2] : 0;
    text_free(&rest);
    job_keys_free(&keys);
    return result;
}

static int read_selected(struct job_reader *reader, const char *hint, const char *where,
                         const struct db_value *arguments, size_t count, bool has_many,
                         struct error *err)
{
    struct selection selection = { .hint = hint, .count = count, .has_many = has_many };
    text_add(&selection.where, where);
    for (size_t i = 0; i < count; i++)
        selection.arguments[i] = arguments[i];
    int result = reader->read(reader, &selection, err);
    text_free(&selection.where);
    return result;
}

static int read_by_key(struct job_reader *reader, const struct job_range *range, struct error *err)
{
    int result = 0;
    for (size_t done = 0; !result && done < range->key_count; done += KEYS_A_QUERY) {
        size_t left = range->key_count - done, count = left < KEYS_A_QUERY ? left : KEYS_A_QUERY;
        struct selection selection = { .hint = "", .count = count + 2 };
        selection.arguments[0] = instant_value(range->from);
        selection.arguments[1] = instant_value(range->to);
        text_add(&selection.where,
                 "j.\"time_end\" >= ? AND j.\"time_end\" < ? AND j.\"job_db_inx\" IN (");
        for (size_t i = 0; i < count; i++) {
            text_add(&selection.where, i ? ", ?" : "?");
            selection.arguments[i + 2] = db_unsigned(range->keys[done + i]);
        }
        text_add(&selection.where, ")");
        result = reader->read(reader, &selection, err);
        text_free(&selection.where);
    }
    return result;
}

/* slurmdbd has an index that begins with id_job. */
static int read_by_id(struct job_reader *reader, const struct job_range *range, struct error *err)
{
    int result = 0;
    for (size_t done = 0; !result && done < range->id_count; done += KEYS_A_QUERY) {
        size_t left = range->id_count - done, count = left < KEYS_A_QUERY ? left : KEYS_A_QUERY;
        struct selection selection = { .hint = "", .count = count + 1 };
        selection.arguments[0] = instant_value(range->from);
        text_add(&selection.where,
                 "(j.\"time_end\" = 0 OR j.\"time_end\" >= ?) AND j.\"id_job\" IN (");
        for (size_t i = 0; i < count; i++) {
            text_add(&selection.where, i ? ", ?" : "?");
            selection.arguments[i + 1] = db_unsigned(range->ids[done + i]);
        }
        text_add(&selection.where, ")");
        result = reader->read(reader, &selection, err);
        text_free(&selection.where);
    }
    return result;
}

/* By an index on time_end.  Two queries, as not every database makes two ranges of an OR. */
static int read_by_end(struct job_reader *reader, const struct job_range *range, struct error *err)
{
    const struct db_value ends[] = { instant_value(range->from), instant_value(range->to) };
    if (range->open && read_selected(reader, "", "j.\"time_end\" = 0", NULL, 0, false, err))
        return -1;
    return read_selected(reader, "", "j.\"time_end\" >= ? AND j.\"time_end\" < ?", ends, 2, false,
                         err);
}

/* A part of the table from a key on, which holds nearly all, and by an index on time_end what lies
 * before it: half the time where the table is large.  A plus keeps SQLite from taking the keys for
 * the better index. */
static int read_recent(struct job_reader *reader, const struct job_range *range, uint64_t key,
                       struct error *err)
{
    const struct db_value recent[] = { db_unsigned(key), instant_value(range->from) };
    const struct db_value earlier[] = { instant_value(range->from), instant_value(range->to),
                                        db_unsigned(key) };
    if (read_selected(reader, reader->db->driver->scan_hint,
                      "j.\"job_db_inx\" >= ? AND (j.\"time_end\" = 0 OR j.\"time_end\" >= ?)",
                      recent, 2, false, err) ||
        read_selected(reader, "", "j.\"time_end\" = 0 AND +j.\"job_db_inx\" < ?", earlier + 2, 1,
                      false, err))
        return -1;
    return read_selected(reader, "",
                         "j.\"time_end\" >= ? AND j.\"time_end\" < ? AND +j.\"job_db_inx\" < ?",
                         earlier, 3, false, err);
}

static int read_range(struct job_reader *reader, const struct job_range *range, struct error *err)
{
    const char *hint = reader->db->driver->scan_hint;
    const struct db_value from = instant_value(range->from);
    uint64_t key = 0;
    if (range->keys)
        return read_by_key(reader, range, err);
    if (range->ids)
        return read_by_id(reader, range, err);
    if (range->most)
        return read_selected(reader, hint, "(j.\"time_end\" = 0 OR j.\"time_end\" >= ?)", &from, 1,
                             true, err);
    if (range->open && *hint && find_recent_key(reader, range->from, &key, err))
        return -1;
    return key ? read_recent(reader, range, key, err) : read_by_end(reader, range, err);
}

/* The columns that are read of a job. */
static void add_job_columns(struct text *text, const struct job_reader *reader)
{
    for (unsigned i = 0; i < reader->columns; i++) {
        text_add(text, i ? ", j." : "j.");
        text_add_identifier(text, reader->jobs->needed[i]);
    }
}

static struct job_row job_of(const struct job_reader *reader, const struct db_value *row)
{
    struct db_value tres = row[JOB_TRES], partition = db_null();
    if (reader->columns > JOB_PARTITION)
        partition = row[JOB_PARTITION];
    bool has_tres = tres.type == DB_TEXT, has_partition = partition.type == DB_TEXT;
    return (struct job_row){
        .id_job = reading_number(&row[JOB_ID]),
        .association = reading_number(&row[JOB_ASSOCIATION]),
        .tariff = tariffs_find(reader->accounting->tariffs, reading_number(&row[JOB_QOS]),
                               has_partition ? partition.text.bytes : "",
                               has_partition ? partition.text.length : 0),
        .job = {
            .time_submit = reading_number(&row[JOB_SUBMIT]),
            .time_start = reading_number(&row[JOB_START]),
            .time_end = reading_number(&row[JOB_END]),
            .time_limit = reading_number(&row[JOB_LIMIT]),
            .tres_alloc = has_tres ? tres.text.bytes : "",
            .tres_alloc_length = has_tres ? tres.text.length : 0,
        },
    };
}

static int take_job(void *context, const struct db_value *row, struct error *err)
{
    const struct job_reader *reader = context;
    struct job_row job = job_of(reader, row);
    return reader->take(reader->context, &job, err);
}

/* The types of a job's columns, and behind them of a suspension's. */
static const char *const job_types[] = { "iiiiiiit", "iiiiiiitt" };
static const char *const suspension_types[] = { "iiiiiiitiii", "iiiiiiittiii" };

static int read_jobs(struct job_reader *reader, const struct selection *selection,
                     struct error *err)
{
    struct text columns = { 0 }, rest = { 0 }, sql = { 0 };
    add_job_columns(&columns, reader);
    text_format(&rest, "%s WHERE j.\"time_start\" > 0 AND %s", selection->hint,
                selection->where.bytes);
    add_query(&sql, reader, columns.bytes, rest.bytes);
    int result = (selection->has_many ? slurmdbd_read_many : slurmdbd_read)(
        reader->db, reader->jobs, reader->cluster, sql.bytes, selection->arguments,
        selection->count, job_types[reader->columns - JOB_PARTITION], take_job, reader, err);
    text_free(&columns);
    text_free(&rest);
    text_free(&sql);
    return result;
}

int slurmdbd_read_jobs(struct db *db, const struct settings *settings, const char *cluster,
                       const struct accounting *accounting, const struct job_range *range,
                       job_taker take, void *context, struct error *err)
{
    struct job_reader reader = reader_of(db, settings, cluster, accounting, context);
    reader.take = take;
    reader.read = read_jobs;
    return read_range(&reader, range, err);
}

static int take_suspension(void *context, const struct db_value *row, struct error *err)
{
    const struct job_reader *reader = context;
    const struct db_value *behind = row + reader->columns;
    struct job_row job = job_of(reader, row);
    struct suspension suspension = { reading_number(&behind[0]), reading_number(&behind[1]),
                                     reading_number(&behind[2]) };
    return reader->take_suspension(reader->context, &job, &suspension, err);
}

/* Rows that are marked as deleted will soon be purged, but the job was suspended all the same; so
 * slurmdbd counts them too.  A cross join has SQLite begin with the suspensions, which are few,
 * and need no sorting. */
static int read_suspended(struct job_reader *reader, const struct selection *selection,
                          struct error *err)
{
    struct text sql = { 0 };
    text_add(&sql, "SELECT ");
    add_job_columns(&sql, reader);
    text_add(&sql, ", s.\"job_db_inx\", s.\"time_start\", s.\"time_end\" FROM ");
    slurmdbd_add_name(&sql, &slurmdbd_suspends, reader->cluster);
    text_add(&sql, " s CROSS JOIN ");
    slurmdbd_add_name(&sql, reader->jobs, reader->cluster);
    text_format(&sql,
                " j WHERE j.\"job_db_inx\" = s.\"job_db_inx\" AND j.\"time_start\" > 0 AND %s"
                " ORDER BY s.\"job_db_inx\", s.\"time_start\"",
                selection->where.bytes);
    int result = slurmdbd_read(reader->db, &slurmdbd_suspends, reader->cluster, sql.bytes,
                               selection->arguments, selection->count,
                               suspension_types[reader->columns - JOB_PARTITION], take_suspension,
                               reader, err);
    text_free(&sql);
    return result;
}

int slurmdbd_read_suspended(struct db *db, const struct settings *settings, const char *cluster,
                            const struct accounting *accounting, const struct job_range *range,
                            suspension_taker take, void *context, struct error *err)
{
    struct job_reader reader = reader_of(db, settings, cluster, accounting, context);
    reader.take_suspension = take;
    reader.read = read_suspended;
    return read_range(&reader, range, err);
}

/* The first or last end in a span.  Not MIN() or MAX(): so it is a step along an index, and what
 * ended before it began is passed over. */
static int read_end(const struct job_reader *reader, uint64_t after, uint64_t until,
                    const char *order, uint64_t *end, struct error *err)
{
    struct text rest = { 0 };
    const struct db_value arguments[] = { instant_value(after), instant_value(until) };
    *end = 0;
    text_format(&rest,
                "WHERE \"time_end\" > ? AND \"time_end\" <= ? AND \"time_start\" > 0"
                " AND \"time_start\" <= \"time_end\" ORDER BY \"time_end\" %s LIMIT 1",
                order);
    int result =
        query_jobs(reader, "\"time_end\"", rest.bytes, arguments, 2, "i", take_number, end, err);
    text_free(&rest);
    return result;
}

int slurmdbd_read_ends(struct db *db, const struct settings *settings, const char *cluster,
                       uint64_t after, uint64_t until, uint64_t *oldest, uint64_t *newest,
                       struct error *err)
{
    struct job_reader reader = reader_of(db, settings, cluster, NULL, NULL);
    if (read_end(&reader, after, until, "ASC", oldest, err))
        return -1;
    return read_end(&reader, after, until, "DESC", newest, err);
}

int slurmdbd_read_open_keys(struct db *db, const struct settings *settings, const char *cluster,
                            struct job_keys *keys, struct error *err)
{
    struct job_reader reader = reader_of(db, settings, cluster, NULL, NULL);
    int result = query_jobs(&reader, "\"job_db_inx\"", "WHERE \"time_end\" = 0", NULL, 0, "i",
                            take_key, keys, err);
    job_keys_sort(keys);
    return result;
}

int slurmdbd_first_eligible(struct db *db, const struct settings *settings, const char *cluster,
                            uint64_t *eligible, struct error *err)
{
    struct job_reader reader = reader_of(db, settings, cluster, NULL, NULL);
    *eligible = 0;
    return query_jobs(&reader, "\"time_eligible\"",
                      "WHERE \"time_eligible\" > 0 ORDER BY \"time_eligible\" LIMIT 1", NULL, 0,
                      "i", take_number, eligible, err);
}
