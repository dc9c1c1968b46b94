/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "command/command.h"
#include "results/history.h"
#include "results/publish.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"

static int ask(const char *cluster, struct error *err)
{
    struct text question = { 0 };
    if (!isatty(STDIN_FILENO))
        return fail(err, ERROR_USAGE, "forget: needs --yes where nobody can be asked");
    text_add(&question, "Remove all that is known of cluster '");
    text_add_printable(&question, cluster);
    text_add(&question, "'? [y/N] ");
    int result = command_confirm(question.bytes, "forget: nothing was removed", err);
    text_free(&question);
    return result;
}

static int forget(const struct settings *settings, const char *cluster, bool yes, struct error *err)
{
    struct db *db;
    struct publisher publisher;
    if (results_open(&db, settings, DB_RESULTS, err))
        return -1;
    int result = forget_check(db, cluster, err);
    if (!result && !yes)
        result = ask(cluster, err);
    if (!result)
        result = publisher_start(&publisher, db, settings, cluster, err);
    if (!result) {
        /* It may have come back while we asked. */
        result = forget_check(db, cluster, err) || forget_cluster(&publisher, err) ? -1 : 0;
        publisher_end(&publisher);
    }
    if (result)
        results_explain(settings, err);
    db_close(db);
    return result;
}

struct options {
    struct shared_options shared;
    const char *cluster;
};

static const struct command_option own_options[] = {
    { "cluster", "clusters", 'M', OPTION_ONE, AT(cluster), "NAME",
      .help = "the cluster, which was retired or has vanished", .needed = true },
    { .name = NULL },
};

static int forget_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    int result = -1;
    if (options_read(invocation, &options, err))
        goto done;
    if (!options.cluster)
        fail(err, ERROR_USAGE, "forget: which --cluster?");
    else if (!settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err))
        result = forget(settings, options.cluster, options.shared.yes, err);
done:
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_forget = {
    .name = "forget",
    .operands = "",
    .summary = "remove all that is known of a cluster that is no more",
    .notes = "",
    .shared = TAKES_YES,
    .options = own_options,
    .run = forget_command,
};
