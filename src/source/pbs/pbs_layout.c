/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/usage/entity.h"
#include "settings/settings.h"
#include "source/pbs/charging.h"
#include "source/pbs/imported.h"
#include "source/pbs/rules.h"
#include "source/reading.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"

/*
 * The layout `pbs`: OpenPBS's data as `fairmill import pbs` stores it.  It has the tree as of any
 * time, and one row for each job execution.  An execution is charged to the job's entity.
 */

static const char root_name[] = "TREEROOT", unknown_name[] = ENTITY_UNKNOWN_NAME;

static const char *const tables[] = { "pbs_entity",     "pbs_group",  "pbs_job",
                                      "pbs_queue",      "pbs_queued", "pbs_refused",
                                      "pbs_suspension", "pbs_seen",   "pbs_setting",
                                      "pbs_usage",      NULL };

static int pbs_read_clusters(const struct source *source, struct cluster_list *list,
                             struct error *err)
{
    const struct query query = { .sql = sql_query_pbs_clusters, .types = "ti" };
    struct cluster_list read = { 0 };
    if (pbs_read(source, &query, reading_cluster, &read, err)) {
        cluster_list_free(&read);
        return -1;
    }
    reading_sort_clusters(&read);
    *list = read;
    return 0;
}

/* ---- the tree ---- */

/* A line of resource_group, or an equivalent line for another entity. */
struct pbs_line {
    struct db_value name, parent; /* `parent` is a name, too */
    int64_t id, shares;
};

struct tree_reader {
    struct accounting *accounting;
    uint32_t *parents; /* indexed by row: index of the parent's name */
    struct names *lines, *groups;
    uint32_t *ids; /* ids of associations, indexed by the number in `lines` */
};

static uint32_t pbs_name_of(const struct names *names, const struct names *other, uint32_t number)
{
    return names_find(other, names_text(names, number), names_length(names, number));
}

/*
 * Appends a row.  The account of the row is its own name until pbs_place_rows() sets the account.
 */
static int pbs_add_line(struct tree_reader *reader, const struct pbs_line *line, struct error *err)
{
    struct accounting *accounting = reader->accounting;
    const struct db_value row[] = { db_integer(line->id), db_integer(0), line->name,
                                    db_text(""),          db_text(""),   db_integer(line->shares),
                                    db_integer(0) };
    struct association *added;
    size_t at = accounting->count;
    uint32_t count = names_count(reader->lines);
    if (names_add(reader->lines, line->name.text.bytes, line->name.text.length) != count)
        return 0;
    if (reading_association(accounting, row, &added, err))
        return -1;
    reader->parents = memory_grown(reader->parents, at, sizeof *reader->parents);
    reader->parents[at] = reading_name(accounting, &line->parent);
    reader->ids = memory_grown(reader->ids, count, sizeof *reader->ids);
    reader->ids[count] = added->id;
    names_add(reader->groups, line->parent.text.bytes, line->parent.text.length);
    return 0;
}

static int take_group(void *context, const struct db_value *row, struct error *err)
{
    bool of_root = reads_as(row[2].text.bytes, row[2].text.length, ENTITY_ROOT_NAME);
    const struct pbs_line line = { row[0], of_root ? db_text(root_name) : row[2],
                                   db_value_integer(&row[1], 0), db_value_integer(&row[3], 0) };
    return pbs_add_line(context, &line, err);
}

/* An entity that is not in resource_group gets one share below `unknown`. */
static int take_seen(void *context, const struct db_value *row, struct error *err)
{
    const struct pbs_line line = { row[0], db_text(unknown_name), db_value_integer(&row[1], 0), 1 };
    return pbs_add_line(context, &line, err);
}

/* An entity without children is a user.  Its account has the name of its parent. */
static void pbs_place_rows(const struct tree_reader *reader)
{
    struct accounting *accounting = reader->accounting;
    const struct names *names = accounting->names;
    for (size_t i = 0; i < accounting->count; i++) {
        struct association *row = &accounting->rows[i];
        uint32_t parent = pbs_name_of(names, reader->lines, reader->parents[i]);
        bool is_group = pbs_name_of(names, reader->groups, row->account) != INDEX_NONE;
        row->parent_id = parent == INDEX_NONE ? 0 : reader->ids[parent];
        row->order = (uint32_t)i;
        if (is_group) {
            row->parent_account = reader->parents[i];
        } else {
            row->user = row->account;
            row->account = reader->parents[i];
        }
    }
}

static int pbs_read_lines(struct tree_reader *reader, const struct source *source,
                          const struct pbs_rules *rules, int64_t time, struct error *err)
{
    const struct pbs_line root = { db_text(root_name), db_text(""), ENTITY_ROOT, 1 };
    struct pbs_line unknown = { db_text(unknown_name), db_text(root_name), ENTITY_UNKNOWN, 0 };
    const struct db_value arguments[] = { db_text(source->cluster), db_integer(time),
                                          db_integer(time) };
    const struct query groups = { .sql = sql_query_pbs_group_as_of,
                                  .arguments = arguments,
                                  .argument_count = 3,
                                  .types = "titi" };
    const struct db_value of_kind[] = { db_text(source->cluster),
                                        db_text(rules->values[PBS_ENTITY]), db_integer(time) };
    const struct query seen = {
        .sql = sql_query_pbs_seen_as_of, .arguments = of_kind, .argument_count = 3, .types = "ti"
    };
    uint64_t shares = 0;
    const char *value = rules->values[PBS_UNKNOWN_SHARES];
    number_unsigned(value, strlen(value), &shares);
    unknown.shares = (int64_t)shares;
    names_add(reader->groups, unknown_name, strlen(unknown_name));
    return pbs_add_line(reader, &root, err) || pbs_add_line(reader, &unknown, err) ||
                   pbs_read(source, &groups, take_group, reader, err) ||
                   pbs_read(source, &seen, take_seen, reader, err)
               ? -1
               : 0;
}

static int read_tree(struct accounting *accounting, const struct source *source,
                     const struct pbs_rules *rules, int64_t time, struct error *err)
{
    struct tree_reader reader = { .accounting = accounting,
                                  .lines = names_create(),
                                  .groups = names_create() };
    int result = pbs_read_lines(&reader, source, rules, time, err);
    if (!result)
        pbs_place_rows(&reader);
    names_destroy(reader.lines);
    names_destroy(reader.groups);
    free(reader.parents);
    free(reader.ids);
    return result;
}

static int take_entity(void *context, const struct db_value *row, struct error *err)
{
    const struct part name = part_of_column(&row[0]);
    (void)err;
    pbs_charging_add(context, name, reading_number(&row[1]));
    return 0;
}

static int read_charging(struct accounting *accounting, const struct source *source,
                         const struct pbs_rules *rules, struct error *err)
{
    const struct db_value cluster = db_text(source->cluster);
    const struct query query = {
        .sql = sql_query_pbs_entity_all, .arguments = &cluster, .argument_count = 1, .types = "ti"
    };
    accounting->pbs = pbs_charging_create(entity_kind_of(rules->values[PBS_ENTITY]),
                                          rules->values[PBS_USAGE_RES], err);
    if (!accounting->pbs)
        return -1;
    pbs_charging_keep(accounting->pbs, source->settings->tres);
    return pbs_read(source, &query, take_entity, accounting->pbs, err);
}

static void pbs_add_tres(struct accounting *accounting)
{
    for (size_t i = 0; pbs_tres_names[i]; i++)
        *memory_append(&accounting->tres, &accounting->tres_count) = (struct tres_name){
            .id = i + 1, .name = memory_text(pbs_tres_names[i]), .automatic = i < PBS_AUTOMATIC_TRES
        };
}

static int pbs_read_small(const struct source *source, struct accounting **read, struct error *err)
{
    struct pbs_rules rules;
    int64_t time = pbs_time(source);
    if (pbs_rules_read(&rules, source, time, err))
        return -1;
    struct accounting *accounting = accounting_create(NULL);
    int result = read_tree(accounting, source, &rules, time, err);
    if (!result)
        result = read_charging(accounting, source, &rules, err);
    pbs_rules_free(&rules);
    pbs_add_tres(accounting);
    if (result)
        accounting_destroy(accounting);
    else
        *read = accounting;
    return result;
}

/* ---- job executions ---- */

struct run_rows {
    struct job_reading base;
    struct pbs_charging *charging;
    uint64_t now;
    bool suspensions; /* return suspensions instead of executions */
    bool asked;
    struct db_value arguments[7];
    struct charge_rate rate; /* of the current row, as are the next two */
    struct suspension suspension;
    struct text tres;
};

enum {
    RUN_KEY,
    RUN_ID,
    RUN_EUSER,
    RUN_EGROUP,
    RUN_ACCOUNT,
    RUN_QUEUE,
    RUN_START,
    RUN_END,
    RUN_REQUESTED,
    RUN_USED,
    RUN_SUSPENDED,
    SUSPENSION_START,
    SUSPENSION_END,
    RUN_QUEUED = SUSPENSION_START, /* if the rows are not suspensions */
    RUN_ELIGIBLE
};

/* Adds the queue, and the time since which the execution could start. */
static void pbs_add_waits(const struct db_value *values, struct job_row *row)
{
    const struct part queue = part_of_column(&values[RUN_QUEUE]);
    uint64_t queued = reading_number(&values[RUN_QUEUED]);
    uint64_t eligible = reading_number(&values[RUN_ELIGIBLE]);
    row->partition = queue.bytes;
    row->partition_length = queue.length;
    row->waited_since = eligible > queued ? eligible : queued;
}

static bool pbs_make_row(struct job_reading *reading, const struct db_value *values,
                         struct job_row *row)
{
    struct run_rows *rows = (struct run_rows *)reading;
    struct job job = { .time_start = reading_number(&values[RUN_START]),
                       .time_end = reading_number(&values[RUN_END]) };
    bool ended = job.time_end && job.time_end <= rows->now + CLOCK_SKEW_S;
    struct part texts[PBS_ENTITY_TEXTS];
    for (size_t i = 0; i < PBS_ENTITY_TEXTS; i++)
        texts[i] = part_of_column(&values[RUN_EUSER + i]);
    bool is_empty = ended && job.time_end == job.time_start;
    if (is_empty) /* charge an execution of 0 seconds in full, too */
        job.time_start--;
    uint64_t suspended = reading_number(&values[RUN_SUSPENDED]), until = job.time_end;
    struct pbs_run run = { part_of_column(&values[RUN_REQUESTED]),
                           ended ? part_of_column(&values[RUN_USED]) : (struct part){ "", 0 }, 0 };
    if (!run.used.length)
        until = pbs_charging_limit(rows->charging, run.requested, &job, suspended, rows->now,
                                   reading->base.source.settings->open_job_cap_s);
    uint64_t length = until > job.time_start ? until - job.time_start : 1;
    run.length_s = suspended < length ? length - suspended : length;
    rows->rate = (struct charge_rate){ .rate = pbs_charging_rate(rows->charging, &run) };
    rows->tres.length = 0;
    if (!is_empty && suspended < length)
        pbs_charging_tres(rows->charging, &run, &rows->tres);
    const struct part id = part_of_column(&values[RUN_ID]);
    *row = (struct job_row){
        .id_job = reading_number(&values[RUN_KEY]),
        .name = id.bytes,
        .name_length = id.length,
        .association = pbs_charging_entity(rows->charging, texts),
        .rate = &rows->rate,
        .job = job,
        .tres = rows->tres.length ? rows->tres.bytes : "",
        .tres_length = rows->tres.length,
    };
    if (reading->base.source.waits && !rows->suspensions)
        pbs_add_waits(values, row);
    if (rows->suspensions) {
        /* If a job was always suspended but used something, its usage is spread evenly over the
         * execution.  A start of 0 means that there is no suspension. */
        bool is_none = suspended >= length && run.used.length;
        rows->suspension =
            (struct suspension){ row->id_job,
                                 is_none ? 0 : reading_number(&values[SUSPENSION_START]),
                                 reading_number(&values[SUSPENSION_END]) };
        row->suspension = &rows->suspension;
    }
    return true;
}

static int pbs_ask(struct reading *reading, struct error *err)
{
    struct run_rows *rows = (struct run_rows *)reading;
    const struct query runs = { .sql = sql_query_pbs_job_since,
                                .arguments = rows->arguments,
                                .argument_count = 6,
                                .types = "itttttiittiii",
                                .has_many = true };
    const struct query suspensions = { .sql = sql_query_pbs_suspension_since,
                                       .arguments = rows->arguments,
                                       .argument_count = 7,
                                       .types = "itttttiittiii" };
    if (rows->asked)
        return 0;
    rows->asked = true;
    return reading_run(reading, rows->suspensions ? &suspensions : &runs, err);
}

static int explain_rows(const struct reading *reading, struct error *err)
{
    return pbs_explain(&reading->source, err);
}

static void pbs_end_rows(struct reading *reading)
{
    text_free(&((struct run_rows *)reading)->tres);
}

static struct run_rows *pbs_rows_of(const struct source *source,
                                    const struct accounting *accounting,
                                    const struct job_range *range)
{
    struct run_rows *rows = memory_zeroed(1, sizeof *rows);
    struct db_value cluster = db_text(source->cluster), now = db_integer(pbs_time(source));
    rows->base.base = (struct reading){
        .source = *source, .ask = pbs_ask, .explain = explain_rows, .end = pbs_end_rows
    };
    rows->base.make = pbs_make_row;
    rows->charging = accounting->pbs;
    rows->now = (uint64_t)pbs_time(source);
    const struct db_value arguments[] = { now, now, cluster, now, cluster, db_unsigned(range->from),
                                          now };
    memcpy(rows->arguments, arguments, sizeof arguments);
    return rows;
}

static struct job_reading *runs_of(const struct source *source, const struct accounting *accounting,
                                   const struct job_range *range)
{
    return &pbs_rows_of(source, accounting, range)->base;
}

static struct job_reading *pbs_suspensions_of(const struct source *source,
                                              const struct accounting *accounting,
                                              const struct job_range *range)
{
    struct run_rows *rows = pbs_rows_of(source, accounting, range);
    rows->suspensions = true;
    return &rows->base;
}

struct ends {
    uint64_t oldest, newest;
};

static int take_ends(void *context, const struct db_value *row, struct error *err)
{
    struct ends *ends = context;
    (void)err;
    ends->oldest = reading_number(&row[0]);
    ends->newest = reading_number(&row[1]);
    return 0;
}

static int pbs_read_ends(const struct source *source, uint64_t after, uint64_t until,
                         uint64_t *oldest, uint64_t *newest, struct error *err)
{
    struct ends ends = { 0, 0 };
    const struct db_value arguments[] = { db_text(source->cluster), db_unsigned(after),
                                          db_unsigned(until) };
    const struct query query = {
        .sql = sql_query_pbs_job_ends, .arguments = arguments, .argument_count = 3, .types = "ii"
    };
    int result = pbs_read(source, &query, take_ends, &ends, err);
    *oldest = ends.oldest;
    *newest = ends.newest;
    return result;
}

static void pbs_add_grants(struct text *text, const struct settings *settings, const char *cluster)
{
    for (size_t i = 0; !cluster && tables[i]; i++) {
        size_t before = text->length;
        db_add_grant(text, &settings->source, "SELECT", NULL, tables[i]);
        if (text->length > before)
            text_add(text, ";\n");
    }
}

/*
 * Every run of fairmill reads all rows that can be included in usage.  The charge of a job depends
 * on parameters that the database may change.
 */
const struct layout layout_pbs = {
    .name = "pbs",
    .tells_past = true,
    .has_waits = true,
    .omits_suspended = true,
    .imported = &pbs_imported,
    .clusters = pbs_read_clusters,
    .read = pbs_read_small,
    .jobs = runs_of,
    .suspensions = pbs_suspensions_of,
    .read_ends = pbs_read_ends,
    .add_grants = pbs_add_grants,
};
