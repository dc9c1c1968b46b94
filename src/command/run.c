/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/alert.h"
#include "command/command.h"
#include "command/show/computed_shares.h"
#include "report/shares.h"
#include "results/run_mark.h"
#include "results/viewers.h"
#include "run/run.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/log.h"

/* What a dry run prints. */
static struct answer *shown;

static int show(const struct settings *settings, const char *cluster,
                const struct computation *computation, struct error *err)
{
    (void)err;
    struct share_list *list = computed_shares(settings, cluster, computation);
    struct viewer viewer = viewer_of(settings);
    viewer_admit_writer(&viewer, settings);
    share_list_hide_others(list, &viewer);
    viewer_free(&viewer);
    share_list_answer(list, shown);
    share_list_destroy(list);
    return 0;
}

static struct alert *alert;

static void complain_in_time(const struct error *err)
{
    alert_complain(alert, err);
}

/* Whoever asks for a dry run waits for what it says. */
static int dry_run(const struct settings *settings, const struct run_options *options,
                   struct error *err)
{
    static const struct table_options for_people = { 0 };
    shown = answer_create(&share_layout, &for_people, command_print, err);
    int result = run(settings, options, err);
    if (!result)
        result = answer_end(shown, err);
    answer_destroy(shown);
    return result;
}

static int run_in_earnest(const struct settings *settings, struct run_options *options,
                          struct error *err)
{
    static int unrecorded; /* outlives the options */
    alert = alert_create(settings, options->clusters.names, options->clusters.count);
    options->complain = complain_in_time;
    options->unrecorded = &unrecorded;
    if (run(settings, options, err))
        complain_in_time(err);
    alert_end(alert);
    if (unrecorded)
        run_mark_leave(settings->path, unrecorded);
    else if (!options->clusters.count && first_failure() != error_exit_status(ERROR_LOCKED))
        run_mark_remove(settings->path);
    return 0; /* or the status of what was complained of */
}

struct options {
    struct shared_options shared;
    bool replace, full;
};

static const struct command_option own_options[] = {
    { "replace", NULL, 0, OPTION_FLAG, AT(replace), NULL,
      .help = "with --now: publish it even if it is older than what is published" },
    { "full", NULL, 0, OPTION_FLAG, AT(full), NULL,
      .help = "read all jobs again, and say how far the kept sums were off" },
    { .name = NULL },
};

/* A run that cannot read its settings knows no results that could show its failure. */
static int run_without_settings(const struct command_context *context, struct error *err)
{
    if (!context->shared->dry_run)
        run_mark_leave(settings_path(context->invocation->settings_path),
                       error_exit_status(err->class));
    return -1;
}

static int run_command(struct command_context *context, struct error *err)
{
    const struct options *asked = context->options;
    const struct shared_options *shared = context->shared;
    int64_t instant = 0;
    if (option_instant("now", shared->now, &instant, err))
        return -1;
    struct run_options options = {
        .clusters = { shared->clusters.values, shared->clusters.count },
        .now = shared->now ? &instant : NULL,
        .replace = asked->replace,
        .full = asked->full,
        .dry_run = shared->dry_run,
        .complain = complain,
        .show = show,
    };
    return shared->dry_run ? dry_run(context->settings, &options, err)
                           : run_in_earnest(context->settings, &options, err);
}

const struct command command_run = {
    .name = "run",
    .operands = "",
    .summary = "compute usage and fairshare, publish them",
    .notes = "",
    .shared = TAKES_CLUSTERS | TAKES_NOW | TAKES_DRY_RUN | TAKES_VERBOSE,
    .options = own_options,
    .options_size = sizeof(struct options),
    .use = SETTINGS_FOR_ALL,
    .answer = run_command,
    .without_settings = run_without_settings,
};
