/* SPDX-License-Identifier: MIT */
#include "results/page_usage.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/insight/statement.h"
#include "core/tree/association_times.h"
#include "core/usage/decay_table.h"
#include "db/db.h"
#include "report/page/cluster.h"
#include "results/association_times.h"
#include "results/published.h"
#include "results/usage_days.h"
#include "sql.h"
#include "util/calendar.h"
#include "util/index.h"
#include "util/memory.h"

/* The columns of sql_query_report_days and sql_query_report_days_of_four. */
enum { DAY, ID, CHARGED, FIRST_TRES };
#define FEW_TRES 4u

/* A statement of one unit, which fills the months of all rows.  The last statement of a page is for
 * its period, and fills `spent`. */
struct page_usage_statement {
    const struct page_usage *usage;
    size_t unit;
    bool is_period;
    struct statement *statement;
};
struct page_usage {
    struct page_cluster *page;
    struct db *db;
    const struct id_index *rows;
    struct association_times times;
    struct page_usage_statement *statements;
    int64_t oldest, end; /* first day with usage; end of the complete usage */
    bool knows_period;   /* false: no usage is kept, or only usage after the period */
    int64_t week_from;   /* start of the time for `used_a_day` */
    size_t week;         /* index of the week of the current day */
};

static int64_t page_usage_end_of_period(int64_t time)
{
    (void)time;
    return INT64_MAX;
}

/* ---- Periods ---- */

static int page_usage_find_span(struct page_usage *usage, struct error *err)
{
    const struct usage_days days = { .results = usage->db, .cluster = usage->page->name };
    if (usage_days_reach(&days, &usage->end, &usage->oldest, err))
        return -1;
    usage->knows_period =
        usage->end && (usage->page->to > usage->oldest || usage->oldest == INT64_MAX);
    if (usage->end <= usage->oldest)
        usage->end = usage->oldest = 0;
    if (usage->knows_period && usage->page->from < usage->oldest)
        usage->page->from = usage->oldest;
    return 0;
}

void page_usage_set_weeks(struct page_weeks *weeks, int64_t time)
{
    int64_t week = calendar_start(CALENDAR_DAY, calendar_end_of_week(time), -7);
    weeks->count = PAGE_WEEKS;
    for (size_t i = PAGE_WEEKS; i-- > 0; week = calendar_start(CALENDAR_DAY, week, -7))
        weeks->weeks[i] = (struct page_week){ week, 0 };
}

static void page_usage_set_periods(struct page_usage *usage)
{
    struct page_months *months = &usage->page->months;
    int64_t last = usage->end - 1;
    months->starts[PAGE_MONTHS] = calendar_end_of_month(last);
    for (size_t i = PAGE_MONTHS; i-- > 0;)
        months->starts[i] = calendar_start(CALENDAR_MONTH, months->starts[i + 1], -1);
    while (months->first < PAGE_MONTHS && months->starts[months->first + 1] <= usage->oldest)
        months->first++;
    page_usage_set_weeks(&usage->page->use_weeks, last);
    usage->week_from = calendar_start(CALENDAR_DAY, last, -7);
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

/* Stores a month or the period of all rows.  The tree of the statement also has removed
 * associations. */
static void page_usage_take(void *context, const struct statement_period *period)
{
    const struct page_usage_statement *of = context;
    struct page_cluster *page = of->usage->page;
    double scale = page->units[of->unit].scale;
    size_t month = 0;
    while (!of->is_period && month < PAGE_MONTHS && page->months.starts[month] != period->from)
        month++;
    if (period->is_total || month == PAGE_MONTHS)
        return;
    for (uint32_t i = 0; i < period->tree->count; i++) {
        uint32_t id = period->tree->nodes[i].id, row = id_index_find(of->usage->rows, id);
        if (row == INDEX_NONE || page->rows[row].id != id)
            continue;
        size_t index = page_month_index(page, of->unit, row, month);
        if (of->is_period) {
            page->rows[row].spent = period->used[i] * scale;
        } else {
            page->months.used[index] = (float)(period->used[i] * scale);
            page->months.due[index] = (float)(period->due[i] * scale);
        }
    }
}

static void page_usage_begin_statements(struct page_usage *usage,
                                        const struct fairshare_options *fairshare)
{
    struct page_cluster *page = usage->page;
    size_t count = page->unit_count, months = count * page->row_count * PAGE_MONTHS;
    page->months.used = memory_zeroed(months, sizeof *page->months.used);
    page->months.due = memory_zeroed(months, sizeof *page->months.due);
    usage->statements = memory_zeroed(count + 1, sizeof *usage->statements);
    for (size_t i = 0; i <= count; i++) {
        struct page_usage_statement *of = &usage->statements[i];
        *of = (struct page_usage_statement){ usage, i % count, i == count, NULL };
        int64_t end = of->is_period && page->to < usage->end ? page->to : usage->end;
        of->statement = statement_create(&(const struct statement_options){
            .times = &usage->times,
            .fairshare = fairshare,
            .capacity = NAN,
            .from = of->is_period ? page->from : page->months.starts[0],
            .to = end,
            .end_of = of->is_period ? page_usage_end_of_period : calendar_end_of_month,
            .take = page_usage_take,
            .context = of,
        });
    }
}

static int page_usage_end_statements(struct page_usage *usage, struct error *err)
{
    for (size_t i = 0; i <= usage->page->unit_count; i++)
        if (statement_end(usage->statements[i].statement, err))
            return -1;
    return 0;
}

/* ---- Days ---- */

/* Adds usage of the cluster to the weeks. */
static void page_usage_add_use(struct page_usage *usage, int64_t day, double used)
{
    struct page_cluster *page = usage->page;
    struct page_weeks *weeks = &page->use_weeks;
    used *= page->units[0].scale;
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
    double charged = db_value_real(&row[CHARGED]);
    charged = isfinite(charged) ? charged : 0;
    page_usage_add_use(usage, day, charged);
    for (size_t i = 0; i <= usage->page->unit_count; i++) {
        const struct page_usage_statement *of = &usage->statements[i];
        unsigned tres = usage->page->units[of->unit].number;
        double used = tres ? (double)db_value_integer(&row[FIRST_TRES + tres - 1], 0) : charged;
        if (used != 0 &&
            statement_add(of->statement, (uint64_t)row[ID].integer, day, end, used, err))
            return -1;
    }
    return 0;
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
    bool is_few = usage->page->units[usage->page->unit_count - 1].number <= FEW_TRES;
    struct db_rows *rows =
        db_query(usage->db, is_few ? sql_query_report_days_of_four : sql_query_report_days, span, 3,
                 is_few ? few : all, err);
    while (!result && db_fetch(rows, &row, err) > 0) {
        if (row[DAY].integer != day) {
            day = row[DAY].integer;
            end = calendar_end_of_day(day);
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
        until = calendar_end_of_month(from);
        until = until < usage->end ? until : usage->end;
        if (page_usage_read_days(usage, from, until, err))
            return -1;
    }
    return page_usage_end_statements(usage, err);
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
    page_usage_set_periods(usage);
    page_usage_begin_statements(usage, &fairshare);
    int result = page_usage_read_all(usage, err);
    if (!result)
        page_usage_end_weeks(usage);
    for (size_t i = 0; i <= usage->page->unit_count; i++)
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
    for (size_t i = 0; !usage.knows_period && i < page->row_count; i++)
        page->rows[i].spent = NAN;
    names_destroy(usage.times.names);
    association_times_free(&usage.times);
    return result;
}

void page_usage_free(struct page_cluster *page)
{
    free(page->months.used);
    free(page->months.due);
}
