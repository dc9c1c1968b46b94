/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "db/db.h"
#include "results/forget.h"
#include "results/publish.h"
#include "results/schema.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/text.h"

static int ask(const char *cluster, struct error *err)
{
    char answer[16] = "";
    struct text question = { 0 };
    if (!isatty(STDIN_FILENO))
        return fail(err, ERROR_USAGE, "forget: needs --yes where nobody can be asked");
    text_add(&question, "Remove all that is known of cluster '");
    text_add_printable(&question, cluster);
    text_add(&question, "'? [y/N] ");
    int result = command_print(&question, err);
    text_free(&question);
    if (result)
        return -1;
    if (fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y'))
        return 0;
    return fail(err, ERROR_OTHER, "forget: nothing was removed");
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

static int forget_command(const struct invocation *invocation, struct error *err)
{
    const char *cluster = NULL;
    bool yes = false;
    const struct command_option known[] = {
        { "cluster", 'M', NULL, &cluster, NULL },
        { "yes", 'y', &yes, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = -1;
    if (command_options(invocation, known, err))
        return -1;
    if (!cluster)
        return fail(err, ERROR_USAGE, "forget: which --cluster?");
    if (!settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err))
        result = forget(settings, cluster, yes, err);
    settings_destroy(settings);
    return result;
}

const struct command command_forget = {
    "forget",
    "forget --cluster NAME [--yes]",
    "remove all that is known of a retired cluster",
    "  -M, --cluster NAME  the cluster, which the accounting database has no more\n"
    "  -y, --yes           do not ask\n",
    forget_command,
};
