/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "core/priority/accrual.h"
#include "core/priority/priority.h"
#include "core/usage/checkpoint.h"
#include "db/db.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/memory.h"

/* Reads the pending jobs and their arrays from slurmdbd's tables. */

static struct bytes bytes_of(const struct db_value *value)
{
    if (value->type != DB_TEXT)
        return (struct bytes){ "", 0 };
    return (struct bytes){ value->text.bytes, value->text.length };
}

static int probe_jobs(const struct source *source, unsigned *has, struct error *err)
{
    if (!slurmdbd_probe(source, &slurmdbd_jobs, has, err))
        return 0;
    /* The column existed a moment ago, so slurmdbd is being upgraded. */
    if (err->class == ERROR_MISSING)
        err->class = ERROR_RETRY;
    return -1;
}

enum {
    QUEUED_KEY,
    QUEUED_ID,
    QUEUED_ASSOCIATION,
    QUEUED_QOS,
    QUEUED_PRIORITY,
    QUEUED_SUBMIT,
    QUEUED_ELIGIBLE,
    QUEUED_START,
    QUEUED_END,
    QUEUED_LIMIT,
    QUEUED_CPUS,
    QUEUED_ACCOUNT,
    QUEUED_PARTITION,
    QUEUED_TRES_ASKED,
    QUEUED_TRES_HELD,
    QUEUED_ARRAY,
    QUEUED_ARRAY_LIMIT,
    QUEUED_ARRAY_WAITS,
    QUEUED_QOS_ASKED,
    QUEUED_REASON,
    QUEUED_TRES_SIZED,
    QUEUED_ARRAY_TASK,
    QUEUED_ARRAY_TASKS,
    QUEUED_HET_JOB,
    QUEUED_HET_OFFSET,
};

/* In job_table, this number in `id_array_task` and `het_job_offset` means that there is none. */
#define QUEUED_NO_NUMBER UINT64_C(0xfffffffe)
static uint64_t queued_number(const struct db_value *group, const struct db_value *value)
{
    return reading_number(group) && value->type == DB_INTEGER && value->integer >= 0 &&
                   value->integer < (int64_t)QUEUED_NO_NUMBER
               ? (uint64_t)value->integer
               : UINT32_MAX;
}

struct queue_rows {
    struct queue_reading base;
    struct queue_range range;
    unsigned has;   /* bits of the wanted columns that the table has */
    unsigned asked; /* number of queries so far */
    struct db_value arguments[5];
};

/*
 * Values of state_reason_prev, from slurm.h.  The column contains the last reason for which the job
 * waited, other than priority and resources.
 */
enum { WAITED_FOR_NOTHING = 0, WAITED_FOR_DEPENDENCY = 2, WAITED_FOR_BROKEN_DEPENDENCY = 39 };

/*
 * Returns true if a job is held.
 *
 * A held job has no eligible time.  But a job that waits for a dependency has no eligible time
 * either, so the priority or the reason must also be checked.
 *
 * slurmdbd stores the priority only when it writes the job's row, shortly after the submission.  If
 * the stored priority is 0, the job was held at that time.  It is still held if it has no eligible
 * time.  If it was released later, its eligible time is after its submission time.  If its eligible
 * time equals its submission time, the job was held within the second of its submission and is
 * still held.
 *
 * If the stored priority is not 0, the job was not held when its row was written.  If it has no
 * eligible time and last waited for something other than a dependency, it was held later.
 */
static bool is_held(const struct db_value *row)
{
    uint64_t eligible = reading_number(&row[QUEUED_ELIGIBLE]);
    uint64_t reason = reading_number(&row[QUEUED_REASON]);
    if (reading_number(&row[QUEUED_PRIORITY]) == 0)
        return !eligible || eligible <= reading_number(&row[QUEUED_SUBMIT]);
    return !eligible && reason != WAITED_FOR_NOTHING && reason != WAITED_FOR_DEPENDENCY &&
           reason != WAITED_FOR_BROKEN_DEPENDENCY;
}

static void make_job(const struct queue_reading *reading, const struct db_value *row,
                     struct queued_job *job)
{
    const struct queue_rows *rows = (const struct queue_rows *)reading;
    uint64_t start = reading_number(&row[QUEUED_START]);
    uint64_t end = reading_number(&row[QUEUED_END]);
    bool started = start && start <= rows->range.time;
    bool ended = end && end <= rows->range.time;
    bool holds = started && bytes_of(&row[QUEUED_TRES_HELD]).length;
    *job = (struct queued_job){
        .key = reading_number(&row[QUEUED_KEY]),
        .id_job = reading_number(&row[QUEUED_ID]),
        .association = reading_number(&row[QUEUED_ASSOCIATION]),
        .qos = reading_number(&row[QUEUED_QOS]),
        .time_submit = reading_number(&row[QUEUED_SUBMIT]),
        .time_eligible = reading_number(&row[QUEUED_ELIGIBLE]),
        .time_limit = reading_number(&row[QUEUED_LIMIT]),
        .cpus = reading_number(&row[QUEUED_CPUS]),
        .array = reading_number(&row[QUEUED_ARRAY]),
        .array_limit = reading_number(&row[QUEUED_ARRAY_LIMIT]),
        .array_waits = reading_number(&row[QUEUED_ARRAY_WAITS]),
        .time_until = started ? start
                      : ended ? end
                              : 0,
        .held = !started && is_held(row),
        .started = started,
        .account = bytes_of(&row[QUEUED_ACCOUNT]),
        .partitions = bytes_of(&row[QUEUED_PARTITION]),
        .qos_asked = bytes_of(&row[QUEUED_QOS_ASKED]),
        .tres = bytes_of(&row[holds ? QUEUED_TRES_HELD : QUEUED_TRES_ASKED]),
        .tres_asked = bytes_of(&row[QUEUED_TRES_ASKED]),
        .tres_sized = bytes_of(&row[holds ? QUEUED_TRES_SIZED : QUEUED_TRES_ASKED]),
        .array_task = queued_number(&row[QUEUED_ARRAY], &row[QUEUED_ARRAY_TASK]),
        .array_tasks = bytes_of(&row[QUEUED_ARRAY_TASKS]),
        .het_job = reading_number(&row[QUEUED_HET_JOB]),
        .het_offset = queued_number(&row[QUEUED_HET_JOB], &row[QUEUED_HET_OFFSET]),
    };
}

static int slurmdbd_queue_explain(const struct reading *reading, struct error *err)
{
    return slurmdbd_explain(&reading->source, &slurmdbd_jobs, err);
}

/*
 * Selects jobs that were pending or, if `started`, also running at the time of the range.  The
 * second query returns rows only if this time is in the past.
 */
static size_t add_waiting(struct queue_rows *rows, struct text *sql, unsigned query)
{
    static const char *const ends[] = { "\"time_end\" = 0", "\"time_end\" > ?" };
    for (size_t i = 0; i < 3; i++)
        rows->arguments[i] = slurmdbd_time(rows->range.time);
    text_format(sql, " WHERE \"time_submit\" <= ? AND %s%s",
                rows->range.started ? "" : "(\"time_start\" = 0 OR \"time_start\" > ?) AND ",
                ends[query]);
    return (rows->range.started ? 1u : 2u) + query;
}

/*
 * Selects jobs that were pending at `waited_since` or later but are no longer pending.  Such a job
 * started after its eligible time, or ended without a start.
 */
static size_t add_waited(struct queue_rows *rows, struct text *sql, unsigned query)
{
    const struct db_value since = slurmdbd_time(rows->range.waited_since);
    const struct db_value now = slurmdbd_time(rows->range.time);
    const struct db_value arguments[] = { since, now, now, since };
    memcpy(rows->arguments, arguments, sizeof arguments);
    text_add(sql, " WHERE \"time_start\" <> \"time_eligible\" AND ");
    text_add(sql, query ? "((\"time_start\" > ? AND \"time_start\" <= ?)"
                          " OR (\"time_start\" = 0 AND \"time_end\" <= ?)) AND \"time_end\" > ?"
                        : "\"time_start\" > ? AND \"time_start\" <= ? AND \"time_end\" = 0");
    return query ? 4 : 2;
}

/*
 * Adds a column with its value in the first row since the start of the job.  Each resize ends a row
 * and begins a new row.  If a row did not end with a resize, the job was started again after it.
 */
static void add_first(struct text *sql, const struct queue_rows *rows, const char *column)
{
    const struct source *source = &rows->base.base.source;
    if (!rows->range.started || !(rows->has & HAS_STATE)) {
        text_format(sql, ", j.\"%s\"", column);
        return;
    }
    text_format(sql, ", CASE WHEN j.\"time_start\" > 0 THEN COALESCE((SELECT f.\"%s\" FROM ",
                column);
    slurmdbd_add_name(sql, &slurmdbd_jobs, source->cluster);
    text_add(sql, " f WHERE f.\"id_job\" = j.\"id_job\" AND f.\"state\" = " STATE_RESIZING
                  " AND f.\"time_submit\" < j.\"time_submit\" AND NOT EXISTS (SELECT 1 FROM ");
    slurmdbd_add_name(sql, &slurmdbd_jobs, source->cluster);
    text_format(sql,
                " g WHERE g.\"id_job\" = j.\"id_job\" AND g.\"state\" <> " STATE_RESIZING
                " AND g.\"time_submit\" > f.\"time_submit\""
                " AND g.\"time_submit\" < j.\"time_submit\")"
                " ORDER BY f.\"time_submit\" LIMIT 1), j.\"%s\") ELSE j.\"%s\" END",
                column, column);
}

/* A mask of tasks may have a megabyte.  This length is sufficient for Slurm's default MaxArraySize.
 */
#define TASKS_LENGTH_AT_MOST "300"
static void slurmdbd_queue_add_ids(struct text *sql, const struct queue_rows *rows)
{
    bool waited = rows->range.waited_since;
    text_add(sql, rows->has & HAS_ARRAY_TASK ? ", j.\"id_array_task\"" : ", NULL");
    text_add(sql, rows->has & HAS_ARRAY_TASKS && !waited
                      ? ", CASE WHEN LENGTH(j.\"array_task_str\") <= " TASKS_LENGTH_AT_MOST
                        " THEN j.\"array_task_str\" END"
                      : ", NULL");
    text_add(sql, rows->has & HAS_HET_JOB ? ", j.\"het_job_id\"" : ", 0");
    text_add(sql, rows->has & HAS_HET_OFFSET ? ", j.\"het_job_offset\"" : ", NULL");
}

/*
 * Adds the columns of the query.  For jobs that are no longer pending, the long columns are not
 * needed, so they are empty.
 */
static void slurmdbd_queue_add_columns(struct text *sql, const struct queue_rows *rows)
{
    static const struct {
        const char *name;
        unsigned has;
    } wanted[] = { { "id_array_job", HAS_ARRAY },
                   { "array_max_tasks", HAS_ARRAY_LIMIT },
                   { "array_task_pending", HAS_ARRAY_PENDING } };
    bool waited = rows->range.waited_since;
    text_add(sql,
             "SELECT j.\"job_db_inx\", j.\"id_job\", j.\"id_assoc\", j.\"id_qos\", j.\"priority\"");
    add_first(sql, rows, "time_submit");
    add_first(sql, rows, "time_eligible");
    text_add(sql, ", j.\"time_start\", j.\"time_end\", j.\"timelimit\", j.\"cpus_req\"");
    text_add(sql, waited ? ", '', '', ''" : ", j.\"account\", j.\"partition\"");
    if (!waited)
        add_first(sql, rows, "tres_req");
    text_add(sql, waited ? ", ''" : ", j.\"tres_alloc\"");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        text_format(sql, rows->has & wanted[i].has ? ", j.\"%s\"" : ", 0", wanted[i].name);
    text_add(sql, rows->has & HAS_QOS_REQ && !waited ? ", j.\"qos_req\"" : ", ''");
    text_add(sql, rows->has & HAS_REASON ? ", j.\"state_reason_prev\"" : ", 0");
    if (waited)
        text_add(sql, ", ''");
    else
        add_first(sql, rows, "tres_alloc");
    slurmdbd_queue_add_ids(sql, rows);
}

/* Makes two queries, because not every database splits an OR into two index ranges. */
static int slurmdbd_queue_ask(struct reading *reading, struct error *err)
{
    struct queue_rows *rows = (struct queue_rows *)reading;
    if (rows->asked == 2)
        return 0;
    if (!rows->asked && probe_jobs(&reading->source, &rows->has, err))
        return -1;
    bool waited = rows->range.waited_since;
    slurmdbd_queue_add_columns(&reading->sql, rows);
    text_add(&reading->sql, " FROM ");
    slurmdbd_add_name(&reading->sql, &slurmdbd_jobs, reading->source.cluster);
    text_add(&reading->sql, " j");
    size_t count = (waited ? add_waited : add_waiting)(rows, &reading->sql, rows->asked);
    const struct query query = { .sql = reading->sql.bytes,
                                 .arguments = rows->arguments,
                                 .argument_count = count,
                                 .types = "iiiiiiiiiiittttiiitititii",
                                 .has_many = waited };
    rows->asked++;
    return reading_run(reading, &query, err);
}

static struct queue_reading *queued_jobs(const struct source *source,
                                         const struct queue_range *range)
{
    struct queue_rows *rows = memory_zeroed(1, sizeof *rows);
    rows->base.base = (struct reading){ .source = *source,
                                        .ask = slurmdbd_queue_ask,
                                        .explain = slurmdbd_queue_explain };
    rows->base.make = make_job;
    rows->range = *range;
    return &rows->base;
}

static int take_array(void *context, const struct db_value *row, struct error *err)
{
    struct array_list *list = context;
    (void)err;
    *memory_append(&list->arrays, &list->count) = (struct array_fact){
        .id = reading_number(&row[0]),
        .submitted = reading_number(&row[1]),
        .started = { reading_number(&row[2]), reading_number(&row[3]) },
    };
    return 0;
}

/*
 * Reads a few arrays by the index on id_array_job.
 *
 * The arrays are looked up by their ids.  When one condition in SQL selected the arrays, MariaDB
 * read the whole table twice.  With 200 ids or more in a query, MariaDB also read the whole table.
 * It estimated the number of rows from the average per id, which is high, because all jobs that are
 * not in an array have the id 0.  With fewer than 200 ids, MariaDB checks the number of rows of
 * each id.  The plus signs keep SQLite from using an index with time_start.
 */
#define ARRAYS_A_QUERY 100
static int read_few_arrays(const struct source *source, uint64_t time, struct job_keys ids,
                           struct array_list *list, struct error *err)
{
    struct text sql = { 0 };
    struct db_value arguments[2 + ARRAYS_A_QUERY] = { slurmdbd_time(time), slurmdbd_time(time) };
    text_add(&sql, "SELECT \"id_array_job\", \"time_submit\","
                   " MIN(CASE WHEN \"time_eligible\" BETWEEN 1 AND ? THEN \"time_eligible\" END),"
                   " MIN(\"time_start\") FROM {} WHERE +\"time_start\" > 0 AND +\"time_start\" <= "
                   "? AND \"id_array_job\"");
    size_t added = slurmdbd_add_keys(&sql, arguments + 2, ids.keys, ids.count);
    text_add(&sql, " GROUP BY \"id_array_job\", \"time_submit\" ORDER BY 1, 2");
    const struct query query = {
        .sql = sql.bytes, .arguments = arguments, .argument_count = 2 + added, .types = "iiii"
    };
    int result = slurmdbd_read(source, &slurmdbd_jobs, &query, take_array, list, err);
    text_free(&sql);
    return result;
}

static int read_arrays(const struct source *source, uint64_t time, const struct job_keys *ids,
                       struct array_list *list, struct error *err)
{
    int result = 0;
    *list = (struct array_list){ 0 };
    for (size_t done = 0; !result && done < ids->count; done += ARRAYS_A_QUERY) {
        size_t left = ids->count - done;
        struct job_keys few = { ids->keys + done, left < ARRAYS_A_QUERY ? left : ARRAYS_A_QUERY };
        result = read_few_arrays(source, time, few, list, err);
    }
    if (result)
        array_list_free(list);
    return result;
}

const struct queue_port slurmdbd_queue_port = {
    .read_facts = slurmdbd_queue_read_facts,
    .read_accrue_limits = slurmdbd_queue_read_accrue_limits,
    .jobs = queued_jobs,
    .read_arrays = read_arrays,
    .read_limits = slurmdbd_queue_read_tres_limits,
};
