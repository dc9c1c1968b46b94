/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "report/series.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <jansson.h>

#include "report/csv.h"
#include "report/forms.h"
#include "report/terminal.h"
#include "util/text.h"

/* For people: a line for each point, with a bar.  Of more points than these, the last of each
 * day. */
#define MOST_LINES 60u

/* Of a terminal that does not say, and of none. */
#define USUAL_WIDTH 80u
#define LONGEST_BAR 60u

/* Whether people see UTF-8 as what it is.  Our own locale is always that, so theirs is asked. */
static bool shows_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (!locale || !*locale)
            continue;
        const char *charset = strchr(locale, '.');
        return charset && (!strncasecmp(charset, ".utf-8", 6) || !strncasecmp(charset, ".utf8", 5));
    }
    return false;
}

/* A bar of this part of the whole, in eighths of a character where there are such. */
static void add_bar(struct text *text, double part, size_t length, bool utf8)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    if (!(part > 0))
        return;
    size_t steps = (size_t)lround(fmin(part, 1) * (double)length * 8);
    if (!utf8)
        steps = (steps + 4) / 8 * 8;
    if (!steps)
        steps = utf8 ? 1 : 8;
    for (size_t i = 0; i < steps / 8; i++)
        text_add(text, utf8 ? "█" : "#");
    text_add(text, eighths[steps % 8]);
}

static void add_date(struct text *text, int64_t at, const char *format)
{
    char date[64];
    time_t instant = (time_t)at;
    struct tm day;
    localtime_r(&instant, &day);
    strftime(date, sizeof date, format, &day);
    text_add(text, date);
}

static bool same_day(int64_t one, int64_t other)
{
    time_t instants[] = { (time_t)one, (time_t)other };
    struct tm days[2];
    localtime_r(&instants[0], &days[0]);
    localtime_r(&instants[1], &days[1]);
    return days[0].tm_year == days[1].tm_year && days[0].tm_yday == days[1].tm_yday;
}

static void add_title(struct text *text, const struct series *series)
{
    text_add(text, "Cluster ");
    text_add_printable(text, series->cluster);
    text_add(text, *series->user ? ", user " : ", account ");
    text_add_printable(text, *series->user ? series->user : series->account);
    if (*series->user) {
        text_add(text, " of ");
        text_add_printable(text, series->account);
    }
    if (*series->partition) {
        text_add(text, ", partition ");
        text_add_printable(text, series->partition);
    }
    text_format(text, " (association %" PRId64 ")\n", series->id);
}

/* What the bars show: fairshare, which is from 0 to 1, where there is any, else usage. */
static double bar_part(const struct series_point *point, bool usage, double highest)
{
    return usage ? (highest > 0 ? point->usage / highest : 0) : point->fairshare;
}

static void add_number(struct text *text, double number, int width)
{
    char cell[64] = "";
    if (isinf(number))
        snprintf(cell, sizeof cell, "inf");
    else if (!isnan(number))
        snprintf(cell, sizeof cell, "%.6f", number);
    text_format(text, " %*s", width, cell);
}

struct look {
    bool thinned, bars_of_usage, utf8;
    double highest; /* usage */
    size_t bar;
};

static void add_line(struct text *text, const struct series *series,
                     const struct series_point *point, const struct look *look)
{
    size_t start = text->length;
    add_date(text, point->at, series->days || look->thinned ? "%Y-%m-%d" : "%Y-%m-%d %H:%M");
    if (!series->days)
        add_number(text, point->fairshare, 9);
    text_format(text, " %16.0f", floor(point->usage));
    if (!series->days)
        add_number(text, point->level_fs, 12);
    text_add(text, "  ");
    add_bar(text, bar_part(point, look->bars_of_usage, look->highest), look->bar, look->utf8);
    while (text->length > start && text->bytes[text->length - 1] == ' ')
        text->length--;
    text_add(text, "\n");
}

static struct look look_of(const struct series *series)
{
    struct look look = { .thinned = !series->days && series->count > MOST_LINES,
                         .bars_of_usage = true,
                         .utf8 = shows_utf8() };
    for (size_t i = 0; i < series->count; i++) {
        if (!series->days && !isnan(series->points[i].fairshare))
            look.bars_of_usage = false;
        look.highest = fmax(look.highest, series->points[i].usage);
    }
    size_t before = (series->days || look.thinned ? 10u : 16u) + (series->days ? 0u : 23u) + 19u;
    size_t width = terminal_width() ? terminal_width() : USUAL_WIDTH;
    look.bar = width > before ? width - before : 1;
    if (look.bar > LONGEST_BAR)
        look.bar = LONGEST_BAR;
    return look;
}

static void table_add(struct text *text, const struct series *series, bool first)
{
    struct look look = look_of(series);
    text_add(text, first ? "" : "\n");
    add_title(text, series);
    size_t start = text->length;
    if (series->days)
        text_add(text, "Day            TRESSeconds\n");
    else
        text_format(text, "%-*s %9s %16s %12s\n", look.thinned ? 10 : 16, "AsOf", "FairShare",
                    "RawUsage", "LevelFS");
    terminal_paint(text, start, PAINT_HEADING);
    for (size_t i = 0; i < series->count; i++)
        if (!look.thinned || i + 1 == series->count ||
            !same_day(series->points[i].at, series->points[i + 1].at))
            add_line(text, series, &series->points[i], &look);
}

static void nothing_before(struct text *text, bool days)
{
    (void)text;
    (void)days;
}

static void nothing(struct text *text)
{
    (void)text;
}

const struct series_form series_table = { nothing_before, table_add, nothing };

/* For spreadsheets. */

static void csv_begin(struct text *text, bool days)
{
    text_add(text, "Cluster,Account,User,Partition,Id,");
    text_add(text, days ? "Day,TRESSeconds" : "AsOf,FairShare,RawUsage,LevelFS,Algorithm");
    text_add(text, CSV_LINE);
}

static void csv_add(struct text *text, const struct series *series, bool first)
{
    (void)first;
    for (size_t i = 0; i < series->count; i++) {
        const struct series_point *point = &series->points[i];
        csv_add_name(text, series->cluster, CSV_NEXT);
        csv_add_name(text, series->account, CSV_NEXT);
        csv_add_name(text, series->user, CSV_NEXT);
        csv_add_name(text, series->partition, CSV_NEXT);
        text_format(text, "%" PRId64 ",%" PRId64 ",", series->id, point->at);
        if (!series->days)
            csv_add_real(text, point->fairshare, CSV_NEXT);
        csv_add_real(text, point->usage, series->days ? CSV_LINE : CSV_NEXT);
        if (!series->days) {
            csv_add_real(text, point->level_fs, CSV_NEXT);
            text_add(text, point->algorithm);
            text_add(text, CSV_LINE);
        }
    }
}

const struct series_form series_csv = { csv_begin, csv_add, nothing };

/* For programs. */

static void json_begin(struct text *text, bool days)
{
    (void)days;
    text_add(text, "{\"associations\": [");
}

static json_t *json_point(const struct series *series, const struct series_point *point)
{
    if (series->days)
        return json_pack("{s:I, s:o}", "day", (json_int_t)point->at, "tres_seconds",
                         form_json_real(point->usage));
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:b}", "as_of", (json_int_t)point->at, "algorithm",
                     point->algorithm, "fairshare", form_json_real(point->fairshare), "rawusage",
                     form_json_real(point->usage), "levelfs", form_json_real(point->level_fs),
                     "levelfs_infinite", isinf(point->level_fs) ? 1 : 0);
}

static void json_add(struct text *text, const struct series *series, bool first)
{
    json_t *points = json_array();
    for (size_t i = 0; i < series->count; i++)
        json_array_append_new(points, json_point(series, &series->points[i]));
    json_t *json =
        json_pack("{s:s, s:I, s:s, s:s, s:s, s:o}", "cluster", series->cluster, "id_assoc",
                  (json_int_t)series->id, "account", series->account, "user", series->user,
                  "partition", series->partition, series->days ? "days" : "points", points);
    text_add(text, first ? "\n" : ",\n");
    form_add_json(text, json);
}

static void json_end(struct text *text)
{
    text_add(text, "\n]}\n");
}

const struct series_form series_json = { json_begin, json_add, json_end };
