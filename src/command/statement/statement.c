/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/statement/statement_data.h"
#include "report/usage_unit.h"
#include "results/tres_days.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/index.h"
#include "util/memory.h"
#include "util/text.h"

struct command_statement_options {
    struct shared_options shared;
    const char *by_text, *time_text, *of_text;
    const char *tres;                /* NULL: the usage that was charged */
    struct option_time since, until; /* see struct statement_range */
    const struct option_period *by;
    const struct amount_unit *unit;
    bool of_capacity;
};

struct statement_command_work {
    const struct command_statement_options *options;
    struct published *published;
    char *tres;            /* the stored name of options->tres */
    struct text tres_unit; /* its unit in text output */
    struct statement_data *clusters;
};

/* ---- Reading ---- */

/* Records the names that exist or existed, to detect unknown names in the request. */
static void note_names(struct statement_command_work *work, const struct statement_data *of)
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

/* Sets `*capacity` to the TRES that the cluster can deliver, as fairshare computes it now.  Sets it
 * to NAN without `--of capacity`.  Fails with ERROR_USAGE if the capacity is unknown. */
static int find_capacity(struct statement_command_work *work, struct statement_data *of,
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

static struct statement_view statement_command_view_of(const struct statement_command_work *work,
                                                       const struct statement_data *of)
{
    struct statement_view view =
        statement_data_view(of, work->options->unit, work->tres, work->tres_unit.bytes);
    view.by = work->options->by->name;
    view.permissions = &work->published->permissions;
    view.selection = &work->published->selection;
    view.of_capacity = work->options->of_capacity;
    return view;
}

static int print_cluster(struct statement_command_work *work, struct statement_data *of,
                         struct answer *answer, struct error *err)
{
    double capacity;
    if (find_capacity(work, of, &capacity, err))
        return -1;
    struct statement_command_printing printing = { statement_command_view_of(work, of), answer };
    statement_open(&printing.view, answer);
    return statement_data_compute(of, capacity, work->options->by->end_of, take_period, &printing,
                                  err);
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
    const struct statement_range range = { options->since.at, options->until.at, work->tres };
    for (size_t i = 0; i < work->published->count; i++) {
        struct statement_data *of = &work->clusters[i];
        if (statement_data_read(of, work->published, &work->published->clusters[i], &range, err))
            return -1;
        note_names(work, of);
        any |= of->from < of->to;
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
    for (size_t i = 0; work.clusters && i < work.published->count; i++)
        statement_data_free(&work.clusters[i]);
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
    options->by = option_period("by", by, err);
    if (!options->by)
        return -1;
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
