/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/shares/shares_commands.h"
#include "command/shares/shares_database.h"
#include "command/shares/shares_difference.h"
#include "db/db.h"
#include "report/share_file.h"
#include "run/clusters.h"
#include "run/run.h"
#include "settings/settings.h"
#include "util/complain.h"
#include "util/error.h"
#include "util/text.h"

struct options {
    struct shared_options shared;
    bool commands;
};

static const struct command_option own_options[] = {
    { "commands", NULL, 0, OPTION_FLAG, AT(commands), .form = true,
      .help = "with diff: the sacctmgr commands that make the database what the file says" },
    { .name = NULL },
};

/* The associations of the one cluster that is meant: that of --cluster, or else (NULL: none) that
 * of the file. */
static int read_database(struct share_set *list, const struct settings *settings,
                         const struct options *options, const char *of_file, struct error *err)
{
    const struct name_list *asked = &options->shared.clusters;
    char *name = (char *)of_file, *cluster = NULL;
    const struct cluster_names names = asked->count
                                           ? (struct cluster_names){ asked->values, asked->count }
                                           : (struct cluster_names){ &name, of_file != NULL };
    struct db *source = NULL;
    if (strcmp(settings->layout, "slurmdbd") != 0)
        return fail(err, ERROR_USAGE,
                    "shares: [source] layout is %s, and sacctmgr is for slurmdbd only",
                    settings->layout);
    int result = run_open_source(&source, settings, err);
    if (!result)
        result = clusters_wanted_one(settings, source, &names, complain, &cluster, err);
    if (!result)
        result = shares_read(list, settings, source, cluster, err);
    free(cluster);
    db_close(source);
    return result;
}

static int export(const struct settings *settings, const struct options *options, struct error *err)
{
    struct share_set list = { 0 };
    struct text text = { 0 };
    int result = read_database(&list, settings, options, NULL, err);
    if (!result)
        result = share_file_add(&text, &list, err);
    if (!result)
        result = command_print(&text, err);
    share_set_free(&list);
    text_free(&text);
    return result;
}

/* 0, 1 where something differs, or -1. */
static int print_differences(const struct share_differences *differences,
                             const struct options *options, struct error *err)
{
    struct text text = { 0 };
    struct table *table = NULL;
    int result = 0;
    if (options->commands) {
        shares_add_commands(&text, differences);
    } else if (differences->count || !table_is_page(&options->shared.table)) {
        table = table_create(&text, &share_differences_layout, &options->shared.table, err);
        if (table)
            share_differences_print(differences, table);
        result = table ? table_end(table, err) : -1;
    }
    if (!result)
        result = command_print(&text, err);
    table_destroy(table);
    text_free(&text);
    return result ? -1 : differences->count != 0;
}

static int diff(const struct settings *settings, const struct options *options, struct error *err)
{
    const char *path = options->shared.operands[1];
    struct share_set file = { 0 }, database = { 0 };
    int result = share_file_load(&file, path, err);
    if (!result)
        result = read_database(&database, settings, options, file.cluster, err);
    if (!result) {
        share_set_take_case(&file, &database);
        struct share_differences differences = share_differences_find(&file, &database);
        result = print_differences(&differences, options, err);
        share_differences_free(&differences);
    }
    share_set_free(&file);
    share_set_free(&database);
    return result;
}

static int check_options(const struct options *options, struct error *err)
{
    const struct table_options *table = &options->shared.table;
    const char *action = options->shared.operands[0], *file = options->shared.operands[1];
    const char *cluster;
    bool exports = action && !strcmp(action, "export");
    if (!action || (!exports && strcmp(action, "diff") != 0))
        return fail(err, ERROR_USAGE, "shares: export, or diff with a file?");
    if (exports && file)
        return fail(err, ERROR_USAGE, "shares export: unexpected argument '%s'", file);
    if (exports && (options->commands || table->form != TABLE_FOR_PEOPLE || table->columns ||
                    table->no_header))
        return fail(err, ERROR_USAGE, "shares export: takes --cluster only");
    if (!exports && !file)
        return fail(err, ERROR_USAGE, "shares diff: which file?");
    if (option_list_one(&options->shared.clusters, "cluster", &cluster, err))
        return -1;
    return exports ? 0 : table_check(&share_differences_layout, table, err);
}

static int shares_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { 0 };
    struct settings *settings = NULL;
    int result = -1;
    if (!options_read(invocation, &options, err) && !check_options(&options, err) &&
        !settings_load(&settings, invocation->settings_path, SETTINGS_FOR_ALL, err))
        result = options.shared.operands[1] ? diff(settings, &options, err)
                                            : export(settings, &options, err);
    options_free(&options.shared);
    settings_destroy(settings);
    return result;
}

const struct command command_shares = {
    .name = "shares",
    .operands = "ACTION",
    .operand_count = 2,
    .summary = "shares as a file of sacctmgr's, and what the database has otherwise",
    .notes = "  export       write the associations of a cluster as `sacctmgr load` takes\n"
             "               them\n"
             "  diff FILE    what differs between such a file, also one that `sacctmgr dump`\n"
             "               wrote, and the accounting database; - is standard input.  The\n"
             "               cluster is the file's, if --cluster names no other\n",
    .shared = TAKES_CLUSTERS | TAKES_TABLE,
    .options = own_options,
    .run = shares_command,
};
