/* SPDX-License-Identifier: MIT */

#include "core/usage/checkpoint.h"
#include "db/db.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/memory.h"

/*
 * Reads slurmdbd's jobs and their suspensions.
 *
 * A range of rows is read by one or more queries.  The function choose_plan() selects the plan that
 * is fastest for the range, and select_next() makes the condition of each query.  Every plan
 * returns all rows of the range.
 *
 *   PLAN_KEYS          the keys in the range
 *   PLAN_IDS           the job ids in the range, by the index on id_job
 *   PLAN_ASSOCIATIONS  the associations in the range, by the index on id_assoc, if they have few
 *                      rows
 *   PLAN_MOST          a scan of the whole table, if the range contains most of it
 *   PLAN_ENDS          by the index on time_end
 *   PLAN_RECENT        a scan from a key on, and the few other rows of the range ("stragglers")
 *                      by key
 */

/* The part of a range that one query reads. */
struct selection {
    const char *hint;  /* added after the table's name */
    struct text where; /* a condition on the job table, which has the alias j */
    bool has_many;     /* the query may return very many rows, so they are streamed */
};

/* The plans for a range, see above. */
enum job_plan {
    PLAN_NONE,
    PLAN_KEYS,
    PLAN_IDS,
    PLAN_ASSOCIATIONS,
    PLAN_MOST,
    PLAN_ENDS,
    PLAN_RECENT
};

/* The kinds of rows that a job has. */
enum row_kind { ROWS_OF_JOBS, ROWS_OF_SUSPENSIONS, ROWS_OF_CANCELLED };

struct job_rows {
    struct job_reading base;
    const struct accounting *accounting;
    struct job_range range;
    enum row_kind kind;
    unsigned columns;
    enum job_plan plan;
    size_t steps;        /* number of queries so far without a list of keys or ids */
    size_t asked;        /* number of keys, ids or associations that queries so far have used */
    uint64_t recent_key; /* for PLAN_RECENT */
    struct job_keys stragglers; /* for PLAN_RECENT: keys in the range before recent_key */
    struct db_value arguments[KEYS_A_QUERY + 4];
    size_t argument_count;
    struct suspension suspension; /* of the current row */
};

static int take_key(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    job_keys_add(context, reading_number(&row[0]));
    return 0;
}

/* Runs a query for one column of the job table. query->sql is the part after the table's name. */
static int query_jobs(const struct source *source, const char *column, const struct query *query,
                      row_taker take, void *context, struct error *err)
{
    struct text sql = { 0 };
    struct query whole = *query;
    text_format(&sql, "SELECT %s FROM {} j %s", column, query->sql);
    whole.sql = sql.bytes;
    whole.types = "i";
    int result = slurmdbd_read(source, &slurmdbd_jobs, &whole, take, context, err);
    text_free(&sql);
    return result;
}

/*
 * Sets `*key` to a key such that nearly all rows with greater keys are newer than `time`.  Sets
 * `*key` to 0 if no such key is found.
 *
 * A row gets its key at about the time when its job becomes eligible.  But some jobs were pending
 * for months before they became eligible, and have older keys.  So the median key of some jobs that
 * became eligible at that time is used.  The rows that are read are correct with any key; the key
 * affects only the speed.
 */
#define ROWS_TO_LOOK_AT 64
#define EARLIER_S 43200
static int find_recent_key(const struct source *source, uint64_t time, uint64_t *key,
                           struct error *err)
{
    struct job_keys keys = { 0 };
    struct text rest = { 0 };
    struct db_value since = slurmdbd_time(time > EARLIER_S ? time - EARLIER_S : 0);
    text_format(&rest, "WHERE \"time_eligible\" >= ? ORDER BY \"time_eligible\" LIMIT %d",
                ROWS_TO_LOOK_AT);
    const struct query query = { .sql = rest.bytes, .arguments = &since, .argument_count = 1 };
    int result = query_jobs(source, "\"job_db_inx\"", &query, take_key, &keys, err);
    job_keys_sort(&keys);
    *key = keys.count ? keys.keys[keys.count / 2] : 0;
    text_free(&rest);
    job_keys_free(&keys);
    return result;
}

static int count_row(void *count, const struct db_value *row, struct error *err)
{
    (void)row;
    (void)err;
    (*(size_t *)count)++;
    return 0;
}

/*
 * Sets `*few` if the associations of the range have few rows.  Only then is fetching the rows by an
 * index faster than reading the whole table.
 */
#define ROWS_BY_ASSOCIATION 50000
static int has_few(const struct job_rows *rows, bool *few, struct error *err)
{
    const struct job_range *range = &rows->range;
    struct text rest = { 0 };
    struct db_value arguments[KEYS_A_QUERY];
    size_t count = 0;
    *few = false;
    if (!range->associations || range->association_count > KEYS_A_QUERY)
        return 0;
    text_add(&rest, "WHERE \"id_assoc\"");
    slurmdbd_add_keys(&rest, arguments, range->associations, range->association_count);
    text_format(&rest, " LIMIT %d", ROWS_BY_ASSOCIATION + 1);
    const struct query query = { .sql = rest.bytes,
                                 .arguments = arguments,
                                 .argument_count = range->association_count };
    int result =
        query_jobs(&rows->base.base.source, "\"id_assoc\"", &query, count_row, &count, err);
    text_free(&rest);
    *few = count <= ROWS_BY_ASSOCIATION;
    return result;
}

/*
 * Sets `*allowed` to the maximum number of stragglers with which PLAN_RECENT is still faster.
 * Looking up a row costs about three times as much as reading a row from recent_key on.  So the
 * maximum is a third of the number of these rows, but at least FEW_STRAGGLERS and at most
 * MANY_STRAGGLERS.
 */
#define FEW_STRAGGLERS 20000
#define MANY_STRAGGLERS 200000
static int count_allowed(const struct job_rows *rows, size_t *allowed, struct error *err)
{
    static const struct query query = { .sql = "ORDER BY \"job_db_inx\" DESC LIMIT 1" };
    uint64_t newest = 0;
    int result = query_jobs(&rows->base.base.source, "\"job_db_inx\"", &query, slurmdbd_take_number,
                            &newest, err);
    uint64_t third = newest > rows->recent_key ? (newest - rows->recent_key) / 3 : 0;
    *allowed = third < FEW_STRAGGLERS    ? FEW_STRAGGLERS
               : third > MANY_STRAGGLERS ? MANY_STRAGGLERS
                                         : (size_t)third;
    return result;
}

/*
 * Finds the stragglers.  The query reads only their keys, which are part of the index on time_end.
 * For a query of whole rows, a database may instead read all rows before recent_key.
 */
static int find_stragglers(struct job_rows *rows, size_t allowed, struct error *err)
{
    const struct job_range *range = &rows->range;
    struct text rest = { 0 };
    const struct db_value arguments[] = { slurmdbd_time(range->from), slurmdbd_time(range->to),
                                          db_unsigned(rows->recent_key) };
    text_format(&rest,
                "WHERE \"time_end\" >= ? AND \"time_end\" < ? AND +\"job_db_inx\" < ? LIMIT %zu",
                allowed + 1);
    const struct query query = { .sql = rest.bytes, .arguments = arguments, .argument_count = 3 };
    int result = query_jobs(&rows->base.base.source, "\"job_db_inx\"", &query, take_key,
                            &rows->stragglers, err);
    job_keys_sort(&rows->stragglers);
    text_free(&rest);
    return result;
}

/* Chooses between PLAN_RECENT and PLAN_ENDS. */
static int choose_recent(struct job_rows *rows, struct error *err)
{
    const struct job_range *range = &rows->range;
    const struct source *source = &rows->base.base.source;
    size_t allowed = 0;
    rows->plan = PLAN_ENDS;
    if (!range->open || !*source->db->driver->scan_hint)
        return 0;
    if (find_recent_key(source, range->from, &rows->recent_key, err) ||
        (rows->recent_key &&
         (count_allowed(rows, &allowed, err) || find_stragglers(rows, allowed, err))))
        return -1;
    if (rows->recent_key && rows->stragglers.count <= allowed)
        rows->plan = PLAN_RECENT;
    return 0;
}

static int choose_plan(struct job_rows *rows, struct error *err)
{
    const struct job_range *range = &rows->range;
    bool few;
    if (has_few(rows, &few, err))
        return -1;
    if (few)
        rows->plan = PLAN_ASSOCIATIONS;
    else if (range->keys)
        rows->plan = PLAN_KEYS;
    else if (range->ids)
        rows->plan = PLAN_IDS;
    else if (range->most)
        rows->plan = PLAN_MOST;
    else
        return choose_recent(rows, err);
    return 0;
}

static void slurmdbd_jobs_end(struct reading *reading)
{
    job_keys_free(&((struct job_rows *)reading)->stragglers);
}

static void add_argument(struct job_rows *rows, struct db_value value)
{
    rows->arguments[rows->argument_count++] = value;
}

/* Adds the next keys, ids or associations to the condition. */
static bool select_listed(struct job_rows *rows, struct selection *selection, const uint64_t *list,
                          size_t count)
{
    if (rows->asked == count)
        return false;
    size_t some = slurmdbd_add_keys(&selection->where, rows->arguments + rows->argument_count,
                                    list + rows->asked, count - rows->asked);
    rows->argument_count += some;
    rows->asked += some;
    return true;
}

static bool select_by_key(struct job_rows *rows, struct selection *selection, const uint64_t *keys,
                          size_t count)
{
    const struct job_range *range = &rows->range;
    add_argument(rows, slurmdbd_time(range->from));
    add_argument(rows, slurmdbd_time(range->to));
    text_add(&selection->where, "j.\"time_end\" >= ? AND j.\"time_end\" < ? AND j.\"job_db_inx\"");
    return select_listed(rows, selection, keys, count);
}

/*
 * Selects rows by id_job or id_assoc.  slurmdbd has an index that begins with id_job and an index
 * that begins with id_assoc.
 */
static bool select_by_column(struct job_rows *rows, struct selection *selection, const char *column,
                             const uint64_t *list, size_t count)
{
    add_argument(rows, slurmdbd_time(rows->range.from));
    text_format(&selection->where, "(j.\"time_end\" = 0 OR j.\"time_end\" >= ?) AND j.\"%s\"",
                column);
    return select_listed(rows, selection, list, count);
}

static bool select_most(struct job_rows *rows, struct selection *selection)
{
    if (rows->steps++)
        return false;
    selection->hint = rows->base.base.source.db->driver->scan_hint;
    selection->has_many = true;
    add_argument(rows, slurmdbd_time(rows->range.from));
    text_add(&selection->where, "(j.\"time_end\" = 0 OR j.\"time_end\" >= ?)");
    return true;
}

/*
 * Uses an index on time_end.  Makes two queries, because not every database splits an OR into two
 * index ranges.
 */
static bool select_by_end(struct job_rows *rows, struct selection *selection)
{
    size_t step = rows->steps++;
    if (step == 0 && !rows->range.open)
        step = rows->steps++;
    if (step == 0) {
        text_add(&selection->where, "j.\"time_end\" = 0");
    } else if (step == 1) {
        add_argument(rows, slurmdbd_time(rows->range.from));
        add_argument(rows, slurmdbd_time(rows->range.to));
        text_add(&selection->where, "j.\"time_end\" >= ? AND j.\"time_end\" < ?");
    }
    return step < 2;
}

/*
 * Selects the rows of PLAN_RECENT.  On a large table, this takes half the time of reading the whole
 * table.  The plus signs keep SQLite from choosing the index on keys.
 */
static bool select_recent(struct job_rows *rows, struct selection *selection)
{
    struct db_value key = db_unsigned(rows->recent_key);
    switch (rows->steps++) {
    case 0:
        selection->hint = rows->base.base.source.db->driver->scan_hint;
        add_argument(rows, key);
        add_argument(rows, slurmdbd_time(rows->range.from));
        text_add(&selection->where,
                 "j.\"job_db_inx\" >= ? AND (j.\"time_end\" = 0 OR j.\"time_end\" >= ?)");
        return true;
    case 1:
        add_argument(rows, key);
        text_add(&selection->where, "j.\"time_end\" = 0 AND +j.\"job_db_inx\" < ?");
        return true;
    default:
        return select_by_key(rows, selection, rows->stragglers.keys, rows->stragglers.count);
    }
}

static bool select_next(struct job_rows *rows, struct selection *selection)
{
    const struct job_range *range = &rows->range;
    switch (rows->plan) {
    case PLAN_KEYS:
        return select_by_key(rows, selection, range->keys, range->key_count);
    case PLAN_IDS:
        return select_by_column(rows, selection, "id_job", range->ids, range->id_count);
    case PLAN_ASSOCIATIONS:
        return select_by_column(rows, selection, "id_assoc", range->associations,
                                range->association_count);
    case PLAN_MOST:
        return select_most(rows, selection);
    case PLAN_ENDS:
        return select_by_end(rows, selection);
    case PLAN_RECENT:
        return select_recent(rows, selection);
    case PLAN_NONE:
        break;
    }
    return false;
}

/*
 * Omits rows that started after range.begun_by.  The plus sign prevents the use of an index,
 * because nearly all rows started earlier.
 */
static void leave_out_later(struct job_rows *rows, struct selection *selection)
{
    add_argument(rows, slurmdbd_time(rows->range.begun_by));
    text_add(&selection->where, " AND +j.\"time_start\" <= ?");
}

/* Adds the columns that are read for a job. */
static void add_job_columns(struct text *text, const struct job_rows *rows)
{
    for (unsigned i = 0; i < rows->columns; i++) {
        text_add(text, i ? ", j." : "j.");
        text_add_identifier(text, slurmdbd_jobs.needed[i]);
    }
}

/*
 * Adds the TRES of a resized job's next row, which was submitted at the time of the resize.  This
 * is fast, because the table has an index on id_job and time_submit, and few rows have this state.
 */
static void add_resized_to(struct text *columns, const struct job_rows *rows)
{
    text_add(columns, ", CASE WHEN j.\"state\" = " STATE_RESIZING
                      " THEN (SELECT MAX(n.\"tres_alloc\") FROM ");
    slurmdbd_add_name(columns, &slurmdbd_jobs, rows->base.base.source.cluster);
    text_add(columns,
             " n WHERE n.\"id_job\" = j.\"id_job\" AND n.\"time_submit\" = j.\"time_end\") END");
}

static void add_jobs_query(struct text *sql, const struct job_rows *rows,
                           const struct selection *selection)
{
    text_add(sql, "SELECT ");
    add_job_columns(sql, rows);
    if (rows->accounting->tells_resized)
        add_resized_to(sql, rows);
    text_add(sql, " FROM ");
    slurmdbd_add_name(sql, &slurmdbd_jobs, rows->base.base.source.cluster);
    text_format(sql, " j %s WHERE j.\"time_start\" > 0 AND %s", selection->hint,
                selection->where.bytes);
}

/*
 * Adds a column with the time when the job was cancelled.  No column of the job table contains this
 * time: mod_time changes with each later modification of the record, for example when slurmctld
 * restarts.  So the end of a step is used.  The batch, interactive and external steps, which have
 * negative ids, end when the job is cancelled.  If the job has no such step, its last step ends at
 * that time.
 */
static void add_end_of_steps(struct text *sql, const char *cluster)
{
    text_add(sql, "(SELECT t.\"time_end\" FROM ");
    slurmdbd_add_name(sql, &slurmdbd_steps, cluster);
    text_add(sql, " t WHERE t.\"job_db_inx\" = s.\"job_db_inx\" AND t.\"time_end\" > s.\"time_end\""
                  " ORDER BY CASE WHEN t.\"id_step\" < 0 THEN t.\"id_step\" ELSE 0 END,"
                  " t.\"time_end\" DESC LIMIT 1)");
}

/*
 * Adds the query for suspensions.  It includes rows that are marked as deleted: they will soon be
 * purged, but the job was suspended, and slurmdbd includes them, too.  With a CROSS JOIN, SQLite
 * begins with the suspensions, which are few, and does not need to sort.
 */
static void add_suspensions_query(struct text *sql, const struct job_rows *rows,
                                  const struct selection *selection)
{
    const char *cluster = rows->base.base.source.cluster;
    text_add(sql, "SELECT ");
    add_job_columns(sql, rows);
    text_add(sql, ", s.\"job_db_inx\", s.\"time_start\", ");
    if (rows->kind == ROWS_OF_CANCELLED)
        add_end_of_steps(sql, cluster);
    else
        text_add(sql, "s.\"time_end\"");
    text_add(sql, " FROM ");
    slurmdbd_add_name(sql, &slurmdbd_suspends, cluster);
    text_add(sql, " s CROSS JOIN ");
    slurmdbd_add_name(sql, &slurmdbd_jobs, cluster);
    text_format(sql,
                " j WHERE j.\"job_db_inx\" = s.\"job_db_inx\" AND j.\"time_start\" > 0 AND %s"
                " ORDER BY s.\"job_db_inx\", s.\"time_start\"",
                selection->where.bytes);
}

/*
 * Adds the query for jobs that ended while suspended.  For such a job, the end of the job, the
 * start of the suspension and the end of the suspension are the same time.
 */
static void add_cancelled_query(struct text *sql, const struct job_rows *rows)
{
    struct selection selection = { .hint = "" };
    text_add(&selection.where,
             "s.\"time_start\" = s.\"time_end\" AND j.\"time_end\" = s.\"time_end\"");
    add_suspensions_query(sql, rows, &selection);
    text_free(&selection.where);
}

/* The types of a job's columns, followed by the types of a suspension's columns. */
static const char *const job_types[] = { "iiiiiiit", "iiiiiiitt", "iiiiiiitti" };
static const char *const resizable_types[] = { "iiiiiiitt", "iiiiiiittt", "iiiiiiittit" };
static const char *const suspension_types[] = { "iiiiiiitiii", "iiiiiiittiii", "iiiiiiittiiii" };

static int slurmdbd_jobs_ask(struct reading *reading, struct error *err)
{
    struct job_rows *rows = (struct job_rows *)reading;
    struct selection selection = { .hint = "" };
    bool suspensions = rows->kind != ROWS_OF_JOBS, cancelled = rows->kind == ROWS_OF_CANCELLED;
    if (!cancelled && !rows->plan && choose_plan(rows, err))
        return -1;
    rows->argument_count = 0;
    bool more = cancelled ? !rows->steps++ : select_next(rows, &selection);
    if (more && rows->range.begun_by)
        leave_out_later(rows, &selection);
    if (more && cancelled)
        add_cancelled_query(&reading->sql, rows);
    else if (more)
        (suspensions ? add_suspensions_query : add_jobs_query)(&reading->sql, rows, &selection);
    text_free(&selection.where);
    const char *const *types = suspensions                       ? suspension_types
                               : rows->accounting->tells_resized ? resizable_types
                                                                 : job_types;
    const struct query query = {
        .sql = reading->sql.bytes,
        .arguments = rows->arguments,
        .argument_count = rows->argument_count,
        .types = types[rows->columns - JOB_PARTITION],
        .has_many = selection.has_many && !suspensions,
    };
    return more ? reading_run(reading, &query, err) : 0;
}

static int slurmdbd_jobs_explain(const struct reading *reading, struct error *err)
{
    const struct job_rows *rows = (const struct job_rows *)reading;
    return slurmdbd_explain(&reading->source,
                            rows->kind != ROWS_OF_JOBS ? &slurmdbd_suspends : &slurmdbd_jobs, err);
}

/*
 * Returns the time since which a started job could start, or 0 if the row is not a start: slurmdbd
 * begins a new row when a job is resized, which is submitted at that time but was eligible before
 * its submission.
 */
static uint64_t slurmdbd_waited_since(const struct job *job, uint64_t eligible)
{
    bool resized = job->time_submit > job->time_start ||
                   (job->time_submit == job->time_start && eligible && eligible < job->time_submit);
    if (resized)
        return 0;
    return eligible > job->time_submit ? eligible : job->time_submit;
}

static bool slurmdbd_jobs_make_row(struct job_reading *reading, const struct db_value *values,
                                   struct job_row *row)
{
    struct job_rows *rows = (struct job_rows *)reading;
    struct db_value tres = values[JOB_TRES], partition = db_null();
    if (rows->columns > JOB_PARTITION)
        partition = values[JOB_PARTITION];
    uint64_t qos = reading_number(&values[JOB_QOS]);
    bool has_tres = tres.type == DB_TEXT, has_partition = partition.type == DB_TEXT;
    *row = (struct job_row){
        .id_job = reading_number(&values[JOB_ID]),
        .association = reading_number(&values[JOB_ASSOCIATION]),
        .qos = qos,
        .partition = has_partition ? partition.text.bytes : "",
        .partition_length = has_partition ? partition.text.length : 0,
        .unknown_qos = qos && !charge_rates_has_qos(rows->accounting->rates, qos) ? qos : 0,
        .rate = charge_rates_find(rows->accounting->rates, qos,
                               has_partition ? partition.text.bytes : "",
                               has_partition ? partition.text.length : 0),
        .job = {
            .time_submit = reading_number(&values[JOB_SUBMIT]),
            .time_start = reading_number(&values[JOB_START]),
            .time_end = reading_number(&values[JOB_END]),
            .time_limit = reading_number(&values[JOB_LIMIT]),
            .tres_alloc = has_tres ? tres.text.bytes : "",
            .tres_alloc_length = has_tres ? tres.text.length : 0,
        },
    };
    if (rows->columns > JOB_ELIGIBLE && has_tres && tres.text.length)
        row->waited_since = slurmdbd_waited_since(&row->job, reading_number(&values[JOB_ELIGIBLE]));
    const struct db_value *behind = values + rows->columns;
    if (rows->kind == ROWS_OF_CANCELLED) {
        row->noted = reading_number(&behind[2]);
        return row->noted && row->noted >= rows->range.from;
    }
    if (rows->kind == ROWS_OF_SUSPENSIONS) {
        rows->suspension =
            (struct suspension){ reading_number(&behind[0]), reading_number(&behind[1]),
                                 reading_number(&behind[2]) };
        row->suspension = &rows->suspension;
    } else if (rows->accounting->tells_resized && behind->type == DB_TEXT) {
        row->resized_to = behind->text.bytes;
        row->resized_to_length = behind->text.length;
    }
    return true;
}

static struct job_reading *reading_of(const struct source *source,
                                      const struct accounting *accounting,
                                      const struct job_range *range, enum row_kind kind)
{
    struct job_rows *rows = memory_zeroed(1, sizeof *rows);
    rows->base.base = (struct reading){ .source = *source,
                                        .ask = slurmdbd_jobs_ask,
                                        .explain = slurmdbd_jobs_explain,
                                        .end = slurmdbd_jobs_end };
    rows->base.make = slurmdbd_jobs_make_row;
    rows->accounting = accounting;
    rows->range = *range;
    rows->kind = kind;
    rows->columns = source->waits     ? JOB_ELIGIBLE + 1
                    : source->classes ? JOB_PARTITION + 1
                                      : slurmdbd_job_columns(source->settings);
    return &rows->base;
}

struct job_reading *slurmdbd_jobs_of(const struct source *source,
                                     const struct accounting *accounting,
                                     const struct job_range *range)
{
    return reading_of(source, accounting, range, ROWS_OF_JOBS);
}

struct job_reading *slurmdbd_suspensions_of(const struct source *source,
                                            const struct accounting *accounting,
                                            const struct job_range *range)
{
    return reading_of(source, accounting, range, ROWS_OF_SUSPENSIONS);
}

struct job_reading *slurmdbd_cancelled_of(const struct source *source,
                                          const struct accounting *accounting, uint64_t since)
{
    const struct job_range range = { .from = since };
    return reading_of(source, accounting, &range, ROWS_OF_CANCELLED);
}

/*
 * Sets `*end` to the first or last end in a period.  ORDER BY with LIMIT reads few entries of an
 * index, even though it must skip jobs that ended before their start.  MIN() and MAX() may read all
 * entries of the period.  The order by both columns is the order of one of slurmdbd's indexes.
 * With an order by time_end alone, MySQL would use a shorter index and read it from its very end.
 */
static int read_end(const struct source *source, const struct db_value *span, const char *order,
                    uint64_t *end, struct error *err)
{
    struct text rest = { 0 };
    *end = 0;
    text_format(&rest,
                "WHERE \"time_end\" > ? AND \"time_end\" <= ? AND \"time_start\" > 0"
                " AND \"time_start\" <= \"time_end\" ORDER BY \"time_end\" %s, \"time_eligible\" %s"
                " LIMIT 1",
                order, order);
    const struct query query = { .sql = rest.bytes, .arguments = span, .argument_count = 2 };
    int result = query_jobs(source, "\"time_end\"", &query, slurmdbd_take_number, end, err);
    text_free(&rest);
    return result;
}

int slurmdbd_read_ends(const struct source *source, uint64_t after, uint64_t until,
                       uint64_t *oldest, uint64_t *newest, struct error *err)
{
    const struct db_value span[] = { slurmdbd_time(after), slurmdbd_time(until) };
    return read_end(source, span, "ASC", oldest, err) || read_end(source, span, "DESC", newest, err)
               ? -1
               : 0;
}

/* Makes two queries for the reason given at select_by_end(). */
int slurmdbd_read_open_keys(const struct source *source, uint64_t now, struct job_keys *keys,
                            struct error *err)
{
    const struct db_value after = slurmdbd_time(now);
    const struct query queries[] = {
        { .sql = "WHERE \"time_end\" = 0" },
        { .sql = "WHERE \"time_end\" > ?", .arguments = &after, .argument_count = 1 },
    };
    int result = 0;
    for (size_t i = 0; !result && i < 2; i++)
        result = query_jobs(source, "\"job_db_inx\"", &queries[i], take_key, keys, err);
    job_keys_sort(keys);
    return result;
}

int slurmdbd_first_eligible(const struct source *source, uint64_t *eligible, struct error *err)
{
    static const struct query query = {
        .sql = "WHERE \"time_eligible\" > 0 AND \"time_end\" > 0 ORDER BY \"time_eligible\" LIMIT 1"
    };
    *eligible = 0;
    return query_jobs(source, "\"time_eligible\"", &query, slurmdbd_take_number, eligible, err);
}
