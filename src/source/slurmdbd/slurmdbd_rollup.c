/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "settings/settings.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/memory.h"
#include "util/name_list.h"

/* Reads rollups, the usage sums that slurmdbd makes. */

static uint64_t end_of(enum rollup_span span, uint64_t start)
{
    switch (span) {
    case SPAN_DAY:
        return calendar_next_day(start);
    case SPAN_MONTH:
        return (uint64_t)calendar_end_of_month((int64_t)start);
    default:
        return start + 3600;
    }
}

/* Returns the first boundary of this duration at or after `time`. */
static uint64_t boundary_from(enum rollup_span span, uint64_t time)
{
    return time ? end_of(span, time - 1) : 0;
}

/* The time up to which rollups of each duration were made. */
struct last_ran {
    uint64_t until[SPANS];
};

static int take_last_ran(void *context, const struct db_value *row, struct error *err)
{
    struct last_ran *last = context;
    (void)err;
    for (int span = 0; span < SPANS; span++)
        if (reading_number(&row[span]) > last->until[span])
            last->until[span] = reading_number(&row[span]);
    return 0;
}

static int read_last_ran(const struct source *source, struct last_ran *last, struct error *err)
{
    static const struct query query = {
        .sql = "SELECT \"hourly_rollup\", \"daily_rollup\", \"monthly_rollup\" FROM {}",
        .types = "iii"
    };
    return slurmdbd_probe_and_read(source, &slurmdbd_last_ran, &query, take_last_ran, last, err);
}

/* Sets `*oldest` to the start of a table's oldest row, or to 0 if the table is empty. */
static int read_oldest(const struct source *source, const struct slurmdbd_table *table,
                       uint64_t *oldest, struct error *err)
{
    static const struct query query = { .sql = "SELECT MIN(\"time_start\") FROM {}", .types = "i" };
    *oldest = 0;
    return slurmdbd_read(source, table, &query, slurmdbd_take_number, oldest, err);
}

/*
 * Selects the rows to be read.  Rows of one duration are read if they start at from[span] or later,
 * but before from[span - 1].  Hourly rows are read up to `until`.  From by_qos[span] on, rows are
 * read from the table by QOS instead.  by_qos[span] is UINT64_MAX if this table is missing or
 * empty.
 */
struct plan {
    uint64_t oldest, until;
    uint64_t from[SPANS], by_qos[SPANS];
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Returns the time from which rows of the finer duration are used.  This is the first boundary of
 * the coarser duration from which the finer rows are complete, but not after the end of the coarser
 * rows.  If the coarser table has no older row, returns the start of the oldest finer row.
 */
static uint64_t finer_from(enum rollup_span coarser, uint64_t oldest_finer, uint64_t oldest_coarser,
                           uint64_t coarser_until)
{
    if (!oldest_finer)
        return coarser_until;
    if (!oldest_coarser || oldest_coarser >= oldest_finer)
        return oldest_finer;
    return least(boundary_from(coarser, oldest_finer), coarser_until);
}

static int make_plan(const struct source *source, uint64_t now, struct plan *plan,
                     struct error *err)
{
    struct last_ran last = { { 0 } };
    uint64_t oldest[SPANS];
    if (read_last_ran(source, &last, err))
        return -1;
    for (int span = 0; span < SPANS; span++)
        if (slurmdbd_probe(source, &slurmdbd_usage[span], NULL, err) ||
            read_oldest(source, &slurmdbd_usage[span], &oldest[span], err))
            return -1;
    plan->until = least(last.until[SPAN_HOUR], now);
    plan->from[SPAN_HOUR] =
        finer_from(SPAN_DAY, oldest[SPAN_HOUR], oldest[SPAN_DAY], last.until[SPAN_DAY]);
    plan->from[SPAN_DAY] =
        least(finer_from(SPAN_MONTH, oldest[SPAN_DAY], oldest[SPAN_MONTH], last.until[SPAN_MONTH]),
              plan->from[SPAN_HOUR]);
    plan->from[SPAN_MONTH] = 0;
    plan->oldest = UINT64_MAX;
    for (int span = 0; span < SPANS; span++)
        if (oldest[span])
            plan->oldest = least(plan->oldest, oldest[span]);
    for (int span = 0; span < SPANS; span++) {
        bool has;
        plan->by_qos[span] = UINT64_MAX;
        if (slurmdbd_probe_optional(source, &slurmdbd_qos_usage[span], &has, err) ||
            (has && read_oldest(source, &slurmdbd_qos_usage[span], &plan->by_qos[span], err)))
            return -1;
        if (!plan->by_qos[span])
            plan->by_qos[span] = UINT64_MAX;
    }
    return 0;
}

/*
 * If jobs are charged, rollups are optional.  If the rollups are missing or not readable, usage
 * comes from jobs alone.
 */
static int forgive_missing(struct error *err)
{
    return err->class == ERROR_MISSING || err->class == ERROR_DENIED ? 0 : -1;
}

/* Returns true if the database allows table names as long as the longest name of a rollup table. */
static bool have_room(const struct source *source)
{
    struct error ignored;
    struct text name = { 0 };
    text_format(&name, "%s_%s", source->cluster, slurmdbd_usage[SPAN_MONTH].suffix);
    bool room = !db_check_table_name(source->db, name.bytes, &ignored);
    text_free(&name);
    return room;
}

int slurmdbd_rollup_reach(const struct source *source, uint64_t now, bool needed, uint64_t *from,
                          uint64_t *until, struct error *err)
{
    struct plan plan = { 0 };
    *from = *until = 0;
    if (!have_room(source))
        return 0;
    if (make_plan(source, now, &plan, err))
        return needed ? -1 : forgive_missing(err);
    if (plan.oldest < plan.until) {
        *from = plan.oldest;
        *until = plan.until;
    }
    return 0;
}

/*
 * Sets `*found` to whether a rollup ended at or before `time`.  slurmdbd also writes rows of the
 * cluster, for each period since the cluster registered.  They are few, and their key finds the
 * oldest one.  If that row is not old enough, the large table of associations, which must be
 * scanned, is not read.
 */
static int find_before(const struct source *source, enum rollup_span span, uint64_t time,
                       bool *found, struct error *err)
{
    const struct slurmdbd_table *cluster = &slurmdbd_cluster_usage[span];
    const struct db_value cpu = db_unsigned(TRES_CPU);
    const struct query query = { .sql = "SELECT MIN(\"time_start\") FROM {} WHERE \"id_tres\" = ?",
                                 .arguments = &cpu,
                                 .argument_count = 1,
                                 .types = "i" };
    uint64_t oldest = 0;
    bool has;
    *found = false;
    if (slurmdbd_probe_optional(source, cluster, &has, err) ||
        (has && slurmdbd_read(source, cluster, &query, slurmdbd_take_number, &oldest, err)))
        return -1;
    if (oldest && end_of(span, oldest) > time)
        return 0;
    if (slurmdbd_probe(source, &slurmdbd_usage[span], NULL, err) ||
        read_oldest(source, &slurmdbd_usage[span], &oldest, err))
        return -1;
    *found = oldest && end_of(span, oldest) <= time;
    return 0;
}

/*
 * No remaining ended job ran before the first such job was eligible.  So rollups of an earlier time
 * contain jobs that were purged.  Hourly rollups are not checked, because the daily and monthly
 * rollups contain the same old usage in fewer rows.
 */
int slurmdbd_find_purge(const struct source *source, bool *purged, struct error *err)
{
    uint64_t eligible;
    *purged = false;
    if (!have_room(source))
        return 0;
    if (slurmdbd_first_eligible(source, &eligible, err))
        return -1;
    for (int span = SPAN_MONTH; !*purged && eligible && span >= SPAN_DAY; span--)
        if (find_before(source, (enum rollup_span)span, eligible, purged, err))
            return forgive_missing(err);
    return 0;
}

struct rollup_rows {
    struct rollup_reading base;
    const struct accounting *accounting;
    uint64_t after, until;
    struct plan plan;
    int step; /* number of the table that is being read.  Months are first.  For each duration, the
               * table by association precedes the table by QOS. */
    struct db_value arguments[WEIGHTS_LIMIT + KEPT_TRES_LIMIT + 2];
};

#define STEPS (2 * SPANS)

static enum rollup_span span_of(const struct rollup_rows *rows)
{
    return (enum rollup_span)(SPAN_MONTH - rows->step / 2);
}

static bool is_by_qos(const struct rollup_rows *rows)
{
    return rows->step % 2;
}

static const struct slurmdbd_table *table_of(const struct rollup_rows *rows)
{
    return &(is_by_qos(rows) ? slurmdbd_qos_usage : slurmdbd_usage)[span_of(rows)];
}

enum { ROLLUP_ID, ROLLUP_TRES, ROLLUP_START, ROLLUP_SECONDS, ROLLUP_QOS };

/* Returns the TRES that is charged, or 0 if the charge is a weighted sum of TRES. */
static uint64_t charged_tres(const struct rollup_rows *rows)
{
    enum charge_basis charge = rows->base.base.source.settings->charge;
    return charge == CHARGE_TRES ? 0 : charge == CHARGE_CPU ? TRES_CPU : TRES_BILLING;
}

static bool is_charged_tres(const struct rollup_rows *rows, uint64_t tres)
{
    uint64_t charged = charged_tres(rows);
    const struct charge_rate *plain = charge_rates_plain(rows->accounting->rates);
    if (charged)
        return charged == tres;
    for (size_t i = 0; i < plain->tres_count; i++)
        if (plain->tres[i].id == tres)
            return true;
    return false;
}

static void slurmdbd_rollup_make_row(const struct rollup_reading *reading,
                                     const struct db_value *values, struct rollup_row *row)
{
    const struct rollup_rows *rows = (const struct rollup_rows *)reading;
    struct charge_rates *rates = rows->accounting->rates;
    uint64_t start = reading_number(&values[ROLLUP_START]);
    uint64_t qos = is_by_qos(rows) ? reading_number(&values[ROLLUP_QOS]) : 0;
    *row = (struct rollup_row){
        .association = reading_number(&values[ROLLUP_ID]),
        .tres = reading_number(&values[ROLLUP_TRES]),
        .qos = qos,
        .is_charged = is_charged_tres(rows, reading_number(&values[ROLLUP_TRES])),
        .rate = is_by_qos(rows) ? charge_rates_find(rates, qos, "", 0) : charge_rates_plain(rates),
        .rollup = { start, end_of(span_of(rows), start), reading_number(&values[ROLLUP_SECONDS]) },
    };
}

/* Adds ` AND "id_tres" IN (?, ?)` with the TRES that are charged or kept.  Returns their number. */
static size_t add_tres(struct text *sql, const struct rollup_rows *rows, struct db_value *arguments)
{
    const struct kept_tres *kept = rows->base.base.source.kept;
    const struct charge_rate *plain = charge_rates_plain(rows->accounting->rates);
    size_t count = 0;
    uint64_t charged = charged_tres(rows);
    if (charged)
        arguments[count++] = db_unsigned(charged);
    for (size_t i = 0; !charged && i < plain->tres_count; i++)
        arguments[count++] = db_unsigned(plain->tres[i].id);
    for (size_t i = 0; kept && i < kept->count; i++)
        if (!is_charged_tres(rows, kept->tres[i].id))
            arguments[count++] = db_unsigned(kept->tres[i].id);
    text_add(sql, " AND \"id_tres\" IN (");
    for (size_t i = 0; i < count; i++)
        text_add(sql, i ? ", ?" : "?");
    text_add(sql, count ? ")" : "NULL)");
    return count;
}

static int slurmdbd_rollup_explain(const struct reading *reading, struct error *err)
{
    return slurmdbd_explain(&reading->source, table_of((const struct rollup_rows *)reading), err);
}

/* Sets `*from` and `*to` to the range of the rows to be read from the current table: from <= start
 * < to. */
static void slurmdbd_rollup_choose_rows(const struct rollup_rows *rows, uint64_t *from,
                                        uint64_t *to)
{
    const struct plan *plan = &rows->plan;
    const uint64_t ends[SPANS] = { plan->until, plan->from[SPAN_HOUR], plan->from[SPAN_DAY] };
    enum rollup_span span = span_of(rows);
    /* A row that starts before rows->after may end after it. */
    uint64_t longest = span == SPAN_MONTH ? 32 * 86400 : span == SPAN_DAY ? 90000 : 3600;
    uint64_t middle = least(plan->by_qos[span], ends[span]);
    *from = rows->after > longest ? rows->after - longest : 0;
    if (*from < plan->from[span])
        *from = plan->from[span];
    *to = ends[span];
    if (!is_by_qos(rows))
        *to = middle;
    else if (*from < middle)
        *from = middle;
}

static int slurmdbd_rollup_ask(struct reading *reading, struct error *err)
{
    struct rollup_rows *rows = (struct rollup_rows *)reading;
    uint64_t from, to;
    if (rows->step < 0 && make_plan(&reading->source, rows->until, &rows->plan, err))
        return -1;
    do {
        if (++rows->step >= STEPS)
            return 0;
        slurmdbd_rollup_choose_rows(rows, &from, &to);
    } while (from >= to);
    const struct slurmdbd_table *table = table_of(rows);
    rows->arguments[0] = db_unsigned(from);
    rows->arguments[1] = db_unsigned(least(to, INT64_MAX));
    text_format(&reading->sql, "SELECT \"id\", \"id_tres\", \"time_start\", \"alloc_secs\"%s FROM ",
                is_by_qos(rows) ? ", \"id_alt\"" : "");
    slurmdbd_add_name(&reading->sql, table, reading->source.cluster);
    text_add(&reading->sql, " WHERE \"time_start\" >= ? AND \"time_start\" < ?");
    size_t count = 2 + add_tres(&reading->sql, rows, rows->arguments + 2);
    const struct query query = { .sql = reading->sql.bytes,
                                 .arguments = rows->arguments,
                                 .argument_count = count,
                                 .types = is_by_qos(rows) ? "iiiii" : "iiii" };
    return reading_run(reading, &query, err);
}

struct rollup_reading *slurmdbd_rollups_of(const struct source *source,
                                           const struct accounting *accounting, uint64_t after,
                                           uint64_t until)
{
    struct rollup_rows *rows = memory_zeroed(1, sizeof *rows);
    rows->base.base = (struct reading){ .source = *source,
                                        .ask = slurmdbd_rollup_ask,
                                        .explain = slurmdbd_rollup_explain };
    rows->base.make = slurmdbd_rollup_make_row;
    rows->accounting = accounting;
    rows->after = after;
    rows->until = until;
    rows->step = -1;
    return &rows->base;
}

/* ---- Usage by TRES ---- */

struct slurmdbd_rollup_sums {
    enum rollup_span span;
    sum_taker *take;
    void *context;
};

static int take_sum(void *context, const struct db_value *row, struct error *err)
{
    const struct slurmdbd_rollup_sums *sums = context;
    uint64_t start = reading_number(&row[1]);
    const struct sum_row sum = { reading_number(&row[0]), start, end_of(sums->span, start),
                                 reading_number(&row[2]) };
    return sums->take(sums->context, &sum, err);
}

/* TRES whose ids are the same in every slurmdbd.  The id of the first TRES is 1. */
static const char *const usual[] = { "cpu",     "mem",     "energy", "node",
                                     "billing", "fs/disk", "vmem",   "pages" };

struct tres_search {
    const char *name;
    uint64_t id;
};

static int match_tres(void *context, const struct db_value *row, struct error *err)
{
    struct tres_search *search = context;
    struct text whole = { 0 };
    (void)err;
    slurmdbd_add_tres_name(&whole, row);
    if (!strcasecmp(whole.bytes, search->name))
        search->id = reading_number(&row[0]);
    text_free(&whole);
    return 0;
}

/* Sets `*id` to the id of a TRES with a name like in sreport, or to 0 if there is no such TRES. */
static int slurmdbd_rollup_find_tres(const struct source *source, const char *name, uint64_t *id,
                                     struct error *err)
{
    struct tres_search search = { name, 0 };
    static const struct query query = { .sql = "SELECT \"id\", \"type\", \"name\" FROM {}",
                                        .types = "itt" };
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (!strcasecmp(name, usual[i]))
            search.id = i + 1;
    if (!search.id &&
        slurmdbd_probe_and_read(source, &slurmdbd_tres, &query, match_tres, &search, err))
        return -1;
    *id = search.id;
    return 0;
}

int slurmdbd_read_sums(const struct source *source, const struct sum_range *range, sum_taker *take,
                       void *context, struct error *err)
{
    enum rollup_span span = range->hourly ? SPAN_HOUR : SPAN_DAY;
    const struct slurmdbd_table *table = &slurmdbd_usage[span];
    struct slurmdbd_rollup_sums sums = { span, take, context };
    uint64_t id;
    if (slurmdbd_rollup_find_tres(source, range->tres, &id, err) ||
        slurmdbd_probe(source, table, NULL, err))
        return -1;
    const struct db_value arguments[] = { db_unsigned(id), slurmdbd_time(range->from),
                                          slurmdbd_time(range->until) };
    const struct query query = { .sql = "SELECT \"id\", \"time_start\", \"alloc_secs\" FROM {}"
                                        " WHERE \"id_tres\" = ? AND \"time_start\" >= ?"
                                        " AND \"time_start\" < ?",
                                 .arguments = arguments,
                                 .argument_count = 3,
                                 .types = "iii" };
    return id ? slurmdbd_read(source, table, &query, take_sum, &sums, err)
              : name_unknown("TRES", range->tres, err);
}
