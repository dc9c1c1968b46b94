/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "command/whatif/whatif.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/whatif/whatif_changes.h"
#include "report/whatif.h"
#include "results/published.h"
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
    struct name_list lists[LISTS], files;
    const char *top_text;
    const char *path; /* of the settings */
    struct whatif_changes changes;
    size_t top;
};

static int from_source(const struct options *options, struct whatif *whatif,
                       const struct published_cluster *cluster, struct error *err)
{
    struct settings *settings = NULL;
    int64_t now = cluster->as_of;
    int result = settings_load(&settings, options->path, SETTINGS_FOR_ALL, err);
    if (!result && options->shared.now)
        result = option_instant("now", options->shared.now, &now, err);
    if (!result)
        result = whatif_from_source(whatif, settings, &options->changes, cluster->name, &now, err);
    settings_destroy(settings);
    return result;
}

static int answer(struct options *options, const struct settings *settings,
                  const struct published *published, const struct published_cluster *cluster,
                  struct error *err)
{
    struct text text = { 0 };
    if (changes_find(&options->changes, published, cluster, err))
        return -1;
    struct whatif *whatif = whatif_create(cluster->name, cluster->as_of);
    int result = options->shared.now || changes_need_source(&options->changes)
                     ? from_source(options, whatif, cluster, err)
                     : whatif_from_results(whatif, published->db, &options->changes, cluster, err);
    if (!result) {
        whatif_place_jobs(whatif);
        if (published->login)
            whatif_keep_user(whatif, published->login);
        changes_tell(&options->changes, cluster, settings, whatif);
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
static int whatif(struct options *options, const struct settings *settings, struct error *err)
{
    struct published published;
    struct published_filter filter = { .clusters = options->shared.clusters };
    int result = published_open(&published, settings, &filter, err);
    struct published_cluster *cluster = result ? NULL : published_only(&published, err);
    if (!cluster || published_read_tree(&published, cluster, err) ||
        answer(options, settings, &published, cluster, err))
        result = -1;
    published_free(&published);
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
    .shared = TAKES_CLUSTERS | TAKES_NOW | TAKES_JSON,
    .options = own_options,
    .run = whatif_command,
};
