/* SPDX-License-Identifier: MIT */
#include "command/report/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/report/report_rows.h"
#include "command/report/report_tres.h"
#include "core/fairshare/algorithm.h"
#include "core/usage/calendar.h"
#include "db/db.h"
#include "report/job_place.h"
#include "report/page/view.h"
#include "report/priorities.h"
#include "results/published.h"
#include "results/published_jobs.h"
#include "results/rows.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "sql.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

#define TIMES_AT_MOST 60u
/* Maximum number of days in a period with one bar for each day.  In a longer period, each bar is a
 * week. */
#define DAYS_AT_MOST 120
/* Maximum number of series values in memory if each account has a page. */
#define NUMBERS_OF_ALL 8000000u

struct report_data_reading {
    struct db *db;
    struct page_cluster *cluster;
    struct id_index *places; /* the row of each existing association */
    /* Removed associations, and their last parents. */
    struct id_index *gone;
    int64_t *gone_parents;
    uint32_t gone_count;
    double *sums;            /* indexed by row: its usage of the current day */
    const char *chosen_tres; /* may be NULL */
    struct report_tres tres;
};

/* Calls `take` for each row of a query. */
static int report_data_for_each(struct report_data_reading *reading, struct db_rows *rows,
                                void (*take)(struct report_data_reading *, const struct db_value *),
                                struct error *err)
{
    const struct db_value *row;
    while (db_fetch(rows, &row, err) > 0)
        take(reading, row);
    return db_finish(rows);
}

/* ---- Daily usage ---- */

static void report_data_take_name(struct report_data_reading *reading, const struct db_value *row)
{
    uint64_t id = (uint64_t)row[1].integer;
    size_t length = strlen(reading->cluster->name);
    if (row[0].text.length != length || memcmp(row[0].text.bytes, reading->cluster->name, length))
        return;
    if (id_index_find(reading->places, id) != INDEX_NONE)
        return;
    reading->gone_parents =
        memory_grown(reading->gone_parents, reading->gone_count, sizeof *reading->gone_parents);
    uint32_t place = id_index_add(reading->gone, id, reading->gone_count);
    if (place == INDEX_NONE)
        place = reading->gone_count++;
    reading->gone_parents[place] = db_value_integer(&row[2], 0);
}

/* Returns the row that shows an association's usage: its own, the row of its nearest existing
 * ancestor if it was removed, or the root's.  Parents from different times can form a loop, so the
 * number of steps is limited. */
static uint32_t report_data_place_of(const struct report_data_reading *reading, int64_t id)
{
    for (uint32_t steps = 0; steps <= reading->gone_count; steps++) {
        uint32_t place = id_index_find(reading->places, (uint64_t)id);
        if (place != INDEX_NONE)
            return place;
        uint32_t gone = id_index_find(reading->gone, (uint64_t)id);
        if (gone == INDEX_NONE)
            break;
        id = reading->gone_parents[gone];
    }
    return 0;
}

static struct page_point *report_data_add_point(struct page_points *points, int64_t at)
{
    struct page_point *point = memory_append(&points->points, &points->count);
    *point = (struct page_point){ .at = at };
    return point;
}

/* Adds the usage of a day to all ancestors, and stores the day's point of each series. */
static void end_day(struct report_data_reading *reading)
{
    struct page_cluster *cluster = reading->cluster;
    if (!cluster->days.count)
        return;
    struct page_point *day = &cluster->days.points[cluster->days.count - 1];
    for (size_t i = cluster->row_count; i-- > 1;)
        reading->sums[cluster->rows[i].parent] += reading->sums[i];
    for (size_t i = 0; i < cluster->row_count; i++)
        cluster->rows[i].spent += reading->sums[i];
    for (size_t i = 0; i < cluster->series_count; i++)
        day->usage[i] = reading->sums[cluster->series[i]];
    memset(reading->sums, 0, cluster->row_count * sizeof *reading->sums);
    report_tres_end_day(&reading->tres, cluster, day);
}

/* Returns the start of the day or, if a bar is a week, of its Monday. */
static int64_t bar_of(const struct page_cluster *cluster, int64_t day)
{
    struct tm date;
    time_t at = (time_t)day;
    if (cluster->days_each == 1 || !localtime_r(&at, &date))
        return day;
    int64_t monday = day - (date.tm_wday + 6) % 7 * 86400;
    return monday < 0 ? day : (int64_t)calendar_day((uint64_t)monday + 43200);
}

static void report_data_take_day(struct report_data_reading *reading, const struct db_value *row)
{
    struct page_cluster *cluster = reading->cluster;
    struct page_points *days = &cluster->days;
    int64_t bar = bar_of(cluster, row[0].integer);
    if (!days->count || days->points[days->count - 1].at != bar) {
        end_day(reading);
        report_data_add_point(days, bar)->usage =
            memory_zeroed(cluster->series_count, sizeof(double));
    }
    uint32_t place = report_data_place_of(reading, row[1].integer);
    double use = db_value_real(&row[2]);
    if (!isnan(use))
        reading->sums[place] += use;
    report_tres_add(&reading->tres, cluster, place, &row[3]);
}

static int report_data_read_days(struct report_data_reading *reading, struct error *err)
{
    struct db_value span[] = { db_text(reading->cluster->name), db_integer(reading->cluster->from),
                               db_integer(reading->cluster->to) };
    if (report_data_for_each(
            reading, db_query(reading->db, sql_query_association_read, NULL, 0, "tiittt", err),
            report_data_take_name, err) ||
        report_tres_begin(&reading->tres, reading->db, reading->cluster, reading->chosen_tres,
                          err) ||
        report_data_for_each(reading,
                             db_query(reading->db, sql_query_report_days, span, 3,
                                      "iir"
                                      "iiiiiiiiiiiiiiii",
                                      err),
                             report_data_take_day, err))
        return -1;
    end_day(reading);
    int found = rows_read_integer(reading->db, sql_query_usage_day_oldest, span, 1,
                                  &reading->cluster->days_since, err);
    return found < 0 ? -1 : 0;
}

/* ---- Values over time ---- */

/* Adds a point in time.  Omits points whose factors were computed with a different algorithm. */
static void report_data_take_time(struct report_data_reading *reading, const struct db_value *row)
{
    struct page_cluster *cluster = reading->cluster;
    const char *algorithm = cluster->algorithm->name;
    if (row[1].text.length == strlen(algorithm) &&
        !memcmp(row[1].text.bytes, algorithm, row[1].text.length))
        report_data_add_point(&cluster->times, row[0].integer);
}

/* If there are too many points, keeps the last point of each of TIMES_AT_MOST intervals. */
static void thin_times(struct page_points *points, int64_t from, int64_t to)
{
    int64_t step = (to - from) / TIMES_AT_MOST + 1;
    size_t kept = 0;
    for (size_t i = 0; i < points->count; i++)
        if (points->count <= TIMES_AT_MOST || i + 1 == points->count ||
            (to - points->points[i].at) / step != (to - points->points[i + 1].at) / step)
            points->points[kept++] = points->points[i];
    points->count = kept;
}

static int report_data_read_time(const struct report_data_reading *reading,
                                 struct page_point *point, const uint32_t *series_of,
                                 struct error *err)
{
    const struct page_cluster *cluster = reading->cluster;
    struct db_value key[] = { db_text(cluster->name), db_integer(point->at) };
    const struct db_value *row;
    point->usage = memory_zeroed(cluster->series_count, sizeof(double));
    point->factor = memory_zeroed(cluster->series_count, sizeof(double));
    point->level_fs = memory_zeroed(cluster->series_count, sizeof(double));
    for (size_t i = 0; i < cluster->series_count; i++)
        point->usage[i] = point->factor[i] = point->level_fs[i] = NAN;
    struct db_rows *rows =
        db_query(reading->db, sql_query_report_point_values, key, 2, "innn", err);
    while (db_fetch(rows, &row, err) > 0) {
        uint32_t place = id_index_find(reading->places, (uint64_t)row[0].integer);
        uint32_t series = place == INDEX_NONE ? INDEX_NONE : series_of[place];
        if (series == INDEX_NONE || cluster->rows[place].id != row[0].integer)
            continue;
        published_check_point(cluster->name, row[0].integer, point->at, row + 1);
        point->factor[series] = db_value_real(&row[1]);
        point->usage[series] = db_value_real(&row[2]);
        point->level_fs[series] = rows_real_of(&row[3]);
    }
    return db_finish(rows);
}

static int report_data_read_times(struct report_data_reading *reading, struct error *err)
{
    struct page_cluster *cluster = reading->cluster;
    uint32_t *series_of = memory_zeroed(cluster->row_count, sizeof *series_of);
    memset(series_of, 0xff, cluster->row_count * sizeof *series_of);
    for (uint32_t i = 0; i < cluster->series_count; i++)
        series_of[cluster->series[i]] = i;
    int result = 0;
    for (size_t i = 0; !result && i < cluster->times.count; i++)
        result = report_data_read_time(reading, &cluster->times.points[i], series_of, err);
    free(series_of);
    return result;
}

static int report_data_by_usage(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    if (one->usage != other->usage)
        return one->usage > other->usage ? -1 : 1;
    return (one > other) - (one < other); /* a parent before its children */
}

static size_t series_room(const struct page_cluster *cluster, bool each)
{
    size_t bars = (size_t)((cluster->to - cluster->from) / 86400 / cluster->days_each) + 1;
    size_t numbers = bars + 3 * cluster->times.count;
    return each ? 1 + NUMBERS_OF_ALL / numbers : page_series_room(numbers);
}

/* Selects the associations that have series: from the selected accounts and their descendants, the
 * ones with the most usage. */
static void report_data_choose_series(struct report_data *data, bool each)
{
    struct page_cluster *cluster = &data->page;
    size_t room = series_room(cluster, each);
    bool *wanted = memory_zeroed(cluster->row_count, sizeof *wanted);
    for (size_t i = 0; i < data->top_count; i++)
        wanted[data->tops[i]] = true;
    cluster->series = memory_zeroed(cluster->row_count, sizeof *cluster->series);
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        wanted[i] |= wanted[cluster->rows[i].parent];
        if (wanted[i])
            cluster->series[cluster->series_count++] = i;
    }
    free(wanted);
    if (cluster->series_count)
        qsort_r(cluster->series, cluster->series_count, sizeof *cluster->series,
                report_data_by_usage, cluster->rows);
    if (cluster->series_count > room)
        cluster->series_count = room;
}

/* ---- Pending jobs ---- */

static void report_data_add_job(struct page_cluster *cluster, struct prio_list *list,
                                const struct prio_row *row, uint32_t account)
{
    struct text detail = job_reason_text(row);
    static const enum prio_part parts[PAGE_PARTS] = { PRIO_AGE,      PRIO_ASSOC,     PRIO_FAIRSHARE,
                                                      PRIO_JOB_SIZE, PRIO_PARTITION, PRIO_QOS };
    struct page_job *job = &cluster->jobs[cluster->job_count++];
    *job = (struct page_job){
        .id = row->id_job,
        .row = account,
        .user = row->user,
        .account = row->account,
        .partition = row->partition,
        .qos = row->qos,
        .priority = row->priority,
        .tres = row->tres_weighted,
        .site = row->site,
        .nice = row->nice,
        .place = row->place,
        .pool = row->pool,
        .reason = job_reason_label(row),
        .detail = prio_list_text(list, detail.bytes, detail.length),
        .job_id = row->job_id,
        .why = row->why,
        .terms = row->terms,
        .value = row->value,
        .has_priority = row->has_priority,
    };
    for (size_t i = 0; i < PAGE_PARTS; i++)
        job->parts[i] = row->weighted[parts[i]];
    text_free(&detail);
}

/* Returns an array, indexed by number of an account's name in `names`, with the row of the account.
 * Adds the names to `names`.  The caller frees the array. */
static uint32_t *accounts_of(const struct page_cluster *cluster, struct names *names)
{
    uint32_t *rows = memory_zeroed(cluster->row_count, sizeof *rows);
    for (uint32_t i = 0; i < cluster->row_count; i++) {
        const char *account = cluster->rows[i].account;
        uint32_t count = names_count(names), number = names_add(names, account, strlen(account));
        if (number == count || (*cluster->rows[rows[number]].user && !*cluster->rows[i].user))
            rows[number] = i;
    }
    return rows;
}

/* Reads the jobs in the order of their places.  The list owns their texts. */
static int report_data_read_jobs(struct report_data_reading *reading, struct prio_list *list,
                                 struct error *err)
{
    struct page_cluster *cluster = reading->cluster;
    if (published_jobs_read(reading->db, list, err))
        return -1;
    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, job_queue_order);
    struct names *names = names_create();
    uint32_t *rows = accounts_of(cluster, names);
    cluster->jobs = memory_zeroed(list->count + 1, sizeof *cluster->jobs);
    for (size_t i = 0; i < list->count; i++) {
        const char *account = list->rows[i].account;
        uint32_t number = names_find(names, account, strlen(account));
        if (list->rows[i].best)
            report_data_add_job(cluster, list, &list->rows[i],
                                number == INDEX_NONE ? 0 : rows[number]);
    }
    names_destroy(names);
    free(rows);
    return 0;
}

static int read_history(struct report_data_reading *reading, struct report_data *data, bool each,
                        struct error *err)
{
    struct page_cluster *cluster = reading->cluster;
    struct db_value span[] = { db_text(cluster->name), db_integer(cluster->from),
                               db_integer(cluster->to) };
    if (report_data_for_each(reading,
                             db_query(reading->db, sql_query_report_points, span, 3, "it", err),
                             report_data_take_time, err))
        return -1;
    thin_times(&cluster->times, cluster->from, cluster->to);
    report_data_choose_series(data, each);
    reading->sums = memory_zeroed(cluster->row_count, sizeof *reading->sums);
    return report_data_read_times(reading, err) || report_data_read_days(reading, err) ||
                   report_fairness_read(reading->db, cluster, err) ||
                   report_changes_read(reading->db, cluster, err)
               ? -1
               : 0;
}

/* ---- The request ---- */

/* Returns the TRES-seconds that a day can deliver, from the capacity of the newest run, or NAN if
 * unknown.  Without decay, only the settings can contain the capacity. */
static double capacity_of(const struct published_cluster *cluster)
{
    const struct settings *settings = cluster->settings;
    if (settings->capacity > 0)
        return settings->capacity * 86400;
    double whole = (double)cluster->half_life * settings->capacity_half_lives;
    return whole > 0 ? cluster->options.capacity / whole * 86400 : NAN;
}

static int set_span(struct page_cluster *cluster, const struct report_request *request,
                    struct error *err)
{
    cluster->to = request->until == INT64_MAX ? cluster->as_of : request->until;
    cluster->from =
        request->since == INT64_MIN ? cluster->to - (int64_t)request->days * 86400 : request->since;
    cluster->days_each = cluster->to - cluster->from > DAYS_AT_MOST * INT64_C(86400) ? 7 : 1;
    return cluster->from < cluster->to
               ? 0
               : fail(err, ERROR_USAGE,
                      "report: --since must be before the end of the shown period");
}

static void report_data_add_top(struct report_data *data, uint32_t row)
{
    for (size_t i = 0; i < data->top_count; i++)
        if (data->tops[i] == row)
            return;
    *memory_append(&data->tops, &data->top_count) = row;
}

static void find_tops(struct report_data *data, const struct name_list *accounts)
{
    if (!accounts->count)
        report_data_add_top(data, 0);
    for (size_t i = 0; i < accounts->count; i++) {
        uint32_t row = report_row_of_account(&data->page, accounts->values[i]);
        if (row != INDEX_NONE)
            report_data_add_top(data, row);
    }
}

static int report_data_read_all(struct report_data_reading *reading, struct report_data *data,
                                const struct report_request *request, struct error *err)
{
    find_tops(data, request->accounts);
    if (!data->top_count)
        return 0;
    return set_span(&data->page, request, err) ||
                   report_data_read_jobs(reading, data->queue, err) ||
                   read_history(reading, data, request->each, err)
               ? -1
               : 0;
}

int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, const struct report_request *request,
                     struct error *err)
{
    *data = (struct report_data){
        .page = { .name = cluster->name,
                  .algorithm = cluster->algorithm,
                  .time_zone = cluster->time_zone,
                  .accounts_only = request->accounts_only,
                  .as_of = cluster->as_of,
                  .terms = terminology_of(cluster->settings),
                  .unit = published_unit(cluster),
                  .half_life = (int64_t)cluster->half_life },
        .queue = published_job_list(cluster),
    };
    struct report_data_reading reading = {
        .db = published->db,
        .cluster = &data->page,
        .chosen_tres = request->tres,
        .places = id_index_create(),
        .gone = id_index_create(),
    };
    data->page.by_formula = data->queue->of_formula;
    int result = published_read_tree(published, cluster, err);
    if (!result) {
        data->page.capacity = capacity_of(cluster);
        report_rows_add(&data->page, cluster, reading.places);
        result = report_data_read_all(&reading, data, request, err);
    }
    id_index_destroy(reading.places);
    id_index_destroy(reading.gone);
    free(reading.gone_parents);
    free(reading.sums);
    report_tres_free(&reading.tres);
    return result;
}

static void points_free(struct page_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        free(points->points[i].usage);
        free(points->points[i].factor);
        free(points->points[i].level_fs);
        free(points->points[i].tres);
    }
    free(points->points);
}

void report_data_free(struct report_data *data)
{
    struct page_cluster *cluster = &data->page;
    prio_list_destroy(data->queue);
    points_free(&cluster->days);
    points_free(&cluster->times);
    free(cluster->rows);
    free(cluster->series);
    free(cluster->jobs);
    for (size_t i = 0; i < cluster->change_count; i++)
        free(cluster->changes[i].words);
    free(cluster->changes);
    free(cluster->fairness);
    for (size_t i = 0; i < cluster->tres_count; i++) {
        free(cluster->tres[i].name);
        free(cluster->tres[i].unit);
    }
    free(cluster->tres);
    free(data->tops);
}
