/* SPDX-License-Identifier: MIT */
#include "report/series.h"

#include <inttypes.h>
#include <math.h>
#include <time.h>

#include <jansson.h>

#include "report/answer.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "settings/scheduler.h"
#include "util/text.h"
#include "util/times.h"

/* If there are more points than this, text output shows only the last one of each day. */
#define MOST_LINES 60u

/* Used if the width of the terminal is unknown. */
#define USUAL_WIDTH 80u
#define LONGEST_BAR 60u
/* Usual widths of the columns before the bar. */
#define BEFORE_BAR_OF_DAY 28u
#define BEFORE_BAR_OF_POINT 56u

/*
 * Adds a bar of `part` times `length`.  UTF-8 bars have a resolution of an eighth of a character.
 */
static void series_add_bar(struct text *text, double part, size_t length, bool utf8)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    size_t steps = (size_t)lround(fmin(part, 1) * (double)length * 8);
    if (!utf8)
        steps = (steps + 4) / 8 * 8;
    if (!steps)
        steps = utf8 ? 1 : 8;
    for (size_t i = 0; i < steps / 8; i++)
        text_add(text, utf8 ? "█" : "#");
    text_add(text, eighths[steps % 8]);
}

static bool same_day(int64_t one, int64_t other)
{
    time_t times[] = { (time_t)one, (time_t)other };
    struct tm days[2];
    localtime_r(&times[0], &days[0]);
    localtime_r(&times[1], &days[1]);
    return days[0].tm_year == days[1].tm_year && days[0].tm_yday == days[1].tm_yday;
}

/* A series with the settings of its text output. */
struct series_view {
    struct series series;
    bool thinned, bars_of_usage, utf8;
    double highest; /* highest usage */
    size_t bar;     /* length of the longest bar */
};

static struct series_view series_view_of(const struct series *series)
{
    struct series_view view = { .series = *series,
                                .thinned = !series->days && series->count > MOST_LINES,
                                .bars_of_usage = true,
                                .utf8 = terminal_of_output().utf8 };
    for (size_t i = 0; i < series->count; i++) {
        if (!series->days && !isnan(series->points[i].fairshare))
            view.bars_of_usage = false;
        view.highest = fmax(view.highest, series->points[i].usage);
    }
    size_t before = series->days ? BEFORE_BAR_OF_DAY : BEFORE_BAR_OF_POINT;
    size_t width = terminal_width() ? terminal_width() : USUAL_WIDTH;
    view.bar = width > before ? width - before : 1;
    if (view.bar > LONGEST_BAR)
        view.bar = LONGEST_BAR;
    return view;
}

/* ---- The columns ---- */

/* Bars show fairshare, which is between 0 and 1.  If no point has fairshare, they show usage. */
static void get_bar(const void *of, struct cell *cell)
{
    const struct series_point *point = of;
    const struct series_view *view = cell->context;
    double part = point->fairshare;
    if (view->bars_of_usage)
        part = view->highest > 0 ? point->usage / view->highest : 0;
    if (part > 0)
        series_add_bar(cell_compose(cell), part, view->bar, view->utf8);
}

/* Text output names the association in its title, and JSON names it once. */
#define ONLY_IN_LINES (NOT_FOR_PEOPLE | NOT_IN_JSON)
#define WHOSE(member) \
    MEMBER(struct series_view, series.member), .of_context = true, .hidden = ONLY_IN_LINES
#define WHOSE_COLUMNS                                                                            \
    { "cluster", "Cluster", COLUMN_TEXT, .stored = STORED_AS_CLUSTER, .hidden = ONLY_IN_LINES }, \
        { "account", "Account", COLUMN_TEXT, WHOSE(account) },                                   \
        { "username", "User", COLUMN_TEXT, WHOSE(user) },                                        \
        { "partition", "Partition", COLUMN_TEXT, WHOSE(partition) },                             \
    {                                                                                            \
        "id_assoc", "ID", COLUMN_INTEGER, WHOSE(id)                                              \
    }
#define BAR_COLUMN                                                                         \
    {                                                                                      \
        "bar", "", COLUMN_TEXT, .get = get_bar, .hidden = ONLY_FOR_PEOPLE, .expendable = 1 \
    }

static const struct column point_columns[] = {
    WHOSE_COLUMNS,
    { "as_of", "AsOf", COLUMN_TIME, MEMBER(struct series_point, at) },
    { "fairshare", "FairShare", COLUMN_REAL, MEMBER(struct series_point, fairshare) },
    { "usage_raw", "RawUsage", COLUMN_REAL, MEMBER(struct series_point, usage),
      .decimals = NO_DECIMALS },
    { "level_fs", "LevelFS", COLUMN_REAL, MEMBER(struct series_point, level_fs) },
    { "level_fs_infinite", "LevelFSInfinite", COLUMN_YES_NO, MEMBER(struct series_point, level_fs),
      .hidden = ONLY_IN_JSON },
    { "algorithm", "Algorithm", COLUMN_TEXT, MEMBER(struct series_point, algorithm),
      .hidden = NOT_FOR_PEOPLE },
    BAR_COLUMN,
    { .name = NULL },
};

static const struct column day_columns[] = {
    WHOSE_COLUMNS,
    { "day", "Day", COLUMN_DAY, MEMBER(struct series_point, at) },
    { "tres_seconds", "TRESSeconds", COLUMN_REAL, MEMBER(struct series_point, usage),
      .decimals = NO_DECIMALS },
    BAR_COLUMN,
    { .name = NULL },
};

static void get_hours(const void *of, struct cell *cell)
{
    cell_real(cell, ((const struct series_point *)of)->usage / 3600);
}

/* Text output has hours; their unit is in the title. */
static const struct column tres_day_columns[] = {
    WHOSE_COLUMNS,
    { "day", "Day", COLUMN_DAY, MEMBER(struct series_point, at) },
    { "tres", "TRES", COLUMN_TEXT, WHOSE(tres) },
    { "tres_seconds", "TRESSeconds", COLUMN_REAL, MEMBER(struct series_point, usage),
      .decimals = NO_DECIMALS, .hidden = NOT_FOR_PEOPLE },
    { "hours", "Hours", COLUMN_REAL, .get = get_hours, .decimals = 1, .hidden = ONLY_FOR_PEOPLE },
    BAR_COLUMN,
    { .name = NULL },
};

const struct table_layout series_of_points = { point_columns, "points", .by_cluster = true,
                                               .groups = "associations" };
const struct table_layout series_of_tres_days = { tres_day_columns, "days", .by_cluster = true,
                                                  .groups = "associations" };
const struct table_layout series_of_days = { day_columns, "days", .by_cluster = true,
                                             .groups = "associations" };

static void series_add_title(struct answer *answer, const struct series *series)
{
    bool is_user = *series->user;
    struct text unit = { 0 };
    if (series->tres) {
        text_add(&unit, ", ");
        usage_unit_add_tres(&unit, series->tres, "-hours");
    }
    answer_say(answer, "Cluster %s, %s %s%s%s%s%s (%s %" PRId64 ")%s\n", series->cluster,
               is_user ? series->terms->user : series->terms->account,
               is_user ? series->user : series->account, is_user ? " of " : "",
               is_user ? series->account : "", *series->partition ? ", partition " : "",
               series->partition, series->terms->number, series->id, unit.bytes ? unit.bytes : "");
    text_free(&unit);
    if (series->tres && series->from < series->known_from)
        answer_say(answer, "No usage of %s is recorded before %s.\n", series->tres,
                   time_day_text(series->known_from).bytes);
}

void series_answer(const struct series *series, struct answer *answer)
{
    struct series_view view = series_view_of(series);
    bool thinned = view.thinned && answer_is_for_people(answer);
    answer_cluster(answer, &(struct table_cluster){
                               .name = series->cluster,
                               .facts = json_pack(
                                   "{s:I, s:s, s:s, s:s, s:s*}", "id_assoc", (json_int_t)series->id,
                                   "account", series->account, "username", series->user,
                                   "partition", series->partition, "tres", series->tres),
                               .context = &view,
                               .terms = series->terms });
    series_add_title(answer, series);
    for (size_t i = 0; i < series->count; i++)
        if (!thinned || i + 1 == series->count ||
            !same_day(series->points[i].at, series->points[i + 1].at))
            answer_row(answer, &series->points[i]);
}
