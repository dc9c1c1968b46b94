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

struct wish {
    const char *path; /* of the settings */
    const char *cluster, *now;
    struct whatif_changes changes;
    size_t top;
    bool json;
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

static int from_source(const struct wish *wish, struct whatif *whatif,
                       const struct snapshot *snapshot, struct error *err)
{
    struct settings *settings = NULL;
    int64_t now = snapshot->as_of;
    int result = settings_load(&settings, wish->path, SETTINGS_FOR_ALL, err);
    if (!result && wish->now && (!instant_parse(wish->now, &now) || now < 0))
        result =
            fail(err, ERROR_USAGE,
                 "whatif: --now '%s': must be epoch seconds or YYYY-MM-DD[THH:MM[:SS]]", wish->now);
    if (!result)
        result = whatif_from_source(whatif, settings, &wish->changes, snapshot->cluster, &now, err);
    settings_destroy(settings);
    return result;
}

static int answer(struct wish *wish, const struct settings *settings, struct db *results,
                  const struct snapshots *snapshots, const struct snapshot *snapshot,
                  struct error *err)
{
    struct text text = { 0 };
    if (changes_find(&wish->changes, snapshots, snapshot, err))
        return -1;
    struct whatif *whatif = whatif_create(snapshot->cluster, snapshot->as_of);
    int result = wish->now || changes_need_source(&wish->changes)
                     ? from_source(wish, whatif, snapshot, err)
                     : whatif_from_results(whatif, results, &wish->changes, snapshot, err);
    if (!result) {
        whatif_place_jobs(whatif);
        if (snapshots->login)
            whatif_keep_user(whatif, snapshots->login);
        changes_tell(&wish->changes, snapshot, settings, whatif);
        if (wish->json)
            whatif_add_json(&text, whatif, wish->top);
        else
            whatif_add_table(&text, whatif, wish->top);
        result = command_print(&text, err);
    }
    text_free(&text);
    whatif_destroy(whatif);
    return result;
}

/* All that is published is read in one transaction. */
static int read_and_answer(struct wish *wish, const struct settings *settings, struct db *results,
                           struct error *err)
{
    struct snapshots snapshots = { .login = private_login(settings) };
    struct snapshot *snapshot = NULL;
    int result = snapshots_read(results, &snapshots, err);
    if (!result) {
        snapshot = choose(&snapshots, wish->cluster, err);
        result = snapshot ? snapshot_read(results, snapshot, err) : -1;
    }
    if (!result)
        result = answer(wish, settings, results, &snapshots, snapshot, err);
    snapshots_free(&snapshots);
    return result;
}

static int whatif(struct wish *wish, const struct settings *settings, struct error *err)
{
    struct db *results;
    if (results_open(&results, settings, DB_READER, err))
        return -1;
    int result = -1;
    if (!db_begin(results, err)) {
        result = read_and_answer(wish, settings, results, err);
        db_rollback(results);
    }
    db_close(results);
    return result;
}

/* The options that may be given again, by what they change. */
enum { SHARES, MOVE, HALF_LIFE, ALGORITHM, CONFORMANCE, ADD_USAGE, REMOVE_USER, WEIGHTS, LISTS };
static const char *const list_names[LISTS] = { "shares",      "move",        "half-life",
                                               "algorithm",   "conformance", "add-usage",
                                               "remove-user", "weights" };

static int take_changes(struct wish *wish, const struct option_list *lists,
                        const struct option_list *files, struct error *err)
{
    for (size_t i = 0; i < files->count; i++)
        if (changes_take_file(&wish->changes, files->values[i], err))
            return -1;
    for (size_t list = 0; list < LISTS; list++)
        for (size_t i = 0; i < lists[list].count; i++)
            if (changes_take(&wish->changes, list_names[list], lists[list].values[i], err))
                return -1;
    return 0;
}

static int take_top(struct wish *wish, const char *text, struct error *err)
{
    uint64_t top = wish->json ? SIZE_MAX : TOP_OF_TABLE;
    if (text && (!number_unsigned(text, strlen(text), &top) || !top))
        return fail(err, ERROR_USAGE, "whatif: --top '%s': must be a whole number above 0", text);
    wish->top = (size_t)top;
    return 0;
}

static int whatif_command(const struct invocation *invocation, struct error *err)
{
    struct wish wish = { .path = invocation->settings_path };
    struct option_list lists[LISTS] = { { 0 } }, files = { 0 };
    const char *top = NULL;
    const struct command_option known[] = {
        { list_names[SHARES], 's', NULL, NULL, &lists[SHARES] },
        { list_names[MOVE], 'm', NULL, NULL, &lists[MOVE] },
        { list_names[HALF_LIFE], 0, NULL, NULL, &lists[HALF_LIFE] },
        { list_names[ALGORITHM], 0, NULL, NULL, &lists[ALGORITHM] },
        { list_names[CONFORMANCE], 0, NULL, NULL, &lists[CONFORMANCE] },
        { list_names[ADD_USAGE], 0, NULL, NULL, &lists[ADD_USAGE] },
        { list_names[REMOVE_USER], 0, NULL, NULL, &lists[REMOVE_USER] },
        { list_names[WEIGHTS], 'w', NULL, NULL, &lists[WEIGHTS] },
        { "file", 'f', NULL, NULL, &files },
        { "cluster", 'M', NULL, &wish.cluster, NULL },
        { "now", 0, NULL, &wish.now, NULL },
        { "top", 0, NULL, &top, NULL },
        { "json", 0, &wish.json, NULL, NULL },
        { .name = NULL },
    };
    struct settings *settings = NULL;
    int result = command_options(invocation, known, err);
    if (!result)
        result = take_top(&wish, top, err);
    if (!result)
        result = take_changes(&wish, lists, &files, err);
    if (!result)
        result = settings_load(&settings, invocation->settings_path, SETTINGS_FOR_READING, err);
    if (!result)
        result = whatif(&wish, settings, err);
    for (size_t i = 0; i < LISTS; i++)
        option_list_free(&lists[i]);
    option_list_free(&files);
    changes_free(&wish.changes);
    settings_destroy(settings);
    return result;
}

const struct command command_whatif = {
    "whatif",
    "whatif [CHANGE...] [--file FILE]... [--cluster NAME]\n"
    "       [--now TIME] [--top NUMBER] [--json]",
    "who would gain and who lose, were shares or settings others",
    "Changes; each may be given again, and they are made together:\n"
    "  -s, --shares NAME=SHARES     shares of a user or account; or parent\n"
    "  -m, --move ACCOUNT=PARENT    hang an account, with all below it, below another\n"
    "      --half-life TIME         as in the settings, such as 14-0\n"
    "      --algorithm NAME         what is published as fairshare\n"
    "      --conformance NAME       documents or slurmctld\n"
    "      --add-usage NAME=HOURS   so many TRES-hours more, used just now\n"
    "      --remove-user NAME       what sacctmgr delete user does\n"
    "  -w, --weights NAME=NUMBER,...\n"
    "                               weights of priorities: age, assoc, fairshare,\n"
    "                               job_size, partition, qos; or tres=TRES=NUMBER,...\n"
    "  -f, --file FILE              changes, one a line, without dashes; - is stdin\n"
    "\n"
    "A NAME is a user, an account, or account/user[/partition]; account/ is no user.\n"
    "\n"
    "  -M, --cluster NAME           on this cluster; needed where there are several\n"
    "      --now TIME               read the accounting database, as of this instant\n"
    "      --top NUMBER             so many of those who gain most, and lose most\n"
    "      --json                   one JSON object\n",
    whatif_command,
};
