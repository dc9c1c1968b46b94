/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/command.h"
#include "command/statement/statement_use.h"
#include "core/insight/statement.h"
#include "core/usage/calendar.h"
#include "db/db.h"
#include "report/statement.h"
#include "report/usage_unit.h"
#include "results/association_times.h"
#include "run/run.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "source/source.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"

/* ---- Periods and units ---- */

static int64_t end_of_month(int64_t time)
{
    return (int64_t)calendar_next_month((uint64_t)time);
}
static int64_t end_of_week(int64_t time)
{
    return (int64_t)calendar_next_week((uint64_t)time);
}
static int64_t end_of_day(int64_t time)
{
    return (int64_t)calendar_next_day((uint64_t)time);
}
static const struct period_kind {
    const char *name;
    int64_t (*end_of)(int64_t time);
} period_kinds[] = {
    { "month", end_of_month }, { "week", end_of_week }, { "day", end_of_day }, { NULL, NULL }
};
static const struct amount_unit {
    const char *name, *of_tres;
    double seconds;
} amount_units[] = { { "hours", "TRES-hours", 3600 },
                     { "minutes", "TRES-minutes", 60 },
                     { "seconds", "TRES-seconds", 1 },
                     { NULL, NULL, 0 } };

struct command_statement_options {
    struct shared_options shared;
    const char *by_text, *time_text, *tres, *of_text;
    bool as_sreport;
    struct option_time since, until; /* INT64_MIN: the start of the year in which the statement
                                      * ends; INT64_MAX: all recorded usage */
    const struct period_kind *by;
    const struct amount_unit *unit;
    bool of_capacity;
};

/* The data of a cluster's statement. */
struct account_of {
    struct published_cluster *cluster;
    struct association_times times;
    struct association_times_known known;
    int64_t days_from, from, to;
};

struct statement_command_work {
    const struct command_statement_options *options;
    const struct settings *settings;
    struct published *published;
    struct db *source; /* NULL if it is not read */
    struct account_of *clusters;
};

/* ---- Reading ---- */

/* Returns the start of the day or, for slurmdbd's rollups, of the hour in local time. */
static int64_t statement_command_first_of(const struct command_statement_options *options,
                                          int64_t instant)
{
    time_t time = (time_t)instant;
    struct tm local;
    localtime_r(&time, &local);
    return options->as_sreport ? instant - local.tm_min * 60 - local.tm_sec
                               : (int64_t)calendar_day((uint64_t)instant);
}

static int64_t start_of_year(int64_t time)
{
    const struct reset_period year = { .unit = RESET_YEARLY };
    return (int64_t)calendar_last_reset(&year, (uint64_t)time);
}

/* Rollups are required only if there is one cluster.  Of several clusters, one may lack rollups. */
static int sums_reach(struct statement_command_work *work, struct account_of *of, int64_t *known,
                      struct error *err)
{
    const struct source source = source_of(work->settings, work->source, of->cluster->name);
    return statement_sums_reach(&source, work->published->count == 1, known, &of->days_from, err);
}

/* Sets the period of a cluster's statement.  from == to if there is no usage. */
static int statement_command_find_span(struct statement_command_work *work, struct account_of *of,
                                       struct error *err)
{
    const struct command_statement_options *options = work->options;
    const char *name = of->cluster->name;
    int64_t known;
    int result = work->source
                     ? sums_reach(work, of, &known, err)
                     : statement_days_reach(work->published->db, name, &known, &of->days_from, err);
    if (result || !known)
        return result;
    of->to =
        options->until.at < known ? statement_command_first_of(options, options->until.at) : known;
    of->from = statement_command_first_of(
        options, options->since.at == INT64_MIN ? start_of_year(of->to - 1) : options->since.at);
    if (of->from > of->to)
        of->from = of->to;
    return 0;
}

/* Records the names that exist or existed, to detect unknown names in the request. */
static void note_names(struct statement_command_work *work, const struct account_of *of)
{
    const struct names *names = of->times.names;
    for (size_t i = 0; i < of->times.count; i++) {
        const char *account = names_text(names, of->times.rows[i].row.account);
        const char *user = names_text(names, of->times.rows[i].row.user);
        const char *partition = names_text(names, of->times.rows[i].row.partition);
        bool is_seen =
            permissions_show(&work->published->permissions, of->cluster->name, account, user);
        selection_note(&work->published->selection,
                       &(const struct association_name){ account, is_seen ? user : "",
                                                         is_seen ? partition : "" });
    }
}

static int statement_command_read_cluster(struct statement_command_work *work,
                                          struct account_of *of, struct error *err)
{
    of->times.names = names_create();
    if (statement_command_find_span(work, of, err) ||
        association_times_read(work->published, of->cluster, &of->times, &of->known, err))
        return -1;
    if (work->source && of->from < of->to &&
        statement_hang_as_now(work->settings, work->source, of->cluster->name, &of->times, err))
        return -1;
    note_names(work, of);
    return 0;
}

/* Sets `*capacity` to the TRES that the cluster can deliver, as fairshare computes it now.  Sets it
 * to NAN without `--of capacity`.  Fails with ERROR_USAGE if the capacity is unknown. */
static int find_capacity(struct statement_command_work *work, struct account_of *of,
                         double *capacity, struct error *err)
{
    *capacity = NAN;
    if (!work->options->of_capacity)
        return 0;
    struct published_cluster *cluster = of->cluster;
    if (cluster->settings->capacity > 0) {
        *capacity = cluster->settings->capacity;
        return 0;
    }
    if (published_read_tree(work->published, cluster, err))
        return -1;
    double seconds = (double)cluster->half_life * cluster->settings->capacity_half_lives;
    *capacity = cluster->options.capacity / seconds;
    return isfinite(*capacity)
               ? 0
               : fail(
                     err, ERROR_USAGE,
                     "statement: the capacity of cluster '%s' is unknown; set [fairshare] capacity",
                     cluster->name);
}

/* ---- Output ---- */

struct statement_command_printing {
    struct statement_view view;
    struct answer *answer;
};

static void take_period(void *context, const struct statement_period *period)
{
    const struct statement_command_printing *printing = context;
    statement_add_period(&printing->view, period, printing->answer);
}

/* Returns the unit of amounts in text output.  sreport's TRES are not billed, so they have other
 * units than charged usage. */
static const char *unit_text_of(const struct command_statement_options *options,
                                const struct usage_unit *usage)
{
    if (options->as_sreport)
        return options->unit->of_tres;
    return options->unit->seconds >= 3600 ? usage->hours
           : options->unit->seconds >= 60 ? usage->minutes
                                          : usage->seconds;
}

static struct statement_view statement_command_view_of(const struct statement_command_work *work,
                                                       const struct account_of *of)
{
    const struct command_statement_options *options = work->options;
    const struct usage_unit *usage = usage_unit_of(of->cluster->settings);
    const char *pbs_unit = published_unit(of->cluster);
    const char *unit_text = pbs_unit ? pbs_unit : unit_text_of(options, usage);
    return (struct statement_view){
        .cluster = of->cluster->name,
        .from = of->from,
        .to = of->to,
        .by = options->by->name,
        .names = of->times.names,
        .permissions = &work->published->permissions,
        .selection = &work->published->selection,
        .terms = terminology_of(of->cluster->settings),
        .tres = options->as_sreport ? options->tres : NULL,
        .of_capacity = options->of_capacity,
        .scale = pbs_unit ? 1 : options->unit->seconds,
        .unit = pbs_unit ? pbs_unit : options->unit->of_tres,
        .unit_text = unit_text,
        .unit_definition = unit_text == usage->hours ? usage->definition : NULL,
        .shares_from = of->known.by_runs,
        .earlier_shares = of->known.by_source,
        .days_from = of->days_from,
    };
}

/* Reads the usage month by month, because rows are printed while a query runs, and a database may
 * cancel long queries. */
static int statement_command_add_use(struct statement_command_work *work,
                                     const struct account_of *of, struct statement *statement,
                                     struct error *err)
{
    const char *name = of->cluster->name;
    int result = 0;
    for (int64_t from = of->from, until; !result && from < of->to; from = until) {
        until = end_of_month(from) < of->to ? end_of_month(from) : of->to;
        const struct statement_sums sums = { statement, &of->times, work->options->tres, from,
                                             until };
        result = work->source
                     ? statement_add_sums(&sums, work->settings, work->source, name, err)
                     : statement_add_days(statement, work->published->db, name, from, until, err);
    }
    return result;
}

static int print_cluster(struct statement_command_work *work, struct account_of *of,
                         struct answer *answer, struct error *err)
{
    double capacity;
    if (find_capacity(work, of, &capacity, err))
        return -1;
    struct statement_command_printing printing = { statement_command_view_of(work, of), answer };
    struct decay_table *decay = decay_table_create(0, (uint64_t)of->to, 0);
    struct fairshare_options fairshare = of->cluster->options;
    fairshare.decay = decay;
    struct statement *statement = statement_create(&(const struct statement_options){
        .times = &of->times,
        .fairshare = &fairshare,
        .capacity = capacity,
        .from = of->from,
        .to = of->to,
        .end_of = work->options->by->end_of,
        .take = take_period,
        .context = &printing,
    });
    statement_open(&printing.view, answer);
    int result = statement_command_add_use(work, of, statement, err);
    if (!result)
        result = statement_end(statement, err);
    statement_destroy(statement);
    decay_table_destroy(decay);
    return result;
}

static int print_all(struct statement_command_work *work, struct answer *answer, struct error *err)
{
    int result = 0;
    for (size_t i = 0; !result && i < work->published->count; i++)
        if (work->clusters[i].from < work->clusters[i].to)
            result = print_cluster(work, &work->clusters[i], answer, err);
    return result;
}

static int statement_command_read_all(struct statement_command_work *work, struct error *err)
{
    bool any = false;
    work->clusters = memory_zeroed(work->published->count + 1, sizeof *work->clusters);
    for (size_t i = 0; i < work->published->count; i++) {
        work->clusters[i].cluster = &work->published->clusters[i];
        if (statement_command_read_cluster(work, &work->clusters[i], err))
            return -1;
        any |= work->clusters[i].from < work->clusters[i].to;
    }
    if (published_check_names(work->published, err))
        return -1;
    return any ? 0 : fail(err, ERROR_OTHER, "there is no recorded usage in that period");
}

/* Reads everything in one snapshot of the database. */
static int statement_command_open_source(struct statement_command_work *work, struct error *err)
{
    if (!work->options->as_sreport)
        return 0;
    return run_open_source(&work->source, work->settings, err) || db_begin(work->source, err) ? -1
                                                                                              : 0;
}

static int statement_answer(struct command_context *context, struct error *err)
{
    struct statement_command_work work = { .options = context->options,
                                           .settings = context->settings,
                                           .published = &context->published };
    int result = statement_command_open_source(&work, err) ||
                         statement_command_read_all(&work, err) ||
                         print_all(&work, context->answer, err)
                     ? -1
                     : 0;
    for (size_t i = 0; work.clusters && i < work.published->count; i++) {
        if (work.clusters[i].times.names)
            names_destroy(work.clusters[i].times.names);
        association_times_free(&work.clusters[i].times);
    }
    free(work.clusters);
    if (work.source)
        db_rollback(work.source);
    db_close(work.source);
    return result;
}

/* ---- The command line ---- */

static int statement_check(struct command_context *context, struct error *err)
{
    struct command_statement_options *options = context->options;
    const char *by = options->by_text ? options->by_text : "month";
    const char *unit = options->time_text ? options->time_text : "hours";
    const char *of = options->of_text ? options->of_text : "delivered";
    options->by = period_kinds;
    while (options->by->name && strcmp(options->by->name, by) != 0)
        options->by++;
    if (!options->by->name)
        return fail(err, ERROR_USAGE, "statement: --by '%s': must be month, week or day", by);
    options->unit = amount_units;
    while (options->unit->name && strcmp(options->unit->name, unit) != 0)
        options->unit++;
    if (!options->unit->name)
        return fail(err, ERROR_USAGE, "statement: --time '%s': must be hours, minutes or seconds",
                    unit);
    options->of_capacity = !strcmp(of, "capacity");
    if (!options->of_capacity && strcmp(of, "delivered") != 0)
        return fail(err, ERROR_USAGE, "statement: --of '%s': must be delivered or capacity", of);
    if (options->of_capacity && options->as_sreport)
        return fail(err, ERROR_USAGE,
                    "statement: --of capacity and --as-sreport are mutually exclusive");
    if (options->tres && !options->as_sreport)
        return fail(err, ERROR_USAGE, "statement: --tres requires --as-sreport");
    if (!options->tres)
        options->tres = "cpu";
    options->since.at = INT64_MIN;
    options->until.at = INT64_MAX;
    if (options->as_sreport)
        context->use = SETTINGS_FOR_ALL;
    return 0;
}

static const struct command_option own_options[] = {
    { "since", NULL, 0, OPTION_TIME, AT(command_statement_options, since), "TIME",
      .help = "Start on this day (default: 1 January)" },
    { "until", NULL, 0, OPTION_TIME, AT(command_statement_options, until), "TIME",
      .help = "End before this day (default: at the last run)" },
    { "by", NULL, 0, OPTION_VALUE, AT(command_statement_options, by_text), "PERIOD",
      .help = "Group by month, week or day (default: month)" },
    { "of", NULL, 0, OPTION_VALUE, AT(command_statement_options, of_text), "BASE",
      .help = "Divide delivered usage or capacity (default: delivered)" },
    { "as-sreport", NULL, 0, OPTION_FLAG, AT(command_statement_options, as_sreport), NULL,
      .help = "Show the usage that sreport shows; read from slurmdbd" },
    { "tres", NULL, 'T', OPTION_VALUE, AT(command_statement_options, tres), "NAME",
      .help = "With --as-sreport, select a TRES (default: cpu)" },
    { "time", NULL, 't', OPTION_VALUE, AT(command_statement_options, time_text), "UNIT",
      .help = "Show hours, minutes or seconds (default: hours)" },
    { .name = NULL },
};

const struct command command_statement = {
    .name = "statement",
    .operand_count = OPERANDS_ANY,
    .for_users = true,
    .group = GROUP_QUERY,
    .summary = "Compare usage with entitlement by month, week or day",
    .usage = "[OPTION...] [NAME...]",
    .description =
        "Compare the usage of accounts and users with their entitlement for each month,\n"
        "week or day.\n"
        "\n" HELP_OF_NAMES,
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct command_statement_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .layout = &statement_layout,
    .check = statement_check,
    .answer = statement_answer,
};
