/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/forecast/forecast_data.h"
#include "core/tree/tree.h"
#include "core/usage/decay_table.h"
#include "db/db.h"
#include "report/forecast.h"
#include "report/terminal.h"
#include "report/usage_unit.h"
#include "results/published_find.h"
#include "results/published_forecast.h"
#include "results/published_part.h"
#include "run/run.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/times.h"

#define DAY_S 86400u
#define DAYS_USUALLY 14
#define DAYS_AT_MOST 3660
/* Crossings are searched for in steps of one hour.  For large trees the steps are longer, so that a
 * projection computes about this number of associations. */
#define CROSSING_WORK 20000000u
#define HOUR_S 3600u

struct forecast_options {
    struct shared_options shared;
    const char *days_text, *until, *job;
    bool plot;
    bool published_only; /* the accounting database is not read */
    bool rounded;        /* the usage of users who are hidden is rounded */
    uint64_t days;
    double limit; /* NAN: no limit */
    double job_tres;
    uint64_t job_s; /* duration in seconds; 0: no job */
};

/* Sums the rates of the entity, and of all associations, in TRES. */
static void fill_rates(struct forecast_report *report, const struct forecast *forecast)
{
    for (uint32_t i = 0; i < forecast->tree->count; i++) {
        double rate = (double)forecast->rates[i] / (double)UNITS_PER_TRES;
        report->rate[0] += forecast->in_entity[i] ? rate : 0;
        report->rate[1] += rate;
    }
}

/* Computes `count` points from now to the end. */
static int fill_points(struct projected *projected, uint64_t now, uint64_t duration_s, size_t count,
                       struct forecast_point **points, struct error *err)
{
    *points = memory_zeroed(count, sizeof **points);
    for (size_t i = 0; i < count; i++)
        if (projected_at(projected, now + duration_s * i / (count - 1), *points + i, err))
            return -1;
    return 0;
}

static int fill_projection(struct forecast_report *report, const struct forecast *forecast,
                           const struct forecast_options *options, enum projection projection,
                           struct error *err)
{
    uint64_t duration_s = options->days * DAY_S;
    uint64_t step_s = duration_s / (CROSSING_WORK / forecast->tree->count + options->days);
    bool plot =
        table_is_page(&options->shared.table) && (options->plot || terminal_of_output().is_one);
    const struct crossing_search search = {
        .value = options->limit,
        .end = forecast->now + duration_s,
        .step_s = step_s > HOUR_S ? step_s : HOUR_S,
    };
    struct projected *projected = projected_begin(forecast, projection);
    int result = fill_points(projected, forecast->now, duration_s, report->count,
                             &report->points[projection], err);
    if (!result && plot)
        result = fill_points(projected, forecast->now, duration_s, PLOT_COLUMNS,
                             &report->curves[projection], err);
    if (!result && !isnan(options->limit))
        result = projected_crossing(projected, &search, &report->crossing[projection], err);
    projected_end(projected);
    return result;
}

static int fill_report(struct forecast_report *report, const struct forecast *forecast,
                       const struct forecast_options *options, struct error *err)
{
    fill_rates(report, forecast);
    for (enum projection each = 0; each < PROJECTIONS; each++)
        if ((each != PROJECTION_JOB || options->job_s) &&
            fill_projection(report, forecast, options, each, err))
            return -1;
    return 0;
}

static void say_progress(void *computed, uint64_t at)
{
    struct text time = { 0 };
    time_add(&time, (int64_t)at);
    log_progress(time.bytes, ++*(uint64_t *)computed, "times computed");
    text_free(&time);
}

static int print_forecast(const struct command_context *context, const char *name,
                          const struct published_node *named, struct forecast *forecast,
                          struct error *err)
{
    const struct forecast_options *options = context->options;
    const struct published_cluster *cluster = named->cluster;
    const struct node *node = &cluster->tree->nodes[named->node];
    uint32_t entity = tree_place(forecast->tree, node->id);
    if (entity == NO_NODE || forecast->tree->nodes[entity].id != node->id)
        return fail(err, ERROR_OTHER, "forecast: '%s' is no longer in the accounting database",
                    name);
    forecast_choose(forecast, entity);
    forecast->job_rate = (uint128)(options->job_tres * (double)UNITS_PER_TRES);
    forecast->job_s = options->job_s;
    struct forecast_report report = {
        .cluster = cluster->name,
        .account = names_text(cluster->names, node->account),
        .user = names_text(cluster->names, node->user),
        .partition = names_text(cluster->names, node->partition),
        .terms = terminology_of(cluster->settings),
        .unit = published_unit(cluster),
        .usage = usage_unit_of(cluster->settings),
        .published_only = options->published_only,
        .rounded = options->rounded,
        .algorithm = forecast->algorithm,
        .users = forecast->tree->user_count,
        .job_tres = options->job_tres,
        .job_s = options->job_s,
        .count = (size_t)options->days + 1,
        .limit = options->limit,
    };
    uint64_t computed = 0;
    struct forecast counted = *forecast;
    counted.computed = say_progress;
    counted.computed_context = &computed;
    int result = fill_report(&report, &counted, options, err);
    log_progress_done();
    if (!result)
        forecast_report_answer(&report, context->answer);
    for (enum projection each = 0; each < PROJECTIONS; each++) {
        free(report.points[each]);
        free(report.curves[each]);
    }
    return result;
}

/* Adds a forecast from the accounting database. */
static int forecast_add_of_source(const struct command_context *context, const char *name,
                                  const struct published_node *named, struct error *err)
{
    const struct forecast_options *options = context->options;
    struct forecast_data data;
    struct db *db;
    if (run_open_source(&db, context->settings, err))
        return -1;
    struct source source = source_of(context->settings, db, named->cluster->name);
    if (options->shared.now.text)
        source.time = &options->shared.now.at;
    int result = forecast_data_read(&data, &source, options->days * DAY_S, err);
    db_close(db);
    if (result)
        return -1;
    result = print_forecast(context, name, named, &data.forecast, err);
    forecast_data_free(&data);
    return result;
}

/* Adds a forecast from the results. */
static int forecast_add_of_results(const struct command_context *context, const char *name,
                                   const struct published_node *named, struct error *err)
{
    struct forecast_options *options = context->options;
    struct published_forecast *published;
    options->rounded = published_round_others(&context->published, named->cluster);
    if (published_forecast_read(&published, &context->published, named->cluster,
                                options->days * DAY_S, err))
        return -1;
    if (!published)
        return fail(err, ERROR_OTHER,
                    "forecast: no daily usage is stored for cluster '%s', and the accounting "
                    "database is not available here",
                    named->cluster->name);
    int result = print_forecast(context, name, named, published_forecast_get(published), err);
    published_forecast_free(published);
    return result;
}

/* Adds the forecast of an association to the answer. */
static int add_forecast(const struct command_context *context, const char *name,
                        const struct published_node *named, struct error *err)
{
    const struct forecast_options *options = context->options;
    if (!named->node)
        return fail(err, ERROR_USAGE, "forecast: '%s' is the root, which has no fairshare", name);
    return (options->published_only ? forecast_add_of_results
                                    : forecast_add_of_source)(context, name, named, err);
}

/* Looks the name up in the published results. */
static int forecast_add_name(const struct command_context *context, const char *name,
                             struct error *err)
{
    struct published_node *named;
    size_t count;
    int result = published_find_all(&context->published, name, &named, &count, err);
    for (size_t i = 0; !result && i < count; i++)
        result = add_forecast(context, name, &named[i], err);
    free(named);
    return result;
}

/* Reads the associations with the requested names, and above them. */
static int forecast_find_names(struct command_context *context, struct error *err)
{
    const struct name_list lists[SELECTION_KINDS] = { [SELECTION_NAMES] = context->shared->names };
    struct published *published = &context->published;
    for (size_t i = 0; i < published->count; i++)
        if (published_read_part(published, &published->clusters[i], lists, PART_ABOVE, err))
            return -1;
    return 0;
}

static int forecast_answer(struct command_context *context, struct error *err)
{
    struct forecast_options *options = context->options;
    const struct name_list *names = &options->shared.names;
    int result = 0;
    if (!options->published_only) {
        result = forecast_find_names(context, err);
        published_close(&context->published); /* reading the accounting database takes long */
    }
    for (size_t i = 0; !result && i < names->count; i++)
        result = forecast_add_name(context, names->values[i], err);
    return result;
}

/* Parses `TRESxTIME`, such as 64x12h. */
static bool parse_job(struct forecast_options *options, const char *text)
{
    const char *sign = strchr(text, 'x');
    if (!sign)
        return false;
    char *tres = memory_bytes(text, (size_t)(sign - text));
    bool valid = number_real(tres, &options->job_tres) && options->job_tres > 0 &&
                 options->job_tres < 1e15 && duration_parse(sign + 1, &options->job_s) &&
                 options->job_s && options->job_s <= DAYS_AT_MOST * (uint64_t)DAY_S;
    free(tres);
    return valid;
}

static int forecast_check(struct command_context *context, struct error *err)
{
    struct forecast_options *options = context->options;
    const char *days = options->days_text, *until = options->until, *job = options->job;
    options->days = DAYS_USUALLY;
    if (!options->shared.names.count)
        return fail(err, ERROR_USAGE, "forecast: missing NAME; see `fairmill help forecast`");
    if (days && (!number_unsigned(days, strlen(days), &options->days) || !options->days ||
                 options->days > DAYS_AT_MOST))
        return fail(err, ERROR_USAGE, "forecast: --days '%s': must be a number from 1 to %d", days,
                    DAYS_AT_MOST);
    options->limit = NAN;
    if (until && (!number_real(until, &options->limit) || options->limit < 0))
        return fail(err, ERROR_USAGE, "forecast: --until '%s': must be a number of at least 0",
                    until);
    if (job && !parse_job(options, job))
        return fail(err, ERROR_USAGE,
                    "forecast: --job '%s': must be TRES and duration, such as 64x12h", job);
    /* Clients of the socket, and users who can read only reader.conf, get a forecast from the
     * published results, starting at their time. */
    options->published_only =
        !options->shared.now.text && command_reads_results_only(context->invocation);
    if (options->published_only) {
        context->use = SETTINGS_FOR_READING;
        context->results = RESULTS_TREES;
    }
    return 0;
}

static const struct command_option own_options[] = {
    { "days", NULL, 'd', OPTION_VALUE, AT(forecast_options, days_text), "NUMBER",
      .help = "Project the next NUMBER days (default: 14)" },
    { "until", NULL, 0, OPTION_VALUE, AT(forecast_options, until), "VALUE",
      .help = "Find when FairShare, or else LevelFS, reaches VALUE", .former = 'u' },
    { "job", NULL, 'j', OPTION_VALUE, AT(forecast_options, job), "TRESxTIME",
      .help = "Add a job of NAME, such as 64x12h (TRES x duration)" },
    { "plot", NULL, 0, OPTION_FLAG, AT(forecast_options, plot), NULL,
      .help = "Draw curves even if standard output is not a terminal" },
    { .name = NULL },
};

const struct command command_forecast = {
    .name = "forecast",
    .operand_count = OPERANDS_ANY,
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Project the fairshare of a user or account",
    .usage = "[OPTION...] NAME...",
    .description = "Project the fairshare of users and accounts in three cases: nothing runs; all\n"
                   "usage continues at the mean rate of the last seven days; only the usage of\n"
                   "others continues.\n"
                   "\n" HELP_OF_NAMES,
    .shared = TAKES_NAME | TAKES_CLUSTERS | TAKES_NOW | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct forecast_options),
    .use = SETTINGS_FOR_ALL,
    .results = RESULTS_OPEN,
    .layout = &forecast_layout,
    .check = forecast_check,
    .answer = forecast_answer,
};
