/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "core/fairshare.h"
#include "report/csv.h"
#include "report/forms.h"
#include "report/terminal.h"
#include "report/outlook.h"
#include "util/text.h"

/* What each course is called, by people and by programs. */
static const char *const titles[COURSES] = { "nothing runs", "as last week", "others go on",
                                             "and the job" };
static const char *const words[COURSES] = { "nothing", "as_last_week", "others", "job" };

static void add_entity(struct text *text, const struct outlook *outlook)
{
    text_add(text, *outlook->user ? "User '" : "Account '");
    text_add_printable(text, *outlook->user ? outlook->user : outlook->account);
    if (*outlook->user) {
        text_add(text, "' of account '");
        text_add_printable(text, outlook->account);
    }
    if (*outlook->partition) {
        text_add(text, "' in partition '");
        text_add_printable(text, outlook->partition);
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

static const char *value_name(const struct outlook *outlook)
{
    return outlook->by_level_fs ? "LevelFS" : "FairShare";
}

static void add_headings(struct text *text, const struct outlook *outlook)
{
    bool ranked = *outlook->user != '\0';
    int width = ranked ? 14 : 12;
    size_t start = text->length;
    text_format(text, "%16s", "");
    for (enum course course = COURSE_NOTHING; course < COURSES; course++)
        if (outlook->points[course])
            text_format(text, "  %*s", width, titles[course]);
    text_format(text, "\n%16s", "");
    for (enum course course = COURSE_NOTHING; course < COURSES; course++)
        if (outlook->points[course])
            text_format(text, ranked ? "  %9s Rank" : "  %12s", value_name(outlook));
    text_add(text, "\n");
    terminal_paint(text, start, PAINT_HEADING);
}

static void add_point(struct text *text, const struct outlook *outlook,
                      const struct forecast_point *point)
{
    text_add(text, *outlook->user ? "  " : "     ");
    add_value(text, forecast_value(point));
    if (*outlook->user && point->rank)
        text_format(text, " %4" PRIu32, point->rank);
    else if (*outlook->user)
        text_format(text, " %4s", "");
}

static void add_rows(struct text *text, const struct outlook *outlook)
{
    for (size_t i = 0; i < outlook->count; i++) {
        add_minute(text, outlook->points[COURSE_NOTHING][i].at);
        for (enum course course = COURSE_NOTHING; course < COURSES; course++)
            if (outlook->points[course])
                add_point(text, outlook, &outlook->points[course][i]);
        text_add(text, "\n");
    }
}

static void add_job(struct text *text, const struct outlook *outlook)
{
    text_format(text, "\nThe job is charged %.10g TRES for %.10g hours from now on.\n",
                outlook->job_tres, (double)outlook->job_s / 3600);
}

static void add_crossings(struct text *text, const struct outlook *outlook)
{
    double now = forecast_value(&outlook->points[COURSE_NOTHING][0]);
    text_format(text, "\n%s %s %.10g", value_name(outlook),
                now >= outlook->limit ? "falls below" : "reaches", outlook->limit);
    const char *between = ":\n";
    for (enum course course = COURSE_NOTHING; course < COURSES; course++) {
        if (!outlook->points[course])
            continue;
        text_format(text, "%s- %s: ", between, titles[course]);
        between = "\n";
        if (outlook->crossing[course])
            add_minute(text, outlook->crossing[course]);
        else
            text_add(text, "not within these days");
    }
    text_add(text, "\n");
}

void outlook_add_table(struct text *text, const struct outlook *outlook, bool utf8)
{
    add_entity(text, outlook);
    text_add(text, ", cluster ");
    text_add_printable(text, outlook->cluster);
    text_format(text, ", %s\n", outlook->algorithm->name);
    text_format(text, "In the last week %.4g TRES were charged on average, %.4g with all others.\n",
                outlook->rate[0], outlook->rate[1]);
    if (*outlook->user)
        text_format(text, "The best rank is %" PRIu32 ".\n", outlook->users);
    text_add(text, "\n");
    add_headings(text, outlook);
    add_rows(text, outlook);
    if (outlook->curves[COURSE_NOTHING]) {
        text_add(text, "\n");
        outlook_add_plot(text, outlook, utf8);
    }
    if (outlook->with_job)
        add_job(text, outlook);
    if (outlook->has_limit)
        add_crossings(text, outlook);
}

void outlook_add_csv(struct text *text, const struct outlook *outlook)
{
    text_add(text, "cluster,account,user,partition,course,time,fairshare,levelfs,rawusage,"
                   "rank" CSV_LINE);
    for (enum course course = COURSE_NOTHING; course < COURSES; course++)
        for (size_t i = 0; outlook->points[course] && i < outlook->count; i++) {
            const struct forecast_point *point = &outlook->points[course][i];
            csv_add_name(text, outlook->cluster, CSV_NEXT);
            csv_add_name(text, outlook->account, CSV_NEXT);
            csv_add_name(text, outlook->user, CSV_NEXT);
            csv_add_name(text, outlook->partition, CSV_NEXT);
            text_format(text, "%s,%" PRIu64 ",", words[course], point->at);
            csv_add_real(text, point->factor, CSV_NEXT);
            csv_add_real(text, point->level_fs, CSV_NEXT);
            csv_add_real(text, point->usage, CSV_NEXT);
            if (point->rank)
                text_format(text, "%" PRIu32, point->rank);
            text_add(text, CSV_LINE);
        }
}

static json_t *json_course(const struct outlook *outlook, enum course course)
{
    json_t *points = json_array();
    for (size_t i = 0; i < outlook->count; i++) {
        const struct forecast_point *point = &outlook->points[course][i];
        json_array_append_new(
            points,
            json_pack("{s:I, s:o, s:o, s:b, s:o, s:o}", "time", (json_int_t)point->at, "fairshare",
                      form_json_real(point->factor), "levelfs", form_json_real(point->level_fs),
                      "levelfs_infinite", isinf(point->level_fs) ? 1 : 0, "rawusage",
                      form_json_real(point->usage), "rank",
                      point->rank ? json_integer(point->rank) : json_null()));
    }
    json_t *crossing = outlook->crossing[course]
                           ? json_integer((json_int_t)outlook->crossing[course])
                           : json_null();
    return json_pack("{s:o, s:o}", "crossing", crossing, "points", points);
}

void outlook_add_json(struct text *text, const struct outlook *outlook)
{
    json_t *courses = json_object();
    for (enum course course = COURSE_NOTHING; course < COURSES; course++)
        if (outlook->points[course])
            json_object_set_new(courses, words[course], json_course(outlook, course));
    form_add_json(text,
                  json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:f, s:f, s:o, s:o}", "cluster",
                            outlook->cluster, "account", outlook->account, "user", outlook->user,
                            "partition", outlook->partition, "algorithm", outlook->algorithm->name,
                            "users", (json_int_t)outlook->users, "rate", outlook->rate[0],
                            "rate_of_all", outlook->rate[1], "until",
                            outlook->has_limit ? json_real(outlook->limit) : json_null(), "courses",
                            courses));
    text_add(text, "\n");
}
