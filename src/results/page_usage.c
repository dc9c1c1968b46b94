/* SPDX-License-Identifier: MIT */
#include "results/page_usage.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/insight/statement.h"
#include "core/tree/association_times.h"
#include "core/usage/calendar.h"
#include "core/usage/decay_table.h"
#include "db/db.h"
#include "report/page/cluster.h"
#include "results/association_times.h"
#include "results/published.h"
#include "results/published_waits.h"
#include "results/usage_days.h"
#include "sql.h"
#include "util/index.h"
#include "util/memory.h"

/* The columns of sql_query_report_days and sql_query_report_days_of_four. */
enum { DAY, ID, CHARGED, FIRST_TRES };
#define FEW_TRES 4u

/* The statement of a unit, which fills the unit's months. */
struct page_usage_statement {
    const struct page_usage *usage;
    size_t unit;
    struct statement *statement;
};
struct page_usage {
    struct page_cluster *page;
    struct db *db;
    const struct id_index *rows;
    struct association_times times;
    struct id_index *last_times;       /* index in `parents`, by id of the association */
    struct association_since *parents; /* the last state of each association */
    size_t parent_count;
    struct page_usage_statement *statements; /* one for each unit */
    int64_t oldest, end;                     /* first day with usage; end of the complete usage */
    int64_t week_from;                       /* start of the time for `used_a_day` */
    size_t week;                             /* index of the week of the current day */
};

static int64_t page_usage_month_of(int64_t time)
{
    const struct reset_period month = { .unit = RESET_MONTHLY };
    return (int64_t)calendar_last_reset(&month, (uint64_t)time);
}

static int64_t page_usage_end_of_month(int64_t time)
{
    return (int64_t)calendar_next_month((uint64_t)time);
}

/* ---- Periods ---- */

static int page_usage_find_span(struct page_usage *usage, struct error *err)
{
    struct page_cluster *page = usage->page;
    const struct usage_days days = { .results = usage->db, .cluster = page->name };
    int64_t known;
    if (usage_days_reach(&days, &known, &usage->oldest, err))
        return -1;
    usage->end = page->to < known ? (int64_t)calendar_day((uint64_t)page->to) : known;
    if (usage->end <= usage->oldest)
        usage->end = usage->oldest = 0;
    return 0;
}

void page_usage_set_weeks(struct page_weeks *weeks, int64_t time)
{
    int64_t week = waits_day_before((int64_t)calendar_next_week((uint64_t)time), 7);
    weeks->count = PAGE_WEEKS;
    for (size_t i = PAGE_WEEKS; i-- > 0; week = waits_day_before(week, 7))
        weeks->weeks[i] = (struct page_week){ week, 0 };
}

static void page_usage_set_periods(struct page_usage *usage)
{
    struct page_months *months = &usage->page->months;
    int64_t last = usage->end - 1;
    months->starts[PAGE_MONTHS] = page_usage_end_of_month(last);
    for (size_t i = PAGE_MONTHS; i-- > 0;)
        months->starts[i] = page_usage_month_of(months->starts[i + 1] - 1);
    while (months->first < PAGE_MONTHS && months->starts[months->first + 1] <= usage->oldest)
        months->first++;
    page_usage_set_weeks(&usage->page->use_weeks, last);
    usage->week_from = waits_day_before(last, 7);
    if (usage->week_from < usage->oldest)
        usage->week_from = usage->oldest;
}

/* Divides the sums of the weeks by the number of days with known usage. */
static void page_usage_end_weeks(struct page_usage *usage)
{
    struct page_cluster *page = usage->page;
    for (size_t i = 0; i < page->use_weeks.count; i++) {
        struct page_week *week = &page->use_weeks.weeks[i];
        int64_t to = i + 1 < PAGE_WEEKS ? week[1].at : usage->end;
        int64_t from = week->at < usage->oldest ? usage->oldest : week->at;
        week->value = from < to ? week->value * 86400 / (double)(to - from) : NAN;
    }
    page->used_a_day *= 86400 / (double)(usage->end - usage->week_from);
}

/* ---- Statements ---- */

/* Stores a month of all rows.  The tree of the period also has removed associations. */
static void page_usage_take_month(void *context, const struct statement_period *period)
{
    const struct page_usage_statement *of = context;
    const struct page_usage *usage = of->usage;
    struct page_cluster *page = usage->page;
    double scale = page->units[of->unit].scale;
    size_t month = 0;
    while (month < PAGE_MONTHS && page->months.starts[month] != period->from)
        month++;
    if (period->is_total || month == PAGE_MONTHS)
        return;
    for (uint32_t i = 0; i < period->tree->count; i++) {
        uint32_t id = period->tree->nodes[i].id, row = id_index_find(usage->rows, id);
        if (row == INDEX_NONE || page->rows[row].id != id)
            continue;
        size_t index = page_month_index(page, of->unit, row, month);
        page->months.used[index] = (float)(period->used[i] * scale);
        page->months.due[index] = (float)(period->due[i] * scale);
    }
}

static void page_usage_make_room(struct page_months *months, size_t count)
{
    months->used = memory_zeroed(count, sizeof *months->used);
    months->due = memory_zeroed(count, sizeof *months->due);
    for (size_t i = 0; i < count; i++)
        months->due[i] = NAN;
}

static void page_usage_begin_statements(struct page_usage *usage,
                                        const struct fairshare_options *fairshare)
{
    struct page_cluster *page = usage->page;
    struct statement_options options = {
        .times = &usage->times,
        .fairshare = fairshare,
        .capacity = NAN,
        .from = page->months.starts[0],
        .to = usage->end,
        .end_of = page_usage_end_of_month,
        .take = page_usage_take_month,
    };
    usage->statements = memory_zeroed(page->unit_count, sizeof *usage->statements);
    for (size_t i = 0; i < page->unit_count; i++) {
        options.context = &usage->statements[i];
        usage->statements[i] = (struct page_usage_statement){ usage, i, NULL };
        usage->statements[i].statement = statement_create(&options);
    }
    page_usage_make_room(&page->months, page->unit_count * page->row_count * PAGE_MONTHS);
}

static int page_usage_end_statements(struct page_usage *usage, struct error *err)
{
    for (size_t i = 0; i < usage->page->unit_count; i++)
        if (statement_end(usage->statements[i].statement, err))
            return -1;
    return 0;
}

/* ---- Days ---- */

static void page_usage_index_times(struct page_usage *usage)
{
    const struct association_times *times = &usage->times;
    for (uint32_t i = (uint32_t)times->count; i-- > 0;) {
        uint32_t known =
            id_index_add(usage->last_times, times->rows[i].row.id, (uint32_t)usage->parent_count);
        if (known == INDEX_NONE)
            *memory_append(&usage->parents, &usage->parent_count) = times->rows[i];
        else if (usage->parents[known].at < times->rows[i].at)
            usage->parents[known] = times->rows[i];
    }
}

/* Returns the row that shows an association's usage: its own, the row of its nearest existing
 * ancestor if it was removed, or the root's.  Parents from different times can form a loop, so the
 * number of steps is limited. */
static uint32_t page_usage_row_of(const struct page_usage *usage, uint64_t id)
{
    for (size_t steps = 0; steps <= usage->parent_count; steps++) {
        uint32_t row = id_index_find(usage->rows, id);
        if (row != INDEX_NONE)
            return row;
        uint32_t removed = id_index_find(usage->last_times, id);
        if (removed == INDEX_NONE)
            break;
        id = usage->parents[removed].row.parent_id;
    }
    return 0;
}

static void page_usage_add(struct page_usage *usage, int64_t day, uint64_t id, double used)
{
    struct page_cluster *page = usage->page;
    struct page_weeks *weeks = &page->use_weeks;
    used *= page->units[0].scale;
    if (day >= page->from)
        page->rows[page_usage_row_of(usage, id)].spent += used;
    if (day >= usage->week_from)
        page->used_a_day += used;
    while (usage->week + 1 < weeks->count && weeks->weeks[usage->week + 1].at <= day)
        usage->week++;
    if (day >= weeks->weeks[0].at)
        weeks->weeks[usage->week].value += used;
}

static int page_usage_take_day(struct page_usage *usage, const struct db_value *row, int64_t end,
                               struct error *err)
{
    int64_t day = row[DAY].integer;
    uint64_t id = (uint64_t)row[ID].integer;
    double used = db_value_real(&row[CHARGED]);
    if (isfinite(used))
        page_usage_add(usage, day, id, used);
    if (day < usage->page->months.starts[0])
        return 0;
    if (isfinite(used) && statement_add(usage->statements[0].statement, id, day, end, used, err))
        return -1;
    for (size_t i = 1; i < usage->page->unit_count; i++) {
        const struct db_value *amount = &row[FIRST_TRES + usage->page->units[i].number - 1];
        if (amount->type == DB_INTEGER && statement_add(usage->statements[i].statement, id, day,
                                                        end, (double)amount->integer, err))
            return -1;
    }
    return 0;
}

/* Returns the highest number of a TRES on the page. */
static unsigned page_usage_highest(const struct page_cluster *page)
{
    return page->units[page->unit_count - 1].number;
}

/* Reads some days.  A row is used while the query runs. */
static int page_usage_read_days(struct page_usage *usage, int64_t from, int64_t until,
                                struct error *err)
{
    const struct db_value *row,
        span[] = { db_text(usage->page->name), db_integer(from), db_integer(until - 1) };
    int64_t day = INT64_MIN, end = 0;
    int result = 0;
    const char *few = "iiniiii", *all = "iiniiiiiiiiiiiiiiii";
    bool is_few = page_usage_highest(usage->page) <= FEW_TRES;
    struct db_rows *rows =
        db_query(usage->db, is_few ? sql_query_report_days_of_four : sql_query_report_days, span, 3,
                 is_few ? few : all, err);
    while (!result && db_fetch(rows, &row, err) > 0) {
        if (row[DAY].integer != day) {
            day = row[DAY].integer;
            end = (int64_t)calendar_next_day((uint64_t)day);
            end = end < until ? end : until;
        }
        result = page_usage_take_day(usage, row, end, err);
    }
    return db_finish(rows) || result ? -1 : 0;
}

/* Reads month by month, because a database may cancel long queries. */
static int page_usage_read_all(struct page_usage *usage, struct error *err)
{
    const struct page_cluster *page = usage->page;
    int64_t first = page->from < page->months.starts[0] ? page->from : page->months.starts[0];
    if (page->use_weeks.weeks[0].at < first)
        first = page->use_weeks.weeks[0].at;
    if (first < usage->oldest)
        first = usage->oldest;
    for (int64_t from = first, until; from < usage->end; from = until) {
        until = page_usage_end_of_month(from);
        until = until < usage->end ? until : usage->end;
        if (page_usage_read_days(usage, from, until, err))
            return -1;
    }
    return page_usage_end_statements(usage, err);
}

static void page_usage_finish(struct page_usage *usage)
{
    struct page_cluster *page = usage->page;
    for (size_t i = page->row_count; i-- > 1;)
        page->rows[page->rows[i].parent].spent += page->rows[i].spent;
    page_usage_end_weeks(usage);
}

static int page_usage_read_known(struct page_usage *usage, struct published *published,
                                 const struct published_cluster *cluster, struct error *err)
{
    struct association_times_known known;
    if (association_times_read(published, cluster, &usage->times, &known, err))
        return -1;
    struct fairshare_options fairshare = cluster->options;
    struct decay_table *decay = decay_table_create(0, (uint64_t)usage->end, 0);
    fairshare.decay = decay;
    page_usage_index_times(usage);
    page_usage_set_periods(usage);
    page_usage_begin_statements(usage, &fairshare);
    int result = page_usage_read_all(usage, err);
    if (!result)
        page_usage_finish(usage);
    for (size_t i = 0; i < usage->page->unit_count; i++)
        statement_destroy(usage->statements[i].statement);
    free(usage->statements);
    decay_table_destroy(decay);
    return result;
}

int page_usage_read(struct page_cluster *page, struct published *published,
                    const struct published_cluster *cluster, const struct id_index *rows,
                    struct error *err)
{
    struct page_usage usage = {
        .page = page,
        .db = published->db,
        .rows = rows,
        .last_times = id_index_create(),
        .times = { .names = names_create() },
    };
    page->used_a_day = 0;
    int result = page_usage_find_span(&usage, err);
    if (!result && usage.end) {
        result = page_usage_read_known(&usage, published, cluster, err);
    } else {
        page->months.first = PAGE_MONTHS;
        page->used_a_day = NAN;
    }
    names_destroy(usage.times.names);
    association_times_free(&usage.times);
    id_index_destroy(usage.last_times);
    free(usage.parents);
    return result;
}

void page_usage_free(struct page_cluster *page)
{
    free(page->months.used);
    free(page->months.due);
}
