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
#include "results/published_find.h"
#include "core/usage/clock.h"
#include "core/tree/tree.h"
#include "db/db.h"
#include "report/forecast.h"
#include "results/published.h"
#include "run/run.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "source/source.h"
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

struct options {
    struct shared_options shared;
    const char *days_text, *until, *job;
    bool plot;
    uint64_t days;
    bool has_limit, has_job;
    double limit;
    double job_tres;
    uint64_t job_s;
    int64_t now;
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
        report->rate[0] += forecast->in_entity[i] ? rate : 0;
        report->rate[1] += rate;
    }
}

/* Whether this projection differs from the ones before it. */
static bool is_wanted(const struct options *options, enum projection projection)
{
    return projection != PROJECTION_JOB || options->has_job;
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

static bool draws_curves(const struct options *options)
{
    return options->plot ||
           (!options->shared.json && !options->shared.csv && isatty(STDOUT_FILENO));
}

static int fill_projection(struct forecast_report *report, const struct forecast *forecast,
                           const struct options *options, enum projection projection,
                           struct error *err)
{
    uint64_t span_s = options->days * DAY_S;
    uint64_t step_s = span_s / (CROSSING_WORK / forecast->tree->count + options->days);
    if (fill_points(&report->points[projection], forecast, projection, span_s, report->count,
                    err) ||
        (draws_curves(options) && fill_points(&report->curves[projection], forecast, projection,
                                              span_s, FORECAST_COLUMNS, err)))
        return -1;
    if (!options->has_limit)
        return 0;
    const struct crossing_search search = {
        .forecast = forecast,
        .projection = projection,
        .value = options->limit,
        .end = forecast->now + span_s,
        .step_s = step_s > HOUR_S ? step_s : HOUR_S,
    };
    return forecast_crossing(&search, &report->crossing[projection], err);
}

static int print_outlook(const struct options *options, const struct forecast_report *report,
                         struct error *err)
{
    struct text text = { 0 };
    if (options->shared.json)
        forecast_report_add_json(&text, report);
    else if (options->shared.csv)
        forecast_report_add_csv(&text, report);
    else
        forecast_report_add_table(&text, report, speaks_utf8());
    int result = command_print(&text, err);
    text_free(&text);
    return result;
}

static int look_out(const struct options *options, struct prospect *prospect,
                    const struct published_node *named, struct error *err)
{
    struct forecast *forecast = &prospect->forecast;
    const struct published_cluster *cluster = named->cluster;
    const struct node *node = &cluster->tree->nodes[named->node];
    uint32_t entity = tree_place(forecast->tree, node->id);
    if (entity == NO_NODE || forecast->tree->nodes[entity].id != node->id)
        return fail(err, ERROR_OTHER, "forecast: '%s' is not in the accounting database any more",
                    options->shared.operands[0]);
    prospect_mean(prospect, entity);
    forecast->job_rate = (uint128)(options->job_tres * (double)UNITS_PER_TRES);
    forecast->job_s = options->job_s;
    struct forecast_report report = {
        .cluster = cluster->name,
        .account = names_text(cluster->names, node->account),
        .user = names_text(cluster->names, node->user),
        .partition = names_text(cluster->names, node->partition),
        .algorithm = forecast->algorithm,
        .users = forecast->tree->user_count,
        .with_job = options->has_job,
        .job_tres = options->job_tres,
        .job_s = options->job_s,
        .count = (size_t)options->days + 1,
        .has_limit = options->has_limit,
        .limit = options->limit,
    };
    int result = 0;
    fill_rates(&report, forecast);
    for (enum projection projection = PROJECTION_NOTHING; !result && projection < PROJECTIONS;
         projection++)
        if (is_wanted(options, projection))
            result = fill_projection(&report, forecast, options, projection, err);
    if (!result) {
        report.by_level_fs = isnan(report.points[PROJECTION_NOTHING][0].factor);
        result = print_outlook(options, &report, err);
    }
    for (enum projection projection = PROJECTION_NOTHING; projection < PROJECTIONS; projection++) {
        free(report.points[projection]);
        free(report.curves[projection]);
    }
    return result;
}

static int read_and_look_out(const struct options *options, const struct settings *settings,
                             const struct published_node *named, struct error *err)
{
    struct db *db;
    struct prospect prospect;
    if (run_open_source(&db, settings, err))
        return -1;
    struct source source = source_of(settings, db, named->cluster->name);
    if (options->shared.now)
        source.instant = &options->now;
    int result = prospect_read(&prospect, &source, options->days * DAY_S, err);
    db_close(db);
    if (result)
        return -1;
    result = look_out(options, &prospect, named, err);
    prospect_free(&prospect);
    return result;
}

/* Whom the name means is looked up in what is published. */
static int forecast(const struct options *options, const struct settings *settings,
                    struct error *err)
{
    struct published published = { 0 };
    struct published_node named;
    int result = published_read(&published, settings, &options->shared.clusters, err);
    if (!result)
        result = published_find(&published, NULL, options->shared.operands[0], &named, err);
    if (!result && !named.node)
        result = fail(err, ERROR_USAGE, "forecast: '%s' is the root, which has no fairshare",
                      options->shared.operands[0]);
    if (!result)
        result = read_and_look_out(options, settings, &named, err);
    published_free(&published);
    return result;
}

/* `TRESxTIME`: 64x12h. */
static bool take_job(struct options *options, const char *text)
{
    const char *sign = strchr(text, 'x');
    if (!sign)
        return false;
    char *tres = memory_bytes(text, (size_t)(sign - text));
    bool taken = number_real(tres, &options->job_tres) && options->job_tres > 0 &&
                 options->job_tres < 1e15 && duration_parse(sign + 1, &options->job_s) &&
                 options->job_s && options->job_s <= DAYS_AT_MOST * (uint64_t)DAY_S;
    free(tres);
    options->has_job = true;
    return taken;
}

static int take(struct options *options, struct error *err)
{
    const char *days = options->days_text, *until = options->until, *job = options->job;
    options->days = DAYS_USUALLY;
    if (!options->shared.operands[0])
        return fail(err, ERROR_USAGE, "forecast: of whom? see `fairmill forecast --help`");
    if (days && (!number_unsigned(days, strlen(days), &options->days) || !options->days ||
                 options->days > DAYS_AT_MOST))
        return fail(err, ERROR_USAGE, "forecast: --days '%s': must be a number from 1 to %d", days,
                    DAYS_AT_MOST);
    options->has_limit = until != NULL;
    if (until && (!number_real(until, &options->limit) || options->limit < 0))
        return fail(err, ERROR_USAGE, "forecast: --until '%s': must be a number, not below 0",
                    until);
    if (job && !take_job(options, job))
        return fail(err, ERROR_USAGE,
                    "forecast: --job '%s': must be what it is charged and for how long, as in "
                    "64x12h",
                    job);
    return 0;
}

static const struct command_option own_options[] = {
    { "days", NULL, 'd', OPTION_VALUE, AT(days_text), "NUMBER",
      .help = "so many days from now; usually 14" },
    { "until", NULL, 0, OPTION_VALUE, AT(until), "VALUE",
      .help = "when FairShare (LevelFS, where an account has none) gets there", .former = 'u' },
    { "job", NULL, 'j', OPTION_VALUE, AT(job), "TRESxTIME",
      .help = "what a job would do that is charged so many TRES for so long, such as 64x12h, while "
              "the others go on" },
    { "plot", NULL, 0, OPTION_FLAG, AT(plot), NULL,
      .help = "curves too where the output is no terminal" },
    { .name = NULL },
};

static int forecast_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    int result = options_read(invocation, &options, err);
    if (!result)
        result = take(&options, err);
    if (!result)
        result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err);
    if (!result)
        /* The settings say in which time zone a date is read. */
        result = option_instant("now", options.shared.now, &options.now, err);
    if (!result)
        result = forecast(&options, settings, err);
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_forecast = {
    .name = "forecast",
    .operands = "NAME",
    .operand_count = 1,
    .summary = "how the fairshare of a user or account goes on",
    .notes = "If nothing runs, if all goes on as in the last seven days, if only others do.\n"
             "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n",
    .shared = TAKES_CLUSTERS | TAKES_NOW | TAKES_CSV | TAKES_JSON,
    .options = own_options,
    .run = forecast_command,
};
