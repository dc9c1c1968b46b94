/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "core/insight/statement.h"
#include "core/usage/calendar.h"
#include "report/statement.h"
#include "report/usage_unit.h"
#include "results/association_times.h"
#include "results/tres_days.h"
#include "results/usage_days.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

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
    const char *name, *of_tres, *suffix;
    double seconds;
} amount_units[] = { { "hours", "TRES-hours", "-hours", 3600 },
                     { "minutes", "TRES-minutes", "-minutes", 60 },
                     { "seconds", "TRES-seconds", "-seconds", 1 },
                     { NULL, NULL, NULL, 0 } };

struct command_statement_options {
    struct shared_options shared;
    const char *by_text, *time_text, *of_text;
    const char *tres;                /* NULL: the usage that was charged */
    struct option_time since, until; /* INT64_MIN: the start of the year in which the statement
                                      * ends; INT64_MAX: all recorded usage */
    const struct period_kind *by;
    const struct amount_unit *unit;
    bool of_capacity;
};

/* The data of a cluster's statement. */
struct account_of {
    struct published_cluster *cluster;
    struct usage_days days;
    struct association_times times;
    struct association_times_known known;
    int64_t days_from, from, to;
};

struct statement_command_work {
    const struct command_statement_options *options;
    struct published *published;
    char *tres;            /* the stored name of options->tres */
    struct text tres_unit; /* its unit in text output */
    struct account_of *clusters;
};

/* ---- Reading ---- */

static int64_t statement_command_day_of(int64_t time)
{
    return (int64_t)calendar_day((uint64_t)time);
}

static int64_t start_of_year(int64_t time)
{
    const struct reset_period year = { .unit = RESET_YEARLY };
    return (int64_t)calendar_last_reset(&year, (uint64_t)time);
}

/* Sets the period of a cluster's statement.  from == to if there is no usage. */
static int statement_command_find_span(struct statement_command_work *work, struct account_of *of,
                                       struct error *err)
{
    const struct command_statement_options *options = work->options;
    struct db *db = work->published->db;
    const char *name = of->cluster->name;
    int64_t known;
    of->days = (struct usage_days){ db, name, .of_tres = work->tres != NULL };
    if ((work->tres && tres_days_number(db, name, work->tres, &of->days.number, err)) ||
        usage_days_reach(&of->days, &known, &of->days_from, err))
        return -1;
    if (!known)
        return 0;
    of->to = options->until.at < known ? statement_command_day_of(options->until.at) : known;
    of->from = statement_command_day_of(options->since.at == INT64_MIN ? start_of_year(of->to - 1)
                                                                       : options->since.at);
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
    if (!(of->cluster->settings->capacity > 0) &&
        published_read_tree(work->published, of->cluster, err))
        return -1;
    *capacity = published_capacity(of->cluster);
    return isfinite(*capacity)
               ? 0
               : fail(
                     err, ERROR_USAGE,
                     "statement: the capacity of cluster '%s' is unknown; set [fairshare] capacity",
                     of->cluster->name);
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

/* Sets the unit and the scale of amounts.  OpenPBS's charged usage is in a unit of its own. */
static void statement_command_set_unit(const struct statement_command_work *work,
                                       const struct published_cluster *cluster,
                                       struct statement_view *view)
{
    const struct amount_unit *unit = work->options->unit;
    const struct usage_unit *usage = usage_unit_of(cluster->settings);
    const char *pbs_unit = published_unit(cluster);
    view->scale = unit->seconds;
    view->unit = unit->of_tres;
    if (view->tres) {
        view->unit_text = work->tres_unit.bytes;
    } else if (pbs_unit) {
        view->scale = 1;
        view->unit = view->unit_text = pbs_unit;
    } else {
        view->unit_text = unit->seconds >= 3600 ? usage->hours
                          : unit->seconds >= 60 ? usage->minutes
                                                : usage->seconds;
        view->unit_definition = unit->seconds >= 3600 ? usage->definition : NULL;
    }
}

static struct statement_view statement_command_view_of(const struct statement_command_work *work,
                                                       const struct account_of *of)
{
    struct statement_view view = {
        .cluster = of->cluster->name,
        .from = of->from,
        .to = of->to,
        .by = work->options->by->name,
        .names = of->times.names,
        .permissions = &work->published->permissions,
        .selection = &work->published->selection,
        .terms = terminology_of(of->cluster->settings),
        .tres = work->tres,
        .of_capacity = work->options->of_capacity,
        .shares_from = of->known.by_runs,
        .earlier_shares = of->known.by_source,
        .days_from = of->days_from,
    };
    statement_command_set_unit(work, of->cluster, &view);
    return view;
}

/* Reads the usage month by month, because rows are printed while a query runs, and a database may
 * cancel long queries. */
static int statement_command_add_use(const struct account_of *of, struct statement *statement,
                                     struct error *err)
{
    int result = 0;
    for (int64_t from = of->from, until; !result && from < of->to; from = until) {
        until = end_of_month(from) < of->to ? end_of_month(from) : of->to;
        result = usage_days_add(statement, &of->days, from, until, err);
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
    int result = statement_command_add_use(of, statement, err);
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
    const struct command_statement_options *options = work->options;
    bool any = false;
    if (options->tres && tres_days_find(work->published->db, &options->shared.clusters,
                                        options->tres, &work->tres, err))
        return -1;
    if (work->tres)
        usage_unit_add_tres(&work->tres_unit, work->tres, options->unit->suffix);
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

static int statement_answer(struct command_context *context, struct error *err)
{
    struct statement_command_work work = { .options = context->options,
                                           .published = &context->published };
    int result =
        statement_command_read_all(&work, err) || print_all(&work, context->answer, err) ? -1 : 0;
    for (size_t i = 0; work.clusters && i < work.published->count; i++) {
        if (work.clusters[i].times.names)
            names_destroy(work.clusters[i].times.names);
        association_times_free(&work.clusters[i].times);
    }
    free(work.clusters);
    free(work.tres);
    text_free(&work.tres_unit);
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
    if (options->of_capacity && options->tres)
        return fail(err, ERROR_USAGE, "statement: --of capacity and --tres are mutually exclusive");
    options->since.at = INT64_MIN;
    options->until.at = INT64_MAX;
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
    { "tres", NULL, 'T', OPTION_VALUE, AT(command_statement_options, tres), "NAME",
      .help = "Show a TRES like gres/gpu (default: charged usage)" },
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
