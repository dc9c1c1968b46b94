/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/forecast/forecast.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "command/named.h"
#include "core/usage/clock.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "report/forecast.h"
#include "results/snapshot.h"
#include "run/run.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"

#define DAY_S 86400u
#define DAYS_USUALLY 14
#define DAYS_AT_MOST 3660
/* Crossings are looked for hour by hour, where the tree is so large that this takes long, in
 * longer steps: so many associations are computed for each projection. */
#define CROSSING_WORK 20000000u
#define HOUR_S 3600u

struct wish {
    const char *name, *cluster;
    bool json, csv, plot;
    uint64_t days;
    bool has_limit, has_job, has_now;
    double limit;
    double job_tres;
    uint64_t job_s;
    int64_t now;
    const char *now_text;
};

static bool speaks_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");
    if (locale)
        freelocale(locale);
    return utf8;
}

/* The entity's part of the rates, and all of them, in TRES. */
static void fill_rates(struct forecast_report *report, const struct forecast *forecast)
{
    for (uint32_t i = 0; i < forecast->tree->count; i++) {
        double rate = (double)forecast->rates[i] / (double)UNITS_PER_TRES;
        report->rate[0] += forecast->meant[i] ? rate : 0;
        report->rate[1] += rate;
    }
}

/* Whether this projection differs from the ones before it. */
static bool is_wanted(const struct wish *wish, enum projection projection)
{
    return projection != PROJECTION_JOB || wish->has_job;
}

/* So many points, from now to the end. */
static int fill_points(struct forecast_point **points, const struct forecast *forecast,
                       enum projection projection, uint64_t span_s, size_t count, struct error *err)
{
    *points = memory_zeroed(count, sizeof **points);
    for (size_t i = 0; i < count; i++)
        if (forecast_at(forecast, projection, forecast->now + span_s * i / (count - 1), *points + i,
                        err))
            return -1;
    return 0;
}

static bool draws_curves(const struct wish *wish)
{
    return wish->plot || (!wish->json && !wish->csv && isatty(STDOUT_FILENO));
}

static int fill_projection(struct forecast_report *report, const struct forecast *forecast,
                           const struct wish *wish, enum projection projection, struct error *err)
{
    uint64_t span_s = wish->days * DAY_S;
    uint64_t step_s = span_s / (CROSSING_WORK / forecast->tree->count + wish->days);
    if (fill_points(&report->points[projection], forecast, projection, span_s, report->count,
                    err) ||
        (draws_curves(wish) && fill_points(&report->curves[projection], forecast, projection,
                                           span_s, FORECAST_COLUMNS, err)))
        return -1;
    if (!wish->has_limit)
        return 0;
    const struct crossing_search search = {
        .forecast = forecast,
        .projection = projection,
        .value = wish->limit,
        .end = forecast->now + span_s,
        .step_s = step_s > HOUR_S ? step_s : HOUR_S,
    };
    return forecast_crossing(&search, &report->crossing[projection], err);
}

static int print_outlook(const struct wish *wish, const struct forecast_report *report,
                         struct error *err)
{
    struct text text = { 0 };
    if (wish->json)
        forecast_report_add_json(&text, report);
    else if (wish->csv)
        forecast_report_add_csv(&text, report);
    else
        forecast_report_add_table(&text, report, speaks_utf8());
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int look_out(const struct wish *wish, struct prospect *prospect, const struct named *named,
                    struct error *err)
{
    struct forecast *forecast = &prospect->forecast;
    const struct snapshot *snapshot = named->snapshot;
    const struct node *node = &snapshot->tree->nodes[named->node];
    uint32_t entity = tree_place(forecast->tree, node->id);
    if (entity == NO_NODE || forecast->tree->nodes[entity].id != node->id)
        return fail(err, ERROR_OTHER, "forecast: '%s' is not in the accounting database any more",
                    wish->name);
    prospect_mean(prospect, entity);
    forecast->job_rate = (uint128)(wish->job_tres * (double)UNITS_PER_TRES);
    forecast->job_s = wish->job_s;
    struct forecast_report report = {
        .cluster = snapshot->cluster,
        .account = names_text(snapshot->names, node->account),
        .user = names_text(snapshot->names, node->user),
        .partition = names_text(snapshot->names, node->partition),
        .algorithm = forecast->algorithm,
        .users = forecast->tree->user_count,
        .with_job = wish->has_job,
        .job_tres = wish->job_tres,
        .job_s = wish->job_s,
        .count = (size_t)wish->days + 1,
        .has_limit = wish->has_limit,
        .limit = wish->limit,
    };
    int result = 0;
    fill_rates(&report, forecast);
    for (enum projection projection = PROJECTION_NOTHING; !result && projection < PROJECTIONS;
         projection++)
        if (is_wanted(wish, projection))
            result = fill_projection(&report, forecast, wish, projection, err);
    if (!result) {
        report.by_level_fs = isnan(report.points[PROJECTION_NOTHING][0].factor);
        result = print_outlook(wish, &report, err);
    }
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++) {
        free(report.points[projection]);
        free(report.curves[projection]);
    }
    return result;
}

static int read_and_look_out(const struct wish *wish, const struct settings *settings,
                             const struct named *named, struct error *err)
{
    struct db *source;
    struct prospect prospect;
    if (run_open_source(&source, settings, err))
        return -1;
    int result = prospect_read(&prospect, settings, source, named->snapshot->cluster,
                               wish->has_now ? &wish->now : NULL, wish->days * DAY_S, err);
    db_close(source);
    if (result)
        return -1;
    result = look_out(wish, &prospect, named, err);
    prospect_free(&prospect);
    return result;
}

/* Whom the name means is looked up in what is published. */
static int forecast(const struct wish *wish, const struct settings *settings, struct error *err)
{
    struct snapshots snapshots = { 0 };
    struct named named;
    char *cluster = wish->cluster ? memory_text(wish->cluster) : NULL;
    struct option_list clusters = { &cluster, wish->cluster ? 1 : 0 };
    int result = named_read(settings, &clusters, &snapshots, err);
    if (!result)
        result = named_find(&snapshots, NULL, wish->name, &named, err);
    if (!result && !named.node)
        result = fail(err, ERROR_USAGE, "forecast: '%s' is the root, which has no fairshare",
                      wish->name);
    if (!result)
        result = read_and_look_out(wish, settings, &named, err);
    snapshots_free(&snapshots);
    free(cluster);
    return result;
}

/* `TRESxTIME`: 64x12h. */
static bool take_job(struct wish *wish, const char *text)
{
    const char *sign = strchr(text, 'x');
    if (!sign)
        return false;
    char *tres = memory_bytes(text, (size_t)(sign - text));
    bool taken = number_real(tres, &wish->job_tres) && wish->job_tres > 0 &&
                 wish->job_tres < 1e15 && duration_parse(sign + 1, &wish->job_s) && wish->job_s &&
                 wish->job_s <= DAYS_AT_MOST * (uint64_t)DAY_S;
    free(tres);
    wish->has_job = true;
    return taken;
}

static int take(struct wish *wish, const char *days, const char *until, const char *job,
                struct error *err)
{
    wish->days = DAYS_USUALLY;
    if (!wish->name)
        return fail(err, ERROR_USAGE, "forecast: of whom? see `fairmill forecast --help`");
    if (wish->json && wish->csv)
        return fail(err, ERROR_USAGE, "forecast: --json and --csv exclude each other");
    if (days && (!number_unsigned(days, strlen(days), &wish->days) || !wish->days ||
                 wish->days > DAYS_AT_MOST))
        return fail(err, ERROR_USAGE, "forecast: --days '%s': must be a number from 1 to %d", days,
                    DAYS_AT_MOST);
    wish->has_limit = until != NULL;
    if (until && (!number_real(until, &wish->limit) || wish->limit < 0))
        return fail(err, ERROR_USAGE, "forecast: --until '%s': must be a number, not below 0",
                    until);
    if (job && !take_job(wish, job))
        return fail(err, ERROR_USAGE,
                    "forecast: --job '%s': must be what it is charged and for how long, as in "
                    "64x12h",
                    job);
    return 0;
}

/* Once the settings have said in which time zone a date is read. */
static int take_now(struct wish *wish, struct error *err)
{
    wish->has_now = wish->now_text != NULL;
    if (wish->has_now && (!instant_parse(wish->now_text, &wish->now) || wish->now < 0))
        return fail(err, ERROR_USAGE,
                    "forecast: --now '%s': must be epoch seconds or YYYY-MM-DD[THH:MM[:SS]]",
                    wish->now_text);
    return 0;
}

static int forecast_command(const struct invocation *invocation, struct error *err)
{
    struct wish wish = { 0 };
    const char *days = NULL, *until = NULL, *job = NULL;
    const struct command_option known[] = {
        { "days", 'd', NULL, &days, NULL },
        { "until", 'u', NULL, &until, NULL },
        { "job", 'j', NULL, &job, NULL },
        { "now", 0, NULL, &wish.now_text, NULL },
        { "cluster", 'M', NULL, &wish.cluster, NULL },
        { "plot", 0, &wish.plot, NULL, NULL },
        { "csv", 0, &wish.csv, NULL, NULL },
        { "json", 0, &wish.json, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = command_operands(invocation, known, &wish.name, 1, err);
    if (!result)
        result = take(&wish, days, until, job, err);
    if (!result)
        result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err);
    if (!result)
        result = take_now(&wish, err);
    if (!result)
        result = forecast(&wish, settings, err);
    settings_destroy(settings);
    return result;
}

const struct command command_forecast = {
    "forecast",
    "forecast NAME [--days NUMBER] [--until VALUE]\n"
    "       [--job TRESxTIME] [--now TIME] [--cluster NAME] [--plot] [--csv | --json]",
    "how the fairshare of a user or account goes on",
    "If nothing runs, if all goes on as in the last seven days, if only others do.\n"
    "\n"
    "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n"
    "\n"
    "  -d, --days NUMBER     so many days from now; usually 14\n"
    "  -u, --until VALUE     when FairShare (LevelFS, where an account has none) gets\n"
    "                        there\n"
    "  -j, --job TRESxTIME   what a job would do that is charged so many TRES for so\n"
    "                        long, such as 64x12h, while the others go on\n"
    "      --now TIME        from this instant on\n"
    "  -M, --cluster NAME    on this cluster\n"
    "      --plot            curves too where the output is no terminal\n"
    "      --csv             comma-separated values, every digit\n"
    "      --json            one JSON object\n",
    forecast_command,
};
