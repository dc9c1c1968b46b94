/* SPDX-License-Identifier: MIT */
#include "command/report/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "report/priorities.h"
#include "results/published.h"
#include "results/published_find.h"
#include "results/published_jobs.h"
#include "settings/settings.h"
#include "settings/words.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"

/* What keeps a page small.  A number of a series takes some six bytes. */
#define NUMBERS_AT_MOST 120000u
#define INSTANTS_AT_MOST 60u
#define JOBS_AT_MOST 500u

#define INFINITE_LEVEL_FS 1e100

struct reading {
    struct db *db;
    struct page_cluster *cluster;
    int64_t from;
    bool accounts_only;
    struct id_index
        *places; /* of living associations; of a user who is not told of, the account's */
    /* Associations that are gone, and what they hung below last. */
    struct id_index *gone;
    int64_t *gone_parents;
    uint32_t gone_count;
    double *sums; /* of a day, by row */
};

static double level_fs_of(const struct db_value *value)
{
    double level_fs = db_value_real(value);
    return level_fs >= INFINITE_LEVEL_FS ? INFINITY : level_fs;
}

/* Hand each row of a query to `take`. */
static int for_each(struct reading *reading, struct db_rows *rows,
                    void (*take)(struct reading *, const struct db_value *), struct error *err)
{
    const struct db_value *row;
    while (db_fetch(rows, &row, err) > 0)
        take(reading, row);
    return db_finish(rows);
}

/* ---- the tree ---- */

/* Parents first. */
static int by_depth_and_id(const void *a, const void *b, void *nodes)
{
    const struct node *one = (const struct node *)nodes + *(const uint32_t *)a;
    const struct node *other = (const struct node *)nodes + *(const uint32_t *)b;
    if (one->depth != other->depth)
        return one->depth < other->depth ? -1 : 1;
    return (one->id > other->id) - (one->id < other->id);
}

static void add_row(struct reading *reading, const struct published_cluster *published, uint32_t i)
{
    struct page_cluster *cluster = reading->cluster;
    const struct node *node = &published->tree->nodes[i];
    const struct values *values = &published->values[i];
    const struct algorithm *algorithm = published->algorithm;
    struct association_name name = published_name(published, i);
    uint32_t place = (uint32_t)cluster->row_count;
    uint32_t parent =
        i ? id_index_find(reading->places, published->tree->nodes[node->parent].id) : place;
    if (reading->accounts_only && node->is_user) {
        id_index_add(reading->places, node->id, parent);
        return;
    }
    cluster->rows[cluster->row_count++] = (struct page_row){
        .id = node->id,
        .parent = parent,
        .account = name.account,
        .user = name.user,
        .partition = name.partition,
        .shares = node_has_parent_shares(node) ? -1 : node->shares,
        .share = algorithm->norm_shares(values),
        .usage = values->usage_raw,
        .used = algorithm->effective_usage(values),
        .factor = algorithm->factor(values),
        .level_fs = algorithm->ranks_users ? values->level_fs : NAN,
        .order = published->order[i],
    };
    id_index_add(reading->places, node->id, place);
}

static void add_rows(struct reading *reading, const struct published_cluster *published)
{
    const struct tree *tree = published->tree;
    uint32_t *order = memory_zeroed(tree->count, sizeof *order);
    for (uint32_t i = 0; i < tree->count; i++)
        order[i] = i;
    qsort_r(order, tree->count, sizeof *order, by_depth_and_id, tree->nodes);
    reading->cluster->rows = memory_zeroed(tree->count, sizeof *reading->cluster->rows);
    for (uint32_t i = 0; i < tree->count; i++)
        add_row(reading, published, order[i]);
    free(order);
}

/* ---- use by day ---- */

static void take_name(struct reading *reading, const struct db_value *row)
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

/* Where an association's use is shown: with itself, or with what it hung below and is still there.
 * Names of different times may make a ring. */
static uint32_t place_of(const struct reading *reading, int64_t id)
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

static struct page_point *add_point(struct page_points *points, int64_t at)
{
    points->points = memory_grown(points->points, points->count, sizeof *points->points);
    struct page_point *point = &points->points[points->count++];
    *point = (struct page_point){ .at = at };
    return point;
}

/* What those below used is used by an account, too. */
static void end_day(struct reading *reading)
{
    struct page_cluster *cluster = reading->cluster;
    if (!cluster->days.count)
        return;
    struct page_point *day = &cluster->days.points[cluster->days.count - 1];
    for (size_t i = cluster->row_count; i-- > 1;)
        if (cluster->rows[i].parent != i)
            reading->sums[cluster->rows[i].parent] += reading->sums[i];
    for (size_t i = 0; i < cluster->series_count; i++)
        day->usage[i] = reading->sums[cluster->series[i]];
    memset(reading->sums, 0, cluster->row_count * sizeof *reading->sums);
}

static void take_day(struct reading *reading, const struct db_value *row)
{
    struct page_cluster *cluster = reading->cluster;
    struct page_points *days = &cluster->days;
    if (!days->count || days->points[days->count - 1].at != row[0].integer) {
        end_day(reading);
        add_point(days, row[0].integer)->usage =
            memory_zeroed(cluster->series_count, sizeof(double));
    }
    double use = db_value_real(&row[2]);
    if (!isnan(use))
        reading->sums[place_of(reading, row[1].integer)] += use;
}

static int read_days(struct reading *reading, struct error *err)
{
    struct db_value span[] = { db_text(reading->cluster->name), db_integer(reading->from),
                               db_integer(reading->cluster->as_of) };
    if (for_each(reading, db_query(reading->db, sql_query_association_read, NULL, 0, "tiittt", err),
                 take_name, err) ||
        for_each(reading, db_query(reading->db, sql_query_usage_day_span, span, 3, "iir", err),
                 take_day, err))
        return -1;
    end_day(reading);
    return 0;
}

/* ---- values over time ---- */

/* Factors of another algorithm are left out. */
static void take_instant(struct reading *reading, const struct db_value *row)
{
    struct page_cluster *cluster = reading->cluster;
    if (row[1].text.length == strlen(cluster->algorithm) &&
        !memcmp(row[1].text.bytes, cluster->algorithm, row[1].text.length))
        add_point(&cluster->instants, row[0].integer);
}

/* Of many points the last one of each of so many spans. */
static void thin_instants(struct page_points *points, int64_t from, int64_t to)
{
    int64_t step = (to - from) / INSTANTS_AT_MOST + 1;
    size_t kept = 0;
    for (size_t i = 0; i < points->count; i++)
        if (points->count <= INSTANTS_AT_MOST || i + 1 == points->count ||
            (to - points->points[i].at) / step != (to - points->points[i + 1].at) / step)
            points->points[kept++] = points->points[i];
    points->count = kept;
}

static int read_instant(const struct reading *reading, struct page_point *point,
                        const uint32_t *series_of, struct error *err)
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
        point->level_fs[series] = level_fs_of(&row[3]);
    }
    return db_finish(rows);
}

static int read_instants(struct reading *reading, struct error *err)
{
    struct page_cluster *cluster = reading->cluster;
    uint32_t *series_of = memory_zeroed(cluster->row_count, sizeof *series_of);
    memset(series_of, 0xff, cluster->row_count * sizeof *series_of);
    for (uint32_t i = 0; i < cluster->series_count; i++)
        series_of[cluster->series[i]] = i;
    int result = 0;
    for (size_t i = 0; !result && i < cluster->instants.count; i++)
        result = read_instant(reading, &cluster->instants.points[i], series_of, err);
    free(series_of);
    return result;
}

static int by_usage(const void *a, const void *b, void *rows)
{
    const struct page_row *one = (struct page_row *)rows + *(const uint32_t *)a;
    const struct page_row *other = (struct page_row *)rows + *(const uint32_t *)b;
    if (one->usage != other->usage)
        return one->usage > other->usage ? -1 : 1;
    return (one > other) - (one < other); /* the parent, of two */
}

/* Whose series are shown: the root's, and those of who used most. */
static void choose_series(struct page_cluster *cluster, uint64_t days)
{
    size_t room = (size_t)(NUMBERS_AT_MOST / (days + 3 * cluster->instants.count));
    cluster->series = memory_zeroed(cluster->row_count, sizeof *cluster->series);
    for (uint32_t i = 0; i < cluster->row_count; i++)
        cluster->series[i] = i;
    cluster->series_count = cluster->row_count;
    qsort_r(cluster->series, cluster->row_count, sizeof *cluster->series, by_usage, cluster->rows);
    if (cluster->series_count > room + 1)
        cluster->series_count = room + 1;
}

/* ---- the queue ---- */

static void add_job(struct reading *reading, const struct prio_row *row)
{
    static const enum prio_part parts[PAGE_PARTS] = { PRIO_AGE,      PRIO_ASSOC,     PRIO_FAIRSHARE,
                                                      PRIO_JOB_SIZE, PRIO_PARTITION, PRIO_QOS };
    struct page_cluster *cluster = reading->cluster;
    struct page_job *job = &cluster->jobs[cluster->job_count++];
    *job = (struct page_job){
        .id = row->id_job,
        .user = row->user,
        .account = row->account,
        .partition = row->partition,
        .qos = row->qos,
        .priority = row->priority,
        .tres = row->tres_weighted,
        .site = row->site,
        .nice = row->nice,
        .job_id = row->job_id,
        .why = row->why,
        .terms = row->terms,
        .value = row->value,
        .has_priority = row->has_priority,
    };
    for (size_t i = 0; i < PAGE_PARTS; i++)
        job->parts[i] = row->weighted[parts[i]];
}

static int by_priority(const void *a, const void *b)
{
    const struct prio_row *one = a, *other = b;
    if (one->of_formula && one->has_priority != other->has_priority)
        return one->has_priority ? -1 : 1;
    if (one->priority != other->priority)
        return one->priority > other->priority ? -1 : 1;
    return (one->id_job > other->id_job) - (one->id_job < other->id_job);
}

/* The highest priorities first; the texts are the list's. */
static int read_jobs(struct reading *reading, struct prio_list *list, struct error *err)
{
    struct page_cluster *cluster = reading->cluster;
    if (published_jobs_read(reading->db, list, err))
        return -1;
    if (list->count)
        qsort(list->rows, list->count, sizeof *list->rows, by_priority);
    cluster->jobs = memory_zeroed(JOBS_AT_MOST, sizeof *cluster->jobs);
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].best && cluster->job_total++ < JOBS_AT_MOST && !reading->accounts_only)
            add_job(reading, &list->rows[i]);
    return 0;
}

static int read_history(struct reading *reading, uint64_t days, struct error *err)
{
    struct page_cluster *cluster = reading->cluster;
    struct db_value span[] = { db_text(cluster->name), db_integer(reading->from),
                               db_integer(cluster->as_of) };
    if (for_each(reading, db_query(reading->db, sql_query_report_points, span, 3, "it", err),
                 take_instant, err))
        return -1;
    thin_instants(&cluster->instants, reading->from, cluster->as_of);
    choose_series(cluster, days);
    reading->sums = memory_zeroed(cluster->row_count, sizeof *reading->sums);
    return read_instants(reading, err) || read_days(reading, err) ? -1 : 0;
}

int report_data_read(struct report_data *data, struct published *published,
                     struct published_cluster *cluster, uint64_t days, bool accounts_only,
                     struct error *err)
{
    *data = (struct report_data){
        .page = { .name = cluster->name,
                  .algorithm = cluster->algorithm->name,
                  .time_zone = cluster->time_zone,
                  .as_of = cluster->as_of,
                  .words = words_of(cluster->settings),
                  .unit = published_unit(cluster),
                  .half_life = (int64_t)cluster->half_life },
        .queue = published_job_list(cluster),
    };
    struct reading reading = {
        .db = published->db,
        .cluster = &data->page,
        .accounts_only = accounts_only,
        .from = cluster->as_of - (int64_t)days * 86400,
        .places = id_index_create(),
        .gone = id_index_create(),
    };
    data->page.of_pbs = data->queue->of_formula;
    int result = published_read_tree(published, cluster, err);
    if (!result) {
        add_rows(&reading, cluster);
        result = read_jobs(&reading, data->queue, err);
    }
    if (!result)
        result = read_history(&reading, days, err);
    id_index_destroy(reading.places);
    id_index_destroy(reading.gone);
    free(reading.gone_parents);
    free(reading.sums);
    return result;
}

static void points_free(struct page_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        free(points->points[i].usage);
        free(points->points[i].factor);
        free(points->points[i].level_fs);
    }
    free(points->points);
}

void report_data_free(struct report_data *data)
{
    struct page_cluster *cluster = &data->page;
    prio_list_destroy(data->queue);
    points_free(&cluster->days);
    points_free(&cluster->instants);
    free(cluster->rows);
    free(cluster->series);
    free(cluster->jobs);
}
