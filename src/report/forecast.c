/* SPDX-License-Identifier: MIT */
#include "report/forecast.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/ranking.h"
#include "core/fairshare/fairshare.h"
#include "report/forecast_plot.h"
#include "report/forms.h"
#include "report/table.h"
#include "report/viewer.h"
#include "util/error.h"
#include "util/instant.h"
#include "settings/scheduler.h"
#include "util/text.h"

/* What programs call the projections. */
static const char *const words[PROJECTIONS] = { "nothing", "as_last_week", "others", "job" };

/* The rows. */

struct row {
    const struct forecast_report *report;
    const char *projection;
    struct forecast_point point;
};

static void get_name(const void *of, struct cell *cell)
{
    const struct forecast_report *report = ((const struct row *)of)->report;
    const char *const names[] = { report->account, report->user, report->partition };
    cell_text(cell, names[cell->column->index]);
}

static void get_infinite(const void *of, struct cell *cell)
{
    cell_integer(cell, isinf(((const struct row *)of)->point.level_fs) != 0);
}

static void get_rank(const void *of, struct cell *cell)
{
    const struct row *row = of;
    uint32_t rank = row->point.rank, place = place_of_rank(rank, row->report->users);
    if (rank)
        cell_integer(cell, cell->column->index ? place : rank);
}

static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "account", "Account", COLUMN_TEXT, .get = get_name, .index = 0, .hidden = NOT_IN_JSON },
    { "username", "User", COLUMN_TEXT, .get = get_name, .index = 1, .hidden = NOT_IN_JSON },
    { "partition", "Partition", COLUMN_TEXT, .get = get_name, .index = 2, .hidden = NOT_IN_JSON,
      .optional = true },
    { "projection", "Projection", COLUMN_TEXT, MEMBER(struct row, projection) },
    { "as_of", "AsOf", COLUMN_INSTANT, MEMBER(struct row, point.at) },
    { "fairshare", "FairShare", COLUMN_REAL, MEMBER(struct row, point.factor) },
    { "levelfs", "LevelFS", COLUMN_REAL, MEMBER(struct row, point.level_fs), .optional = true },
    { "levelfs_infinite", "LevelFSInfinite", COLUMN_YES_NO, .get = get_infinite,
      .hidden = ONLY_IN_JSON },
    { "rawusage", "RawUsage", COLUMN_REAL, MEMBER(struct row, point.usage),
      .decimals = NO_DECIMALS },
    { "rank", "Rank", COLUMN_INTEGER, .get = get_rank, .index = 0, .hidden = NOT_FOR_PEOPLE },
    { "place", "Place", COLUMN_INTEGER, .get = get_rank, .index = 1 },
    { .name = NULL },
};

const struct table_layout forecast_layout = { columns, "points", .by_cluster = true };

static json_t *facts_of(const struct forecast_report *report)
{
    json_t *crossings = json_object();
    for (enum projection each = 0; each < PROJECTIONS; each++)
        if (report->points[each])
            json_object_set_new(crossings, words[each],
                                report->crossing[each]
                                    ? json_integer((json_int_t)report->crossing[each])
                                    : json_null());
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:o, s:o, s:b}", "account",
                     report->account, "username", report->user, "partition", report->partition,
                     "algorithm", report->algorithm->name, "users", (json_int_t)report->users,
                     "rate", report->rate[0], "rate_of_all", report->rate[1], "until",
                     form_json_real(report->limit), "crossings", crossings, "rounded",
                     report->rounded);
}

void forecast_report_print(const struct forecast_report *report, struct table *table)
{
    table_open(table, &(struct table_cluster){ .name = report->cluster,
                                               .facts = facts_of(report),
                                               .words = report->words });
    for (enum projection each = 0; each < PROJECTIONS; each++)
        for (size_t i = 0; report->points[each] && i < report->count; i++)
            table_add(table, &(struct row){ report, words[each], report->points[each][i] });
    table_close(table);
}

/* The page. */

static void add_entity(struct text *text, const struct forecast_report *report)
{
    text_format(text, "%s '", *report->user ? report->words->one_user : report->words->one_account);
    text_add_printable(text, *report->user ? report->user : report->account);
    if (*report->user) {
        text_format(text, "' of %s '", report->words->account);
        text_add_printable(text, report->account);
    }
    if (*report->partition) {
        text_add(text, "' in partition '");
        text_add_printable(text, report->partition);
    }
    text_add(text, "', cluster ");
    text_add_printable(text, report->cluster);
    text_format(text, ", %s\n", report->algorithm->name);
}

/* To the minute: a projection is not known to the second. */
static void add_minute(struct text *text, uint64_t instant)
{
    instant_add(text, (int64_t)instant);
    text->length -= strlen(":00");
    text->bytes[text->length] = '\0';
}

/* An account may have no factor; then the value is LevelFS. */
static const char *value_name(const struct forecast_report *report)
{
    return isnan(report->points[PROJECTION_NOTHING][0].factor) ? "LevelFS" : "FairShare";
}

static const struct forecast_point *point_of(const void *row, const struct cell *cell)
{
    const struct forecast_report *report = cell->context;
    return &report->points[cell->column->index][*(const size_t *)row];
}

static void get_minute(const void *row, struct cell *cell)
{
    struct text text = { 0 };
    add_minute(&text, point_of(row, cell)->at);
    cell_format(cell, "%s", text.bytes);
    text_free(&text);
}

static void get_value(const void *row, struct cell *cell)
{
    cell_real(cell, forecast_value(point_of(row, cell)));
}

static void get_point_place(const void *row, struct cell *cell)
{
    const struct forecast_report *report = cell->context;
    uint32_t rank = point_of(row, cell)->rank;
    if (rank)
        cell_integer(cell, place_of_rank(rank, report->users));
}

/* A line for each instant, with what each projection has for it. */
static void add_lines(struct text *text, const struct forecast_report *report)
{
    static const struct table_options for_people = { 0 };
    struct column shown[2 * PROJECTIONS + 2] = { { "as_of", "", COLUMN_TEXT, .get = get_minute } };
    size_t count = 1;
    for (int each = 0; each < PROJECTIONS; each++) {
        if (!report->points[each])
            continue;
        shown[count++] =
            (struct column){ "value",   value_name(report), COLUMN_REAL,
                             get_value, .index = each,      .group = projection_titles[each] };
        if (*report->user)
            shown[count++] =
                (struct column){ "place",         "Place",       COLUMN_INTEGER,
                                 get_point_place, .index = each, .group = projection_titles[each] };
    }
    const struct table_layout layout = { shown, .by_cluster = true, .as_paragraph = true };
    struct error ignored;
    struct table *table = table_create(text, &layout, &for_people, &ignored);
    table_open(table, &(struct table_cluster){ .context = report, .words = report->words });
    for (size_t i = 0; i < report->count; i++)
        table_add(table, &i);
    table_close(table);
    table_destroy(table);
}

static void add_crossings(struct text *text, const struct forecast_report *report)
{
    double now = forecast_value(&report->points[PROJECTION_NOTHING][0]);
    text_format(text, "\n%s %s %.10g:\n", value_name(report),
                now >= report->limit ? "falls below" : "reaches", report->limit);
    for (int each = 0; each < PROJECTIONS; each++) {
        if (!report->points[each])
            continue;
        text_format(text, "- %s: ", projection_titles[each]);
        if (report->crossing[each])
            add_minute(text, report->crossing[each]);
        else
            text_add(text, "not within these days");
        text_add(text, "\n");
    }
}

static void add_rates(struct text *text, const struct forecast_report *report)
{
    if (!report->unit) {
        text_format(text,
                    "In the last week %.4g TRES were charged on average, %.4g with all others.\n",
                    report->rate[0], report->rate[1]);
        return;
    }
    text_format(text, "In the last week %.4g (", report->rate[0]);
    text_add_printable(text, report->unit);
    text_format(text, ") were used each second on average, %.4g with all others.\n",
                report->rate[1]);
}

void forecast_report_add_page(struct text *text, const struct forecast_report *report)
{
    add_entity(text, report);
    add_rates(text, report);
    if (*report->user)
        text_format(text, "There are %" PRIu32 " places; 1 is next.\n", report->users);
    text_add(text, "\n");
    add_lines(text, report);
    if (report->curves[PROJECTION_NOTHING]) {
        text_add(text, "\n");
        forecast_plot_add(text, report->curves);
    }
    if (report->job_tres > 0)
        text_format(text, "\nThe job is charged %.10g TRES for %.10g hours from now on.\n",
                    report->job_tres, (double)report->job_s / 3600);
    if (!isnan(report->limit))
        add_crossings(text, report);
    if (report->rounded)
        text_add(text, "\n" ROUNDED_NOTE);
    if (report->published_only)
        text_add(text, "\nThis is made from published values and the usage of whole days; the\n"
                       "accounting database was not read.\n");
}
