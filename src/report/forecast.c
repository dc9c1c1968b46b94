/* SPDX-License-Identifier: MIT */
#include "report/forecast.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/fairshare/algorithm.h"
#include "report/answer.h"
#include "report/permissions.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "settings/scheduler.h"
#include "util/memory.h"
#include "util/text.h"
#include "util/times.h"

/* The names of the projections in CSV and JSON. */
static const char *const words[PROJECTIONS] = { "nothing", "as_last_week", "others", "job" };

/* ---- The rows ---- */

struct report_forecast_row {
    const char *projection;
    struct forecast_point point;
    uint32_t place; /* 0: none */
};

#define OF_REPORT(member) MEMBER(struct forecast_report, member), .of_context = true
static const struct column columns[] = {
    CLUSTER_COLUMN,
    { "account", "Account", COLUMN_TEXT, OF_REPORT(account), .hidden = NOT_IN_JSON },
    { "username", "User", COLUMN_TEXT, OF_REPORT(user), .hidden = NOT_IN_JSON },
    { "partition", "Partition", COLUMN_TEXT, OF_REPORT(partition), .hidden = NOT_IN_JSON,
      .optional = true },
    { "projection", "Projection", COLUMN_TEXT, MEMBER(struct report_forecast_row, projection) },
    { "as_of", "AsOf", COLUMN_TIME, MEMBER(struct report_forecast_row, point.at) },
    { "fairshare", "FairShare", COLUMN_REAL, MEMBER(struct report_forecast_row, point.factor) },
    { "levelfs", "LevelFS", COLUMN_REAL, MEMBER(struct report_forecast_row, point.level_fs),
      .optional = true },
    { "levelfs_infinite", "LevelFSInfinite", COLUMN_YES_NO,
      MEMBER(struct report_forecast_row, point.level_fs), .hidden = ONLY_IN_JSON },
    { "rawusage", "RawUsage", COLUMN_REAL, MEMBER(struct report_forecast_row, point.usage),
      .decimals = NO_DECIMALS },
    { "rank", "Rank", COLUMN_INTEGER, MEMBER(struct report_forecast_row, point.rank),
      .zero_is_none = true, .hidden = NOT_FOR_PEOPLE },
    { "place", "Place", COLUMN_INTEGER, MEMBER(struct report_forecast_row, place),
      .zero_is_none = true },
    { .name = NULL },
};

const struct table_layout forecast_layout = { columns, "points", .by_cluster = true,
                                              .has_page = true };

static json_t *report_forecast_facts_of(const struct forecast_report *report)
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

/* ---- The plot ---- */

#define HEIGHT 10
#define WIDTH PLOT_COLUMNS

static const char *const projection_titles[PROJECTIONS] = { "nothing runs", "as last week",
                                                            "only others", "with the job" };

/* The mark of each projection, and of a point where several meet; in ASCII and UTF-8. */
static const char *const marks[2][PROJECTIONS + 1] = { { "n", "w", "o", "j", "#" },
                                                       { "●", "▲", "○", "◆", "█" } };
enum { NONE = PROJECTIONS + 1, SEVERAL = PROJECTIONS };

struct report_forecast_range {
    double low, high;
};

static bool is_drawn(double value)
{
    return !isnan(value) && !isinf(value);
}

static struct report_forecast_range range_of(struct forecast_point *const curves[PROJECTIONS])
{
    struct report_forecast_range range = { INFINITY, -INFINITY };
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        for (size_t i = 0; curves[projection] && i < WIDTH; i++) {
            double value = forecast_value(&curves[projection][i]);
            if (!is_drawn(value))
                continue;
            range.low = fmin(range.low, value);
            range.high = fmax(range.high, value);
        }
    return range;
}

static size_t line_of(const struct report_forecast_range *range, double value)
{
    double part = range->high > range->low ? (value - range->low) / (range->high - range->low) : .5;
    return HEIGHT - 1 - (size_t)lround(part * (HEIGHT - 1));
}

static void draw(struct forecast_point *const curves[PROJECTIONS],
                 const struct report_forecast_range *range, unsigned char field[HEIGHT][WIDTH])
{
    memset(field, NONE, HEIGHT * WIDTH);
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        for (size_t column = 0; curves[projection] && column < WIDTH; column++) {
            double value = forecast_value(&curves[projection][column]);
            if (!is_drawn(value))
                continue;
            unsigned char *place = &field[line_of(range, value)][column];
            *place = *place == NONE ? (unsigned char)projection : SEVERAL;
        }
}

static void add_legend(struct text *text, struct forecast_point *const curves[PROJECTIONS],
                       bool utf8)
{
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        if (curves[projection])
            text_format(text, "%s %s  ", marks[utf8][projection], projection_titles[projection]);
    text_format(text, "%s several\n", marks[utf8][SEVERAL]);
}

static void forecast_plot_add(struct text *text, struct forecast_point *const curves[PROJECTIONS])
{
    bool utf8 = terminal_of_output().utf8;
    struct report_forecast_range range = range_of(curves);
    unsigned char field[HEIGHT][WIDTH];
    if (!is_drawn(range.low))
        return;
    draw(curves, &range, field);
    for (size_t line = 0; line < HEIGHT; line++) {
        size_t blanks = 0;
        if (line == line_of(&range, range.low) || line == line_of(&range, range.high))
            text_format(text, "%10.6g %s", line ? range.low : range.high, utf8 ? "┤" : "|");
        else
            text_format(text, "%10s %s", "", utf8 ? "│" : "|");
        for (size_t column = 0; column < WIDTH; column++) {
            if (field[line][column] == NONE) {
                blanks++;
                continue;
            }
            text_format(text, "%*s%s", (int)blanks, "", marks[utf8][field[line][column]]);
            blanks = 0;
        }
        text_add(text, "\n");
    }
    add_legend(text, curves, utf8);
}

/* ---- The page ---- */

static void add_entity(struct answer *answer, const struct forecast_report *report)
{
    const struct terminology *terms = report->terms;
    if (*report->user)
        answer_say(answer, "%s '%s' of %s '%s'%s%s%s", terms->one_user, report->user,
                   terms->account, report->account, *report->partition ? " in partition '" : "",
                   report->partition, *report->partition ? "'" : "");
    else
        answer_say(answer, "%s '%s'", terms->one_account, report->account);
    answer_say(answer, ", cluster %s, %s\n", report->cluster, report->algorithm->name);
}

/* Projections are not accurate to the second. */
static struct instant_text minute_text(uint64_t time)
{
    struct instant_text text = time_text((int64_t)time);
    text.bytes[strlen(text.bytes) - strlen(":00")] = '\0';
    return text;
}

/* The value is LevelFS for an account without a factor. */
static const char *value_name(const struct forecast_report *report)
{
    return isnan(report->points[PROJECTION_NOTHING][0].factor) ? "LevelFS" : "FairShare";
}

static const struct forecast_point *report_forecast_point_of(const void *row,
                                                             const struct cell *cell)
{
    const struct forecast_report *report = cell->context;
    return &report->points[cell->column->index][*(const size_t *)row];
}

static void get_minute(const void *row, struct cell *cell)
{
    cell_format(cell, "%s", minute_text(report_forecast_point_of(row, cell)->at).bytes);
}

static void get_value(const void *row, struct cell *cell)
{
    cell_real(cell, forecast_value(report_forecast_point_of(row, cell)));
}

static void get_point_place(const void *row, struct cell *cell)
{
    const struct forecast_report *report = cell->context;
    cell_integer(cell, place_of_rank(report_forecast_point_of(row, cell)->rank, report->users));
}

/* Adds a line for each time, with the value and place in each projection. */
static void report_forecast_add_lines(struct answer *answer, const struct forecast_report *report)
{
    struct column shown[2 * PROJECTIONS + 2] = { { "as_of", "", COLUMN_TEXT, .get = get_minute } };
    size_t count = 1;
    for (int each = 0; each < PROJECTIONS; each++) {
        if (!report->points[each])
            continue;
        shown[count++] =
            (struct column){ "value",   value_name(report), COLUMN_REAL,
                             get_value, .index = each,      .group = projection_titles[each] };
        if (*report->user)
            shown[count++] = (struct column){ "place",
                                              "Place",
                                              COLUMN_INTEGER,
                                              get_point_place,
                                              .index = each,
                                              .group = projection_titles[each],
                                              .zero_is_none = true };
    }
    size_t *times = memory_zeroed(report->count + 1, sizeof *times);
    for (size_t i = 0; i < report->count; i++)
        times[i] = i;
    table_add_paragraph(answer_text(answer), shown,
                        &(struct table_rows){ times, report->count, sizeof *times,
                                              .context = report, .terms = report->terms });
    free(times);
}

static void add_crossings(struct answer *answer, const struct forecast_report *report)
{
    double now = forecast_value(&report->points[PROJECTION_NOTHING][0]);
    answer_say(answer, "\n%s %s %.10g:\n", value_name(report),
               now >= report->limit ? "falls below" : "reaches", report->limit);
    for (int each = 0; each < PROJECTIONS; each++)
        if (report->points[each])
            answer_say(answer, "- %s: %s\n", projection_titles[each],
                       report->crossing[each] ? minute_text(report->crossing[each]).bytes
                                              : "not in this period");
}

static void add_rates(struct answer *answer, const struct forecast_report *report)
{
    if (report->unit)
        answer_say(answer,
                   "In the last week, average usage was %.4g (%s) per second (cluster: %.4g).\n",
                   report->rate[0], report->unit, report->rate[1]);
    else
        answer_say(answer, "In the last week, %.4g %s were charged on average (cluster: %.4g).\n",
                   report->rate[0], report->usage->rate, report->rate[1]);
}

static void report_forecast_add_page(struct answer *answer, const struct forecast_report *report)
{
    add_entity(answer, report);
    add_rates(answer, report);
    if (*report->user)
        answer_say(answer, "There are %" PRIu32 " places; 1 is next.\n", report->users);
    answer_say(answer, "\n");
    report_forecast_add_lines(answer, report);
    if (report->curves[PROJECTION_NOTHING]) {
        answer_say(answer, "\n");
        forecast_plot_add(answer_text(answer), report->curves);
    }
    if (report->job_tres > 0)
        answer_say(answer, "\nThe job is charged %.10g TRES for %.10g hours from now on.\n",
                   report->job_tres, (double)report->job_s / 3600);
    if (!isnan(report->limit))
        add_crossings(answer, report);
    if (report->rounded)
        text_add(answer_text(answer), "\n" ROUNDED_NOTE);
    if (report->published_only)
        text_add(answer_text(answer),
                 "\nThis forecast uses published values and the usage of whole days, because the\n"
                 "accounting database was not read.\n");
}

void forecast_report_answer(const struct forecast_report *report, struct answer *answer)
{
    answer_cluster(answer, &(struct table_cluster){ .name = report->cluster,
                                                    .facts = answer_wants_facts(answer)
                                                                 ? report_forecast_facts_of(report)
                                                                 : NULL,
                                                    .terms = report->terms,
                                                    .context = report });
    if (answer_wants_page(answer)) {
        report_forecast_add_page(answer, report);
        return;
    }
    for (enum projection each = 0; each < PROJECTIONS; each++)
        for (size_t i = 0; report->points[each] && i < report->count; i++)
            answer_row(answer, &(struct report_forecast_row){
                                   words[each], report->points[each][i],
                                   place_of_rank(report->points[each][i].rank, report->users) });
}
