/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "core/usage/calendar.h"
#include "db/db.h"
#include "settings/settings.h"
#include "source/layout.h"
#include "source/reading.h"
#include "source/slurmdbd/slurmdbd_tables.h"
#include "util/error.h"
#include "util/text.h"

/* What slurmdbd has summed up: by hour, day and month, and from Slurm 24.11 on by QOS too. */

enum span { SPAN_HOUR, SPAN_DAY, SPAN_MONTH, SPANS };

/* By span: of associations, and of their QOS. */
static const struct table usage_tables[SPANS] = {
    { "assoc_usage_hour_table",
      true,
      false,
      { "id", "id_tres", "time_start", "alloc_secs" },
      { 0 } },
    { "assoc_usage_day_table",
      true,
      false,
      { "id", "id_tres", "time_start", "alloc_secs" },
      { 0 } },
    { "assoc_usage_month_table",
      true,
      false,
      { "id", "id_tres", "time_start", "alloc_secs" },
      { 0 } },
};
static const struct table qos_tables[SPANS] = {
    { "qos_usage_hour_table",
      true,
      false,
      { "id", "id_alt", "id_tres", "time_start", "alloc_secs" },
      { 0 } },
    { "qos_usage_day_table",
      true,
      false,
      { "id", "id_alt", "id_tres", "time_start", "alloc_secs" },
      { 0 } },
    { "qos_usage_month_table",
      true,
      false,
      { "id", "id_alt", "id_tres", "time_start", "alloc_secs" },
      { 0 } },
};
static const struct table last_ran_table = {
    "last_ran_table", true, false, { "hourly_rollup", "daily_rollup", "monthly_rollup" }, { 0 },
};

static uint64_t end_of(enum span span, uint64_t start)
{
    switch (span) {
    case SPAN_DAY:
        return calendar_next_day(start);
    case SPAN_MONTH:
        return calendar_next_month(start);
    default:
        return start + 3600;
    }
}

/* The first boundary of this span at or after an instant. */
static uint64_t boundary_from(enum span span, uint64_t instant)
{
    return instant ? end_of(span, instant - 1) : 0;
}

/* Up to where each span is summed up. */
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

static int read_last_ran(struct db *db, const char *cluster, struct last_ran *last,
                         struct error *err)
{
    struct text sql = { 0 };
    if (slurmdbd_probe(db, &last_ran_table, cluster, NULL, err))
        return -1;
    text_add(&sql, "SELECT \"hourly_rollup\", \"daily_rollup\", \"monthly_rollup\" FROM ");
    slurmdbd_add_name(&sql, &last_ran_table, cluster);
    int result = slurmdbd_read(db, &last_ran_table, cluster, sql.bytes, NULL, 0, "iii",
                               take_last_ran, last, err);
    text_free(&sql);
    return result;
}

static int take_number(void *context, const struct db_value *row, struct error *err)
{
    (void)err;
    *(uint64_t *)context = reading_number(&row[0]);
    return 0;
}

/* The start of a table's oldest row, 0 where there is none. */
static int read_oldest(struct db *db, const struct table *table, const char *cluster,
                       uint64_t *oldest, struct error *err)
{
    struct text sql = { 0 };
    *oldest = 0;
    text_add(&sql, "SELECT MIN(\"time_start\") FROM ");
    slurmdbd_add_name(&sql, table, cluster);
    int result =
        slurmdbd_read(db, table, cluster, sql.bytes, NULL, 0, "i", take_number, oldest, err);
    text_free(&sql);
    return result;
}

/* Whether the database has the tables by QOS: from 24.11 on, and readable. */
static int has_table(struct db *db, const struct table *table, const char *cluster, bool *has,
                     struct error *err)
{
    *has = true;
    if (!slurmdbd_probe(db, table, cluster, NULL, err))
        return 0;
    *has = false;
    return err->class == ERROR_MISSING ? 0 : -1;
}

/* Which rows count: those of a span that start within [from[span], from[span - 1]), the hours up to
 * `until`; of these from by_qos[span] on those by QOS (UINT64_MAX: none). */
struct plan {
    uint64_t oldest, until;
    uint64_t from[SPANS], by_qos[SPANS];
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Where rows of a finer span begin to count: at the first boundary of the coarser span that the
 * finer one reaches whole, as far as the coarser one is summed up; at once where the coarser one
 * has nothing older. */
static uint64_t finer_from(enum span coarser, uint64_t oldest_finer, uint64_t oldest_coarser,
                           uint64_t coarser_until)
{
    if (!oldest_finer)
        return coarser_until;
    if (!oldest_coarser || oldest_coarser >= oldest_finer)
        return oldest_finer;
    return least(boundary_from(coarser, oldest_finer), coarser_until);
}

static int make_plan(struct db *db, const char *cluster, uint64_t now, struct plan *plan,
                     struct error *err)
{
    struct last_ran last = { { 0 } };
    uint64_t oldest[SPANS];
    if (read_last_ran(db, cluster, &last, err))
        return -1;
    for (int span = 0; span < SPANS; span++)
        if (slurmdbd_probe(db, &usage_tables[span], cluster, NULL, err) ||
            read_oldest(db, &usage_tables[span], cluster, &oldest[span], err))
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
        if (has_table(db, &qos_tables[span], cluster, &has, err) ||
            (has && read_oldest(db, &qos_tables[span], cluster, &plan->by_qos[span], err)))
            return -1;
        if (!plan->by_qos[span])
            plan->by_qos[span] = UINT64_MAX;
    }
    return 0;
}

/* Where jobs are charged rollups are a help, not a need: without them, or the right to read them,
 * there are none. */
static int forgive_missing(struct error *err)
{
    return err->class == ERROR_MISSING || err->class == ERROR_DENIED ? 0 : -1;
}

/* Whether there can be tables of the longest names. */
static bool have_room(const struct db *db, const char *cluster)
{
    struct error ignored;
    struct text name = { 0 };
    text_format(&name, "%s_%s", cluster, usage_tables[SPAN_MONTH].suffix);
    bool room = !db_check_table_name(db, name.bytes, &ignored);
    text_free(&name);
    return room;
}

int slurmdbd_rollup_reach(struct db *db, const char *cluster, uint64_t now, bool needed,
                          uint64_t *from, uint64_t *until, struct error *err)
{
    struct plan plan = { 0 };
    *from = *until = 0;
    if (!have_room(db, cluster))
        return 0;
    if (make_plan(db, cluster, now, &plan, err))
        return needed ? -1 : forgive_missing(err);
    if (plan.oldest < plan.until) {
        *from = plan.oldest;
        *until = plan.until;
    }
    return 0;
}

/* No job ran before the first could have started, so rollups of a time before it are of jobs that
 * were purged.  Where the jobs reach behind the cutoff it does not matter.  Hours are not looked
 * at: what is old is in days and months too, which are fewer. */
int slurmdbd_find_purge(struct db *db, const struct settings *settings, const char *cluster,
                        uint64_t cutoff, bool *purged, struct error *err)
{
    uint64_t eligible, oldest;
    *purged = false;
    if (!have_room(db, cluster))
        return 0;
    if (slurmdbd_first_eligible(db, settings, cluster, &eligible, err))
        return -1;
    for (int span = SPAN_MONTH; !*purged && eligible > cutoff && span >= SPAN_DAY; span--) {
        if (slurmdbd_probe(db, &usage_tables[span], cluster, NULL, err) ||
            read_oldest(db, &usage_tables[span], cluster, &oldest, err))
            return forgive_missing(err);
        *purged = oldest && end_of((enum span)span, oldest) <= eligible;
    }
    return 0;
}

struct rollup_reader {
    const struct settings *settings;
    const struct accounting *accounting;
    enum span span;
    bool by_qos;
    rollup_taker take;
    void *context;
};

enum { ROLLUP_ID, ROLLUP_TRES, ROLLUP_START, ROLLUP_SECONDS, ROLLUP_QOS };

/* What a TRES costs by a tariff; 0 where it is not charged. */
static uint128 price_in(const struct settings *settings, const struct tariff *tariff, uint64_t tres)
{
    if (settings->charge != CHARGE_TRES)
        return tariff->price;
    for (size_t i = 0; i < tariff->tres_count; i++)
        if (tariff->tres[i].id == tres)
            return tariff->tres[i].price;
    return 0;
}

static int take_rollup(void *context, const struct db_value *row, struct error *err)
{
    const struct rollup_reader *reader = context;
    struct tariffs *tariffs = reader->accounting->tariffs;
    const struct tariff *tariff =
        reader->by_qos ? tariffs_find(tariffs, reading_number(&row[ROLLUP_QOS]), "", 0)
                       : tariffs_plain(tariffs);
    uint64_t start = reading_number(&row[ROLLUP_START]);
    struct rollup_row rollup = {
        .association = reading_number(&row[ROLLUP_ID]),
        .price = price_in(reader->settings, tariff, reading_number(&row[ROLLUP_TRES])),
        .rollup = { start, end_of(reader->span, start), reading_number(&row[ROLLUP_SECONDS]) },
    };
    return reader->take(reader->context, &rollup, err);
}

/* Add ` AND "id_tres" IN (?, ?)` with the TRES that are charged; their count. */
static size_t add_tres(struct text *sql, const struct rollup_reader *reader, bool has_billing,
                       struct db_value *arguments)
{
    size_t count = 0;
    if (reader->settings->charge == CHARGE_TRES) {
        const struct tariff *plain = tariffs_plain(reader->accounting->tariffs);
        for (; count < plain->tres_count; count++)
            arguments[count] = db_unsigned(plain->tres[count].id);
    } else {
        arguments[count++] = db_integer(has_billing ? TRES_BILLING : TRES_CPU);
    }
    text_add(sql, " AND \"id_tres\" IN (");
    for (size_t i = 0; i < count; i++)
        text_add(sql, i ? ", ?" : "?");
    text_add(sql, count ? ")" : "NULL)");
    return count;
}

/* Whether a table has billing at all; where not, CPUs are charged. */
static int look_for_billing(struct db *db, const struct table *table, const char *cluster,
                            const struct settings *settings, bool *has, struct error *err)
{
    struct text sql = { 0 };
    uint64_t found = 0;
    *has = false;
    if (settings->charge != CHARGE_BILLING)
        return 0;
    text_add(&sql, "SELECT \"id_tres\" FROM ");
    slurmdbd_add_name(&sql, table, cluster);
    text_format(&sql, " WHERE \"id_tres\" = %d LIMIT 1", TRES_BILLING);
    int result =
        slurmdbd_read(db, table, cluster, sql.bytes, NULL, 0, "i", take_number, &found, err);
    text_free(&sql);
    *has = found != 0;
    return result;
}

/* The rows of a table that start within [from, to). */
static int read_table(struct db *db, const struct table *table, const char *cluster, uint64_t from,
                      uint64_t to, struct rollup_reader *reader, struct error *err)
{
    bool has_billing;
    struct text sql = { 0 };
    struct db_value arguments[WEIGHTS_LIMIT + 2] = { db_unsigned(from),
                                                     db_unsigned(least(to, INT64_MAX)) };
    if (from >= to)
        return 0;
    if (look_for_billing(db, table, cluster, reader->settings, &has_billing, err))
        return -1;
    text_format(&sql, "SELECT \"id\", \"id_tres\", \"time_start\", \"alloc_secs\"%s FROM ",
                reader->by_qos ? ", \"id_alt\"" : "");
    slurmdbd_add_name(&sql, table, cluster);
    text_add(&sql, " WHERE \"time_start\" >= ? AND \"time_start\" < ?");
    size_t count = 2 + add_tres(&sql, reader, has_billing, arguments + 2);
    int result = slurmdbd_read(db, table, cluster, sql.bytes, arguments, count,
                               reader->by_qos ? "iiiii" : "iiii", take_rollup, reader, err);
    text_free(&sql);
    return result;
}

int slurmdbd_read_rollup(struct db *db, const struct settings *settings, const char *cluster,
                         const struct accounting *accounting, uint64_t after, uint64_t until,
                         rollup_taker take, void *context, struct error *err)
{
    struct plan plan = { 0 };
    struct rollup_reader reader = { settings, accounting, SPAN_MONTH, false, take, context };
    if (make_plan(db, cluster, until, &plan, err))
        return -1;
    uint64_t to[SPANS] = { plan.until, plan.from[SPAN_HOUR], plan.from[SPAN_DAY] };
    for (int span = SPAN_MONTH; span >= SPAN_HOUR; span--) {
        /* A row that starts before may reach beyond. */
        uint64_t longest = span == SPAN_MONTH ? 32 * 86400 : span == SPAN_DAY ? 90000 : 3600;
        uint64_t from = after > longest ? after - longest : 0;
        uint64_t middle = least(plan.by_qos[span], to[span]);
        if (from < plan.from[span])
            from = plan.from[span];
        reader.span = (enum span)span;
        reader.by_qos = false;
        if (read_table(db, &usage_tables[span], cluster, from, middle, &reader, err))
            return -1;
        reader.by_qos = true;
        if (read_table(db, &qos_tables[span], cluster, from > middle ? from : middle, to[span],
                       &reader, err))
            return -1;
    }
    return 0;
}

const struct table *const slurmdbd_rollup_tables[] = {
    &last_ran_table,
    &usage_tables[SPAN_HOUR],
    &usage_tables[SPAN_DAY],
    &usage_tables[SPAN_MONTH],
    NULL,
};
const struct table *const slurmdbd_qos_rollup_tables[] = {
    &qos_tables[SPAN_HOUR],
    &qos_tables[SPAN_DAY],
    &qos_tables[SPAN_MONTH],
    NULL,
};
