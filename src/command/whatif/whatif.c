/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/whatif/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/private.h"
#include "command/whatif/whatif_changes.h"
#include "db/db.h"
#include "report/whatif.h"
#include "results/schema.h"
#include "results/snapshot.h"
#include "settings/load.h"
#include "settings/settings.h"
#include "util/error.h"
#include "util/number.h"
#include "util/text.h"

/* Of each kind of lines, for people. */
#define TOP_OF_TABLE 10

/* The options that may be given again, by what they change. */
enum { SHARES, MOVE, HALF_LIFE, ALGORITHM, CONFORMANCE, ADD_USAGE, REMOVE_USER, WEIGHTS, LISTS };
static const char *const list_names[LISTS] = { "shares",      "move",        "half-life",
                                               "algorithm",   "conformance", "add-usage",
                                               "remove-user", "weights" };

struct options {
    struct shared_options shared;
    struct option_list lists[LISTS], files;
    const char *top_text;
    const char *path; /* of the settings */
    struct whatif_changes changes;
    size_t top;
};

/* The cluster that is meant, where there are several. */
static struct snapshot *choose(const struct snapshots *snapshots, const char *asked,
                               struct error *err)
{
    if (!snapshots->count)
        fail(err, ERROR_OTHER, "no results yet");
    else if (!asked && snapshots->count > 1)
        fail(err, ERROR_USAGE, "whatif: there are %zu clusters; which one? --cluster NAME",
             snapshots->count);
    else if (asked)
        fail(err, ERROR_USAGE, "there are no results of a cluster '%s'", asked);
    for (size_t i = 0; i < snapshots->count; i++)
        if (asked ? reads_as(asked, strlen(asked), snapshots->clusters[i].cluster)
                  : snapshots->count == 1)
            return &snapshots->clusters[i];
    return NULL;
}

static int from_source(const struct options *options, struct whatif *whatif,
                       const struct snapshot *snapshot, struct error *err)
{
    struct settings *settings = NULL;
    int64_t now = snapshot->as_of;
    int result = settings_load(&settings, options->path, SETTINGS_FOR_ALL, err);
    if (!result && options->shared.now)
        result = option_instant("now", options->shared.now, &now, err);
    if (!result)
        result =
            whatif_from_source(whatif, settings, &options->changes, snapshot->cluster, &now, err);
    settings_destroy(settings);
    return result;
}

static int answer(struct options *options, const struct settings *settings, struct db *results,
                  const struct snapshots *snapshots, const struct snapshot *snapshot,
                  struct error *err)
{
    struct text text = { 0 };
    if (changes_find(&options->changes, snapshots, snapshot, err))
        return -1;
    struct whatif *whatif = whatif_create(snapshot->cluster, snapshot->as_of);
    int result = options->shared.now || changes_need_source(&options->changes)
                     ? from_source(options, whatif, snapshot, err)
                     : whatif_from_results(whatif, results, &options->changes, snapshot, err);
    if (!result) {
        whatif_place_jobs(whatif);
        if (snapshots->login)
            whatif_keep_user(whatif, snapshots->login);
        changes_tell(&options->changes, snapshot, settings, whatif);
        if (options->shared.json)
            whatif_add_json(&text, whatif, options->top);
        else
            whatif_add_table(&text, whatif, options->top);
        result = command_print(&text, err);
    }
    text_free(&text);
    whatif_destroy(whatif);
    return result;
}

/* All that is published is read in one transaction. */
static int read_and_answer(struct options *options, const struct settings *settings,
                           struct db *results, struct error *err)
{
    struct snapshots snapshots = { .login = private_login(settings) };
    struct snapshot *snapshot = NULL;
    int result = snapshots_read(results, &snapshots, err);
    if (!result) {
        snapshot = choose(&snapshots, options->shared.cluster, err);
        result = snapshot ? snapshot_read(results, snapshot, err) : -1;
    }
    if (!result)
        result = answer(options, settings, results, &snapshots, snapshot, err);
    snapshots_free(&snapshots);
    return result;
}

static int whatif(struct options *options, const struct settings *settings, struct error *err)
{
    struct db *results;
    if (results_open(&results, settings, DB_READER, err))
        return -1;
    int result = -1;
    if (!db_begin(results, err)) {
        result = read_and_answer(options, settings, results, err);
        db_rollback(results);
    }
    db_close(results);
    return result;
}

static int take_changes(struct options *options, struct error *err)
{
    for (size_t i = 0; i < options->files.count; i++)
        if (changes_take_file(&options->changes, options->files.values[i], err))
            return -1;
    for (size_t list = 0; list < LISTS; list++)
        for (size_t i = 0; i < options->lists[list].count; i++)
            if (changes_take(&options->changes, list_names[list], options->lists[list].values[i],
                             err))
                return -1;
    return 0;
}

static int take_top(struct options *options, struct error *err)
{
    const char *text = options->top_text;
    uint64_t top = options->shared.json ? SIZE_MAX : TOP_OF_TABLE;
    if (text && (!number_unsigned(text, strlen(text), &top) || !top))
        return fail(err, ERROR_USAGE, "whatif: --top '%s': must be a whole number above 0", text);
    options->top = (size_t)top;
    return 0;
}

static const struct command_option own_options[] = {
    { "shares", NULL, 's', OPTION_AGAIN, AT(lists[SHARES]), "NAME=SHARES",
      .help = "shares of a user or account; or parent" },
    { "move", NULL, 0, OPTION_AGAIN, AT(lists[MOVE]), "ACCOUNT=PARENT",
      .help = "hang an account, with all below it, below another", .former = 'm' },
    { "half-life", NULL, 0, OPTION_AGAIN, AT(lists[HALF_LIFE]), "TIME",
      .help = "as in the settings, such as 14-0" },
    { "algorithm", NULL, 0, OPTION_AGAIN, AT(lists[ALGORITHM]), "NAME",
      .help = "what is published as fairshare" },
    { "conformance", NULL, 0, OPTION_AGAIN, AT(lists[CONFORMANCE]), "NAME",
      .help = "documents or slurmctld" },
    { "add-usage", NULL, 0, OPTION_AGAIN, AT(lists[ADD_USAGE]), "NAME=HOURS",
      .help = "so many TRES-hours more, used just now" },
    { "remove-user", NULL, 0, OPTION_AGAIN, AT(lists[REMOVE_USER]), "NAME",
      .help = "what sacctmgr delete user does" },
    { "weights", NULL, 'w', OPTION_AGAIN, AT(lists[WEIGHTS]), "NAME=NUMBER,...",
      .help = "weights of priorities: age, assoc, fairshare, job_size, partition, qos; or "
              "tres=TRES=NUMBER,..." },
    { "file", NULL, 'f', OPTION_AGAIN, AT(files), "FILE",
      .help = "changes, one a line, without dashes; - is stdin" },
    { "top", NULL, 0, OPTION_VALUE, AT(top_text), "NUMBER",
      .help = "so many of those who gain most, and lose most" },
    { .name = NULL },
};

static int whatif_command(const struct invocation *invocation, struct error *err)
{
    struct options options = { .path = invocation->settings_path };
    struct settings *settings = NULL;
    int result = options_read(invocation, &options, err);
    if (!result)
        result = take_top(&options, err);
    if (!result)
        result = take_changes(&options, err);
    if (!result)
        result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err);
    if (!result)
        result = whatif(&options, settings, err);
    for (size_t i = 0; i < LISTS; i++)
        option_list_free(&options.lists[i]);
    option_list_free(&options.files);
    options_free(&options.shared);
    changes_free(&options.changes);
    settings_destroy(settings);
    return result;
}

const struct command command_whatif = {
    .name = "whatif",
    .operands = "",
    .summary = "who would gain and who lose, were shares or settings others",
    .notes = "Changes may be given again, and are made together.  A NAME is a user, an\n"
             "account, or account/user[/partition]; account/ is no user.\n",
    .shared = TAKES_CLUSTER | TAKES_NOW | TAKES_JSON,
    .options = own_options,
    .run = whatif_command,
};
