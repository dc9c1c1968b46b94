/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "command/alert.h"
#include "command/command.h"
#include "command/show/computed_shares.h"
#include "command/private.h"
#include "compute/compute.h"
#include "report/shares.h"
#include "report/table.h"
#include "run/run.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/complain.h"
#include "util/error.h"
#include "util/log.h"
#include "util/number.h"
#include "util/text.h"

/* The last second of the year 9999: later dates have no form. */
#define LATEST_INSTANT INT64_C(253402300799)

/* What a dry run prints. */
static struct table *shown;

static int show(const struct settings *settings, const char *cluster,
                const struct computation *computation, struct error *err)
{
    (void)err;
    struct share_list *list = computed_shares(settings, cluster, computation);
    char *login = private_login(settings);
    share_list_hide_others(list, login);
    free(login);
    share_list_print(list, shown);
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
    struct text text = { 0 };
    int result = -1;
    shown = table_create(&text, &share_layout, &for_people, err);
    if (shown && !(result = run(settings, options, err)))
        result = table_end(shown, err);
    if (!result)
        result = command_print(&text, err);
    table_destroy(shown);
    text_free(&text);
    return result;
}

static int run_in_earnest(const struct settings *settings, struct run_options *options,
                          struct error *err)
{
    alert = alert_create(settings, options->clusters, options->cluster_count);
    options->complain = complain_in_time;
    if (run(settings, options, err))
        complain_in_time(err);
    alert_end(alert);
    return 0; /* or the status of what was complained of */
}

static int run_command(const struct invocation *invocation, struct error *err)
{
    const char *now = NULL;
    int64_t instant = 0;
    bool verbose = false;
    struct option_list clusters = { 0 };
    struct run_options options = { .complain = complain, .show = show };
    const struct command_option known[] = {
        { "now", 0, NULL, &now, NULL },
        { "replace", 0, &options.replace, NULL, NULL },
        { "full", 0, &options.full, NULL, NULL },
        { "dry-run", 'n', &options.dry_run, NULL, NULL },
        { "cluster", 'M', NULL, NULL, &clusters },
        { "verbose", 'v', &verbose, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = -1;
    if (!command_options(invocation, known, err) &&
        !settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err)) {
        /* The settings come first: they say in which time zone a date is read. */
        options.clusters = clusters.values;
        options.cluster_count = clusters.count;
        options.now = now ? &instant : NULL;
        log_set_verbose(verbose);
        if (now && (!instant_parse(now, &instant) || instant < 0 || instant > LATEST_INSTANT))
            fail(err, ERROR_USAGE,
                 "--now '%s': must be epoch seconds or YYYY-MM-DD[THH:MM[:SS]], up to year 9999",
                 now);
        else
            result = options.dry_run ? dry_run(settings, &options, err)
                                     : run_in_earnest(settings, &options, err);
    }
    option_list_free(&clusters);
    settings_destroy(settings);
    return result;
}

const struct command command_run = {
    "run",
    "run [--now TIME [--replace]] [--full] [--dry-run]\n"
    "       [--cluster NAME]... [-v]",
    "compute usage and fairshare, publish them",
    "  --now TIME       as of this instant: epoch seconds or YYYY-MM-DD[THH:MM[:SS]]\n"
    "  --replace        publish it even if it is older than what is published\n"
    "  --full           read all jobs again, and tell how far the kept sums were off\n"
    "  -n, --dry-run    write nothing; print what `fairmill show` would\n"
    "  -M, --cluster NAME\n"
    "                   only this cluster; may be given again\n"
    "  -v, --verbose    tell what was read and found\n",
    run_command,
};
