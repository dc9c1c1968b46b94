/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/command.h"
#include "command/whatif/whatif_changes.h"
#include "command/whatif/whatif_source.h"
#include "report/whatif.h"
#include "report/whatif_table.h"
#include "results/published_find.h"
#include "results/slurm_difference.h"
#include "settings/scheduler.h"
#include "settings/settings.h"
#include "util/error.h"

/* Default number of gains, and of losses, in text output. */
#define TOP_OF_PAGE 10

/* The repeatable options, in the order of their table. */
enum { SHARES, MOVE, HALF_LIFE, ALGORITHM, CONFORMANCE, ADD_USAGE, REMOVE_USER, WEIGHTS, LISTS };

struct whatif_options {
    struct shared_options shared;
    struct name_list lists[LISTS], files;
    const char *top_text;
    struct whatif_changes changes;
    uint64_t top;
};

static int from_source(struct command_context *context, struct whatif *whatif,
                       const struct published_cluster *cluster, struct error *err)
{
    const struct whatif_options *options = context->options;
    const struct settings *settings = command_source_settings(context, err);
    int64_t now = options->shared.now.text ? options->shared.now.at : cluster->as_of;
    if (!settings)
        return -1;
    return whatif_from_source(whatif, settings, &options->changes, cluster->name, &now, err);
}

/* Keeps only the rows and jobs of the selected accounts and users. */
static void whatif_choose(const struct command_context *context,
                          const struct published_cluster *cluster, struct whatif *whatif)
{
    const struct shared_options *shared = context->shared;
    struct name_list accounts = { 0 };
    if (shared->accounts.count)
        selection_add_accounts(&accounts, &shared->accounts, cluster->tree, cluster->names);
    if (shared->accounts.count || shared->users.count)
        whatif_leave(whatif, &accounts, &shared->users);
    name_list_free(&accounts);
}

static int whatif_fill(struct command_context *context, struct published_cluster *cluster,
                       struct whatif *whatif, struct error *err)
{
    struct whatif_options *options = context->options;
    const struct published *published = &context->published;
    bool advice = permissions_take_advice(&published->permissions, cluster->name);
    whatif->permissions = &published->permissions;
    whatif->terms = terminology_of(cluster->settings);
    whatif->rounded = published_round_others(published, cluster);
    if (changes_find(&options->changes, published, cluster, err))
        return -1;
    for (size_t i = 0; i < options->changes.count; i++)
        for (size_t j = 0; j < options->changes.list[i].id_count; j++)
            whatif_add_named(whatif, options->changes.list[i].ids[j]);
    if ((options->shared.now.text || changes_need_source(&options->changes)
             ? from_source(context, whatif, cluster, err)
             : whatif_from_results(whatif, published->db, &options->changes, cluster, err)))
        return -1;
    whatif_hide_others(whatif);
    whatif_place_jobs(whatif);
    whatif_choose(context, cluster, whatif);
    whatif->no_commands = !advice;
    changes_describe(&options->changes, cluster, context->settings, whatif);
    bool differs;
    if (slurm_difference_read(published, cluster, &differs, err))
        return -1;
    differs |= whatif->own_values && source_type_of(cluster->settings)->is_slurmdbd;
    whatif->note = differs ? slurm_difference_note(advice) : NULL;
    return 0;
}

static int whatif_answer(struct command_context *context, struct error *err)
{
    const struct whatif_options *options = context->options;
    struct published_cluster *cluster = published_only(&context->published, err);
    if (!cluster || published_read_tree(&context->published, cluster, err) ||
        published_check_names(&context->published, err))
        return -1;
    char *login = command_login(context->invocation->client);
    struct whatif *whatif = whatif_create(cluster->name, cluster->as_of);
    /* Without sudo, SUDO_USER may name another user. */
    const char *limited = context->published.permissions.login;
    whatif->login = limited ? limited : login;
    int result = whatif_fill(context, cluster, whatif, err);
    if (!result)
        whatif_print(whatif, (size_t)options->top, context->answer);
    whatif_destroy(whatif);
    free(login);
    return result;
}

static const struct command_option own_options[] = {
    { "shares", NULL, 's', OPTION_AGAIN, AT(whatif_options, lists[SHARES]), "NAME=SHARES",
      .help = "Set the shares of a user or account, or `parent`" },
    { "move", NULL, 0, OPTION_AGAIN, AT(whatif_options, lists[MOVE]), "ACCOUNT=PARENT",
      .help = "Move an account and its subtree to another parent", .former = 'm' },
    { "half-life", NULL, 0, OPTION_AGAIN, AT(whatif_options, lists[HALF_LIFE]), "DURATION",
      .help = "Set the half-life, such as 14-0", .source = true },
    { "algorithm", NULL, 0, OPTION_AGAIN, AT(whatif_options, lists[ALGORITHM]), "NAME",
      .help = "Use another algorithm for the fairshare" },
    { "conformance", NULL, 0, OPTION_AGAIN, AT(whatif_options, lists[CONFORMANCE]), "NAME",
      .help = "Set the conformance: documents or slurmctld", .source = true },
    { "add-usage", NULL, 0, OPTION_AGAIN, AT(whatif_options, lists[ADD_USAGE]), "NAME=HOURS",
      .help = "Add TRES-hours of usage now" },
    { "remove-user", NULL, 0, OPTION_AGAIN, AT(whatif_options, lists[REMOVE_USER]), "NAME",
      .help = "Remove a user, as `sacctmgr delete user` does" },
    { "weights", NULL, 'w', OPTION_AGAIN, AT(whatif_options, lists[WEIGHTS]), "NAME=NUMBER,...",
      .help = "Set priority weights, as in age=1000,qos=500" },
    { "file", NULL, 'f', OPTION_AGAIN, AT(whatif_options, files), "FILE",
      .help = "Read changes from FILE; `-` is standard input", .path = true },
    { "top", NULL, 0, OPTION_VALUE, AT(whatif_options, top_text), "NUMBER",
      .help = "Show NUMBER gains and losses (default in text: 10)" },
    { .name = NULL },
};

static int whatif_check(struct command_context *context, struct error *err)
{
    struct whatif_options *options = context->options;
    options->top = table_is_page(&options->shared.table) ? TOP_OF_PAGE : SIZE_MAX;
    if (option_count("top", options->top_text, &options->top, err))
        return -1;
    for (size_t i = 0; i < options->files.count; i++)
        if (changes_add_file(&options->changes, options->files.values[i], err))
            return -1;
    for (size_t list = 0; list < LISTS; list++)
        for (size_t i = 0; i < options->lists[list].count; i++)
            if (changes_add(&options->changes, own_options[list].name,
                            options->lists[list].values[i], err))
                return -1;
    return 0;
}

static void whatif_release(void *options)
{
    changes_free(&((struct whatif_options *)options)->changes);
}

const struct command command_whatif = {
    .name = "whatif",
    .for_users = true,
    .group = GROUP_TRY,
    .summary = "Predict the effect of new shares or settings",
    .usage = "[OPTION...]",
    .description = "Predict how fairshare changes if shares, users, usage or settings change.\n"
                   "The options of changes are repeatable; all changes apply together.\n"
                   "\n" HELP_OF_NAMES,
    .shared = TAKES_CLUSTERS | TAKES_ACCOUNTS | TAKES_USERS | TAKES_NOW | TAKES_TABLE,
    .options = own_options,
    .options_size = sizeof(struct whatif_options),
    .use = SETTINGS_FOR_READING,
    .results = RESULTS_OPEN,
    .layout = &whatif_layout,
    .check = whatif_check,
    .answer = whatif_answer,
    .release = whatif_release,
};
