/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "command/command.h"
#include "import/import.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"

struct import_options {
    struct shared_options shared;
    const char *cluster, *accounting, *groups, *config, *usage, *queue, *server, *scheduler;
    struct option_time at;
    bool anew;
};

static const struct command_option own_options[] = {
    { "cluster", "clusters", 'M', OPTION_ONE, AT(import_options, cluster), "NAME",
      .help = "Import for this cluster (default: [source] clusters)" },
    { "accounting", NULL, 0, OPTION_VALUE, AT(import_options, accounting), "DIRECTORY",
      .help = "Import accounting logs, one file per day" },
    { "resource-group", NULL, 0, OPTION_VALUE, AT(import_options, groups), "FILE",
      .help = "Import the tree of shares" },
    { "sched-config", NULL, 0, OPTION_VALUE, AT(import_options, config), "FILE",
      .help = "Import the scheduler's fairshare settings" },
    { "usage", NULL, 0, OPTION_VALUE, AT(import_options, usage), "FILE",
      .help = "Import the scheduler's usage file as initial usage" },
    { "queue", NULL, 0, OPTION_VALUE, AT(import_options, queue), "FILE",
      .help = "Import `qstat -f -F json` output; `-` is standard input" },
    { "server-database", NULL, 0, OPTION_VALUE, AT(import_options, server), "SERVICE",
      .help = "Import jobs from the database of OpenPBS" },
    { "scheduler", NULL, 0, OPTION_VALUE, AT(import_options, scheduler), "FILE",
      .help = "Import the output of `qmgr -c 'list sched'`" },
    { "at", NULL, 0, OPTION_TIME, AT(import_options, at), "TIME",
      .help = "Apply the tree and settings from TIME on (default: now)" },
    { "anew", NULL, 0, OPTION_FLAG, AT(import_options, anew), NULL,
      .help = "Discard imported logs and read all logs again" },
    { .name = NULL },
};

/* Sets `*cluster` to --cluster or to the only cluster in [source] clusters. */
static int choose_cluster(const struct settings *settings, const char *asked, const char **cluster,
                          struct error *err)
{
    *cluster = asked ? asked : settings->clusters;
    if (asked && !settings_want_cluster(settings, asked))
        return fail(err, ERROR_USAGE, "import: [source] clusters does not include '%s'", asked);
    if (!asked && (!strcmp(settings->clusters, "all") || strchr(settings->clusters, ',')))
        return fail(
            err, ERROR_USAGE,
            "import: missing --cluster NAME; [source] clusters does not name exactly one cluster");
    return 0;
}

static int import(const struct settings *settings, const struct import_options *options,
                  struct error *err)
{
    struct import import = { .accounting = options->accounting,
                             .groups = options->groups,
                             .config = options->config,
                             .usage = options->usage,
                             .queue = options->queue,
                             .server = options->server,
                             .scheduler = options->scheduler,
                             .anew = options->anew,
                             .time = option_time_or_now(&options->at),
                             .is_now = !options->at.text };
    if (choose_cluster(settings, options->cluster, &import.cluster, err) ||
        import_run(&import, settings, complain, err))
        return -1;
    if (import.has_formula_flaw) {
        fail_in(&import.formula_flaw,
                "imported job_sort_formula, but cannot compute priorities with it");
        log_warning("warning: %s", import.formula_flaw.message);
    }
    if (options->groups)
        log_note("%" PRIu64 " lines of resource_group changed", import.changed_groups);
    if (options->config || options->queue || options->server || options->scheduler)
        log_note("%" PRIu64 " values of the scheduler and the server changed",
                 import.changed_values);
    if (options->usage)
        log_note("%" PRIu64 " entities have usage", import.usages);
    if (options->queue || options->server)
        log_note("%" PRIu64 " pending jobs", import.waiting);
    log_note("%" PRIu64 " lines from %" PRIu64 " logs", import.lines, import.logs);
    if (import.bad_jobs)
        return fail(err, ERROR_DATA,
                    "cannot read %" PRIu64 " pending jobs; the others were imported",
                    import.bad_jobs);
    if (import.bad_lines)
        return fail(err, ERROR_DATA,
                    "%" PRIu64 " of %" PRIu64
                    " lines are not accounting log records; the others were imported",
                    import.bad_lines, import.lines);
    return 0;
}

static bool asks(const struct import_options *options)
{
    return options->accounting || options->groups || options->config || options->usage ||
           options->queue || options->server || options->scheduler;
}

static int import_check(struct command_context *context, struct error *err)
{
    const struct import_options *options = context->options;
    if (!options->shared.operands[0])
        return fail(err, ERROR_USAGE, "import: missing source; use `fairmill import pbs`");
    if (strcmp(options->shared.operands[0], "pbs") != 0)
        return fail(err, ERROR_USAGE, "import: unknown source '%s'; use `fairmill import pbs`",
                    options->shared.operands[0]);
    if (!asks(options))
        return fail(err, ERROR_USAGE,
                    "import: nothing to import; use --accounting (accounting logs), "
                    "--resource-group (shares), --sched-config (scheduler settings), --usage "
                    "(usage file), --queue (qstat output), --server-database (OpenPBS's database) "
                    "or --scheduler (output of `qmgr -c 'list sched'`)");
    if (options->queue && options->server)
        return fail(err, ERROR_USAGE,
                    "import: --queue and --server-database are mutually exclusive");
    if (options->at.text && !options->groups && !options->config && !options->scheduler)
        return fail(err, ERROR_USAGE,
                    "import: --at requires --resource-group, --sched-config or --scheduler");
    if (options->anew && !options->accounting)
        return fail(err, ERROR_USAGE, "import: --anew requires --accounting");
    return 0;
}

static int import_answer(struct command_context *context, struct error *err)
{
    return import(context->settings, context->options, err);
}

const struct command command_import = {
    .name = "import",
    .operand_count = 1,
    .group = GROUP_SETUP,
    .summary = "Import OpenPBS files into the accounting database",
    .usage = "pbs [OPTION...]",
    .description =
        "Import files and command output of OpenPBS into the accounting database.  Logs\n"
        "are read from the end of the last import on.\n",
    .shared = TAKES_VERBOSE,
    .options = own_options,
    .options_size = sizeof(struct import_options),
    .use = SETTINGS_FOR_ALL,
    .check = import_check,
    .answer = import_answer,
};
