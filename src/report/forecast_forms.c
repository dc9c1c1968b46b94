/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "core/fairshare/fairshare.h"
#include "report/csv.h"
#include "report/forms.h"
#include "report/terminal.h"
#include "report/forecast.h"
#include "util/text.h"

/* What each projection is called, by people and by programs. */
static const char *const titles[PROJECTIONS] = { "nothing runs", "as last week", "others go on",
                                                 "and the job" };
static const char *const words[PROJECTIONS] = { "nothing", "as_last_week", "others", "job" };

static void add_entity(struct text *text, const struct forecast_report *report)
{
    text_add(text, *report->user ? "User '" : "Account '");
    text_add_printable(text, *report->user ? report->user : report->account);
    if (*report->user) {
        text_add(text, "' of account '");
        text_add_printable(text, report->account);
    }
    if (*report->partition) {
        text_add(text, "' in partition '");
        text_add_printable(text, report->partition);
    }
    text_add(text, "'");
}

/* To the minute. */
static void add_minute(struct text *text, uint64_t instant)
{
    form_add_instant(text, (int64_t)instant);
    text->length -= strlen(":00");
    text->bytes[text->length] = '\0';
}

static void add_value(struct text *text, double value)
{
    if (isinf(value))
        text_format(text, "%9s", "inf");
    else if (isnan(value))
        text_format(text, "%9s", "");
    else
        text_format(text, value < 1000 ? "%9.6f" : "%9.0f", value);
}

static const char *value_name(const struct forecast_report *report)
{
    return report->by_level_fs ? "LevelFS" : "FairShare";
}

static void add_headings(struct text *text, const struct forecast_report *report)
{
    bool ranked = *report->user != '\0';
    int width = ranked ? 14 : 12;
    size_t start = text->length;
    text_format(text, "%16s", "");
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        if (report->points[projection])
            text_format(text, "  %*s", width, titles[projection]);
    text_format(text, "\n%16s", "");
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        if (report->points[projection])
            text_format(text, ranked ? "  %9s Rank" : "  %12s", value_name(report));
    text_add(text, "\n");
    terminal_paint(text, start, PAINT_HEADING);
}

static void add_point(struct text *text, const struct forecast_report *report,
                      const struct forecast_point *point)
{
    text_add(text, *report->user ? "  " : "     ");
    add_value(text, forecast_value(point));
    if (*report->user && point->rank)
        text_format(text, " %4" PRIu32, point->rank);
    else if (*report->user)
        text_format(text, " %4s", "");
}

static void add_rows(struct text *text, const struct forecast_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        add_minute(text, report->points[PROJECTION_NOTHING][i].at);
        for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS;
             projection++)
            if (report->points[projection])
                add_point(text, report, &report->points[projection][i]);
        text_add(text, "\n");
    }
}

static void add_job(struct text *text, const struct forecast_report *report)
{
    text_format(text, "\nThe job is charged %.10g TRES for %.10g hours from now on.\n",
                report->job_tres, (double)report->job_s / 3600);
}

static void add_crossings(struct text *text, const struct forecast_report *report)
{
    double now = forecast_value(&report->points[PROJECTION_NOTHING][0]);
    text_format(text, "\n%s %s %.10g", value_name(report),
                now >= report->limit ? "falls below" : "reaches", report->limit);
    const char *between = ":\n";
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++) {
        if (!report->points[projection])
            continue;
        text_format(text, "%s- %s: ", between, titles[projection]);
        between = "\n";
        if (report->crossing[projection])
            add_minute(text, report->crossing[projection]);
        else
            text_add(text, "not within these days");
    }
    text_add(text, "\n");
}

void forecast_report_add_table(struct text *text, const struct forecast_report *report, bool utf8)
{
    add_entity(text, report);
    text_add(text, ", cluster ");
    text_add_printable(text, report->cluster);
    text_format(text, ", %s\n", report->algorithm->name);
    text_format(text, "In the last week %.4g TRES were charged on average, %.4g with all others.\n",
                report->rate[0], report->rate[1]);
    if (*report->user)
        text_format(text, "The best rank is %" PRIu32 ".\n", report->users);
    text_add(text, "\n");
    add_headings(text, report);
    add_rows(text, report);
    if (report->curves[PROJECTION_NOTHING]) {
        text_add(text, "\n");
        forecast_report_add_plot(text, report, utf8);
    }
    if (report->with_job)
        add_job(text, report);
    if (report->has_limit)
        add_crossings(text, report);
}

void forecast_report_add_csv(struct text *text, const struct forecast_report *report)
{
    text_add(text, "cluster,account,user,partition,course,time,fairshare,levelfs,rawusage,"
                   "rank" CSV_LINE);
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        for (size_t i = 0; report->points[projection] && i < report->count; i++) {
            const struct forecast_point *point = &report->points[projection][i];
            csv_add_name(text, report->cluster, CSV_NEXT);
            csv_add_name(text, report->account, CSV_NEXT);
            csv_add_name(text, report->user, CSV_NEXT);
            csv_add_name(text, report->partition, CSV_NEXT);
            text_format(text, "%s,%" PRIu64 ",", words[projection], point->at);
            csv_add_real(text, point->factor, CSV_NEXT);
            csv_add_real(text, point->level_fs, CSV_NEXT);
            csv_add_real(text, point->usage, CSV_NEXT);
            if (point->rank)
                text_format(text, "%" PRIu32, point->rank);
            text_add(text, CSV_LINE);
        }
}

static json_t *json_projection(const struct forecast_report *report, enum projection projection)
{
    json_t *points = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const struct forecast_point *point = &report->points[projection][i];
        json_array_append_new(
            points,
            json_pack("{s:I, s:o, s:o, s:b, s:o, s:o}", "time", (json_int_t)point->at, "fairshare",
                      form_json_real(point->factor), "levelfs", form_json_real(point->level_fs),
                      "levelfs_infinite", isinf(point->level_fs) ? 1 : 0, "rawusage",
                      form_json_real(point->usage), "rank",
                      point->rank ? json_integer(point->rank) : json_null()));
    }
    json_t *crossing = report->crossing[projection]
                           ? json_integer((json_int_t)report->crossing[projection])
                           : json_null();
    return json_pack("{s:o, s:o}", "crossing", crossing, "points", points);
}

void forecast_report_add_json(struct text *text, const struct forecast_report *report)
{
    json_t *projections = json_object();
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++)
        if (report->points[projection])
            json_object_set_new(projections, words[projection],
                                json_projection(report, projection));
    form_add_json(text, json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:o, s:o}", "cluster",
                                  report->cluster, "account", report->account, "user", report->user,
                                  "partition", report->partition, "algorithm",
                                  report->algorithm->name, "users", (json_int_t)report->users,
                                  "rate", report->rate[0], "rate_of_all", report->rate[1], "until",
                                  report->has_limit ? json_real(report->limit) : json_null(),
                                  "courses", projections));
    text_add(text, "\n");
}
